import { digestOf } from '@parley/flow'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { agentHandlers } from '../handlers/agents.ts'
import { draftHandlers } from '../handlers/drafts.ts'
import { environmentHandlers } from '../handlers/environments.ts'
import { exchangeHandlers } from '../handlers/exchange.ts'
import { publicationHandlers } from '../handlers/publications.ts'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'
import { LARGE_BODY_BYTES } from './large-body.ts'
import { ReadingThreads } from './reading-threads.ts'

const MODEL = { model_id: 'near-1', provider: 'near', tier: 'frontier' }
const MANY = { perSecond: 10_000, burst: 10_000 }
let api: PipelineApi

beforeAll(async () => {
  api = await pipelineApi(
    { ...agentHandlers, ...draftHandlers, ...environmentHandlers, ...exchangeHandlers, ...publicationHandlers },
    { limits: { rates: { key: MANY, costly: MANY, address: MANY } } },
  )
}, 60_000)
afterAll(() => api?.close())

const padding = 'x'.repeat(LARGE_BODY_BYTES)

/** The same export in words that a reader skips: spaces make it large, what it says stays the same. */
const spaced = (body: object) => `${JSON.stringify(body)}${' '.repeat(LARGE_BODY_BYTES)}`

const exported = (more: object = {}) => ({
  agent_version: 3,
  agent: {
    ...{ agent_name: 'Doorbell', version: 3, language: ['en-US', 'de-DE'], strange_field: { a: 1 } },
    response_engine: { type: 'conversation-flow', version: 3, conversation_flow_id: 'flow_door' },
  },
  flow: {
    ...{ conversation_flow_id: 'flow_door', version: 3, start_speaker: 'agent', start_node_id: 'hello' },
    nodes: [
      {
        ...{ id: 'hello', type: 'conversation', instruction: { type: 'static_text', text: 'Who is there?' } },
        edges: [{ id: 'e', transition_condition: { type: 'prompt', prompt: 'Said' }, destination_node_id: 'gone' }],
      },
      { id: 'bye', type: 'end' },
    ],
  },
  config: {
    providers: {
      stt: { provider: 'near', model: 'near-1' },
      llm: { model: MODEL, provider: 'hosted' },
      tts: { provider: 'near', model: 'near-1', voiceId: 'bea' },
    },
    recording: { required: true, channels: 'dual' },
  },
  model_bindings: {},
  ...more,
})
const importOf = (id: string, more: object = {}) => ({
  reference: { tenant_id: api.scope.tenant_id, kind: 'agent', id },
  ...exported(more),
})
let keys = 0
const bring = (body: unknown, idempotencyKey = `k${keys++}`) =>
  api.request('POST', '/api/v1/agents/import', { idempotencyKey, body })
const inspect = (body: unknown) => api.request('POST', '/api/v1/agents/import/inspect', { body })
const ask = (method: string, path: string, body: unknown) =>
  api.request(method, `/api/v1/agents/${path}`, { idempotencyKey: `k${keys++}`, body })
const draftOf = async (id: string) => {
  const { body } = await api.request('GET', `/api/v1/agents/${id}/draft`)
  const { agent, draft_id, updated_at, ...content } = body
  return content
}

describe('a large body says what a small one says', () => {
  it('as an import: the draft, its warnings, and that it is unchanged', async () => {
    const small = await bring(importOf('small'))
    const large = await bring(spaced(importOf('large')))
    expect([small.status, large.status]).toEqual([201, 201])
    expect(small.body.warnings.length).toBeGreaterThan(1)
    expect(large.body.warnings).toEqual(small.body.warnings)
    expect(await draftOf('large')).toEqual(await draftOf('small'))
    expect((await draftOf('large')).flow.nodes).toHaveLength(2)
    expect(await bring(spaced(importOf('small')))).toMatchObject({ status: 200, body: { outcome: 'unchanged' } })
    expect(await bring(importOf('large'))).toMatchObject({ status: 200, body: { outcome: 'unchanged' } })
  })

  it('as the same request: its answer is replayed, another one with its key refused', async () => {
    const first = await bring(spaced(importOf('again')), 'again')
    const second = await bring(importOf('again'), 'again')
    expect([first.status, second.status, second.text]).toEqual([201, 200, first.text])
    const other = await bring(spaced(importOf('again', { agent_version: 4 })), 'again')
    expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_conflict'])
  })

  it.each([
    ['as it is', {}],
    ['of another version', { agent_version: 4 }],
    ['of no conversation flow', { agent: { agent_name: 'a', response_engine: { type: 'single-prompt' } } }],
    ['with a model that is not bound', { agent: { agent_name: 'a' }, flow: { nodes: [], model_choice: 'big' } }],
    [
      'that names a secret that is not there',
      { config: { ...exported().config, webhook: { url: 'https://example.com', secretRef: 'none' } } },
    ],
    ['with members that no import has', { surplus: 1 }],
    ['with a flow that is none', { flow: [] }],
  ])('%s, inspected and imported', async (_, more) => {
    for (const [ask, body] of [
      [bring, importOf('alike', more)],
      [inspect, exported(more)],
    ] as const) {
      const [small, large] = [await ask(body), await ask(spaced(body))]
      const told = ({ status, body: answer }: typeof small) =>
        status < 300 ? [answer.warnings, answer.diagnostics, answer.model_bindings] : [status, answer]
      expect(told(large)).toEqual(told(small))
    }
  })

  it('also where it is no JSON, too deep, or sent without a key', async () => {
    expect(await bring(`{"flow": ${spaced({})}`)).toMatchObject({
      status: 400,
      body: { error: { details: { issues: [{ path: '', message: 'body: not JSON' }] } } },
    })
    const deep = `{"flow":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    expect((await bring(deep)).body.error.details.issues[0].message).toContain('deeper than 64')
    const body = spaced(importOf('keyless'))
    const keyless = await api.request('POST', '/api/v1/agents/import', { body })
    expect(keyless.body.error.details.issues).toEqual([{ path: '', message: 'Idempotency-Key: is missing' }])
  })

  it('as a tool', async () => {
    const { nodes } = exported().flow
    const flow = { ...exported().flow, nodes: [...nodes, { id: 'long', type: 'note', text: padding }] }
    const call = { name: 'agents_import', arguments: { idempotency_key: 'tool', body: importOf('tooled', { flow }) } }
    const answer = await api.request('POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call },
      headers: { accept: 'application/json, text/event-stream' },
    })
    expect(answer.body.result.structuredContent).toMatchObject({ outcome: 'create_agent' })
    const replayed = await bring(importOf('tooled', { flow }), 'tool')
    expect([replayed.status, replayed.body]).toEqual([200, answer.body.result.structuredContent])
  })

  it('as a message of tools that is none, calls another tool, or has more than a body', async () => {
    const say = async (message: unknown) => {
      const headers = { accept: 'application/json, text/event-stream' }
      const { status, body } = await api.request('POST', '/mcp', { body: message, headers })
      const error = (body.result?.structuredContent ?? body).error
      return [status, error.code, error.details?.reason ?? error.details?.issues?.[0]?.message]
    }
    const call = (name: string, given: object) => ({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } },
    })
    expect(await say(`${JSON.stringify(call('agents_list', {}))}]${' '.repeat(LARGE_BODY_BYTES)}`)).toEqual([
      ...[400, 'invalid_request', 'body: not JSON'],
    ])
    const named = (name: string) => call('agents_create', { idempotency_key: 'x', body: { name } })
    expect(await say(named(padding))).toEqual([200, 'invalid_request', expect.stringContaining('body:')])
    expect(await say(named('x'.repeat(1_048_576)))).toEqual([200, 'invalid_request', 'body_too_large'])
    expect(await say(call('agents_list', { query: 'x'.repeat(2_000_000) }))).toEqual([
      ...[400, 'invalid_request', 'body_too_large'],
    ])
  })
})

describe('a large draft', () => {
  const global_prompt = 'x'.repeat(65_000)
  const components = Array.from({ length: 5 }, (_, n) => ({
    ...{ component_id: `c${n}`, name: 'x', start_node_id: 'a' },
    nodes: [{ id: 'a', type: 'end', instruction: { type: 'prompt', text: 'x'.repeat(65_000) } }],
  }))
  const agent = { agent_name: 'Doorbell' }
  const nodes = [{ id: 'hello', type: 'end', instruction: { type: 'static_text', text: '{{who}}?' } }]
  const judged = async (id: string, more: object) => {
    const flow = { ...exported().flow, nodes, ...more }
    const { body } = await bring(importOf(id, { flow, agent }))
    const at = { draft_id: body.draft.draft_id, expected_revision: 1 }
    const work = vi.spyOn(ReadingThreads.prototype, 'work')
    const validated = await ask('POST', `${id}/draft/validate`, {})
    const { status, body: made } = await ask('POST', `${id}/publications`, at)
    const apart = work.mock.calls.map(([, task]) => task.work)
    work.mockRestore()
    return { diagnostics: validated.body.diagnostics, status, made, apart }
  }

  it('is judged and published on a thread, as it would be here', async () => {
    const small = await judged('thin', { global_prompt: 'x' })
    const large = await judged('grown', { global_prompt, components })
    expect([small.apart, large.apart]).toEqual([[], ['diagnostics', 'plan']])
    expect(large.diagnostics).toEqual(small.diagnostics)
    expect(large.diagnostics[0].code).toBe('variable_undefined')
    expect([large.status, large.made.warnings]).toEqual([201, large.diagnostics])
    const { body } = await api.request('GET', '/api/v1/agents/grown/publications/0')
    expect(body.plan.flow.components).toHaveLength(5)
    expect(body.publication.ref.digest).toBe(digestOf(body.plan))
  })

  it('is refused with the diagnostics of a small one', async () => {
    const faulty = { global_prompt, start_node_id: 'nowhere' }
    const small = await judged('faulty', faulty)
    const large = await judged('faulty-and-large', { ...faulty, components })
    expect([small.apart, large.apart]).toEqual([[], ['diagnostics', 'plan']])
    expect([large.status, large.made.error.details]).toEqual([422, small.made.error.details])
  })
})

describe('while a large body is read', () => {
  it('other requests are answered', async () => {
    const notes = Array.from({ length: 60 }, () => Array.from({ length: 8000 }, () => [{}]))
    const bomb = JSON.stringify(importOf('bomb', { flow: { ...exported().flow, notes } }))
    const order: string[] = []
    const imported = bring(bomb).then(answer => {
      order.push('import')
      return answer
    })
    for (let n = 0; n < 5; n++) {
      const other = await api.request('GET', '/api/v1/environments')
      expect(other.status).toBe(200)
      order.push('other')
    }
    const refused = await imported
    expect(refused.body.error.details.issues[0]).toEqual({
      path: '/flow',
      message: expect.stringContaining('more than 500000 values'),
    })
    expect(order).toEqual(['other', 'other', 'other', 'other', 'other', 'import'])
  })
})
