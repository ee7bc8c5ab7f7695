import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PipelineApi } from '../testing/pipeline-api.ts'
import { exported, ReadingFixture, spaced } from '../testing/reading-fixture.ts'
import { LARGE_BODY_BYTES } from './large-body.ts'

let fixture: ReadingFixture
let api: PipelineApi

beforeAll(async () => {
  fixture = await ReadingFixture.open()
  api = fixture.api
})
afterAll(() => api?.close())

const padding = 'x'.repeat(LARGE_BODY_BYTES)
const inspect = (body: unknown) => api.request('POST', '/api/v1/agents/import/inspect', { body })

describe('a large body gets the same answer as a small one', () => {
  it('a large import has the same draft, warnings and unchanged result', async () => {
    const small = await fixture.importAgent(fixture.importOf('small'))
    const large = await fixture.importAgent(spaced(fixture.importOf('large')))
    expect([small.status, large.status]).toEqual([201, 201])
    expect(small.body.warnings.length).toBeGreaterThan(1)
    expect(large.body.warnings).toEqual(small.body.warnings)
    expect(await fixture.draftOf('large')).toEqual(await fixture.draftOf('small'))
    expect((await fixture.draftOf('large')).flow.nodes).toHaveLength(2)
    expect(await fixture.importAgent(spaced(fixture.importOf('small')))).toMatchObject({
      status: 200,
      body: { outcome: 'unchanged' },
    })
    expect(await fixture.importAgent(fixture.importOf('large'))).toMatchObject({
      status: 200,
      body: { outcome: 'unchanged' },
    })
  })

  it('a repeated large import is replayed, and another import with its idempotency key is refused', async () => {
    const first = await fixture.importAgent(spaced(fixture.importOf('again')), 'again')
    const second = await fixture.importAgent(fixture.importOf('again'), 'again')
    expect([first.status, second.status, second.text]).toEqual([201, 200, first.text])
    const other = await fixture.importAgent(spaced(fixture.importOf('again', { agent_version: 4 })), 'again')
    expect([other.status, other.body.error.code]).toEqual([409, 'idempotency_conflict'])
  })

  it.each([
    ['a valid export', {}],
    ['an export of another version', { agent_version: 4 }],
    [
      'an export that is no conversation flow',
      { agent: { agent_name: 'a', response_engine: { type: 'single-prompt' } } },
    ],
    [
      'an export with a model that is not bound',
      { agent: { agent_name: 'a' }, flow: { nodes: [], model_choice: 'big' } },
    ],
    [
      'an export that names an unknown secret',
      { config: { ...exported().config, webhook: { url: 'https://example.com', secretRef: 'none' } } },
    ],
    ['an export with an unknown member', { surplus: 1 }],
    ['an export whose flow is a list', { flow: [] }],
  ])('%s is imported and inspected with the same result', async (_, more) => {
    for (const [send, body] of [
      [(body: unknown) => fixture.importAgent(body), fixture.importOf('alike', more)],
      [inspect, exported(more)],
    ] as const) {
      const [small, large] = [await send(body), await send(spaced(body))]
      const resultOf = ({ status, body: answer }: typeof small) =>
        status < 300 ? [answer.warnings, answer.diagnostics, answer.model_bindings] : [status, answer]
      expect(resultOf(large)).toEqual(resultOf(small))
    }
  })

  it('a large body that is not JSON, too deep, or sent without a key is refused like a small one', async () => {
    expect(await fixture.importAgent(`{"flow": ${spaced({})}`)).toMatchObject({
      status: 400,
      body: { error: { details: { issues: [{ path: '', message: 'body: not JSON' }] } } },
    })
    const deep = `{"flow":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    expect((await fixture.importAgent(deep)).body.error.details.issues[0].message).toContain('deeper than 64')
    const body = spaced(fixture.importOf('keyless'))
    const keyless = await api.request('POST', '/api/v1/agents/import', { body })
    expect(keyless.body.error.details.issues).toEqual([{ path: '', message: 'Idempotency-Key: is missing' }])
  })

  it('a large import as a tool call has the same result', async () => {
    const { nodes } = exported().flow
    const flow = { ...exported().flow, nodes: [...nodes, { id: 'long', type: 'note', text: padding }] }
    const call = {
      name: 'agents_import',
      arguments: { idempotency_key: 'tool', body: fixture.importOf('tooled', { flow }) },
    }
    const answer = await api.request('POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call },
      headers: { accept: 'application/json, text/event-stream' },
    })
    expect(answer.body.result.structuredContent).toMatchObject({ outcome: 'create_agent' })
    const replayed = await fixture.importAgent(fixture.importOf('tooled', { flow }), 'tool')
    expect([replayed.status, replayed.body]).toEqual([200, answer.body.result.structuredContent])
  })

  it('a large MCP message is refused when it is invalid, calls another tool, or exceeds the limit beside its body', async () => {
    const sendMessage = async (message: unknown) => {
      const headers = { accept: 'application/json, text/event-stream' }
      const { status, body } = await api.request('POST', '/mcp', { body: message, headers })
      const { error } = body.result === undefined ? body : JSON.parse(body.result.content[0].text)
      return [status, error.code, error.details?.reason ?? error.details?.issues?.[0]?.message]
    }
    const call = (name: string, args: object) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    })
    expect(await sendMessage(`${JSON.stringify(call('agents_list', {}))}]${' '.repeat(LARGE_BODY_BYTES)}`)).toEqual([
      400,
      'invalid_request',
      'body: not JSON',
    ])
    const named = (name: string) => call('agents_create', { idempotency_key: 'x', body: { name } })
    expect(await sendMessage(named(padding))).toEqual([200, 'invalid_request', expect.stringContaining('body:')])
    expect(await sendMessage(named('x'.repeat(1_048_576)))).toEqual([200, 'invalid_request', 'body_too_large'])
    expect(await sendMessage(call('agents_list', { query: 'x'.repeat(2_000_000) }))).toEqual([
      400,
      'invalid_request',
      'body_too_large',
    ])
  })
})

describe('while a large body is parsed', () => {
  it('other requests are answered', async () => {
    const notes = Array.from({ length: 60 }, () => Array.from({ length: 8000 }, () => [{}]))
    const bomb = JSON.stringify(fixture.importOf('bomb', { flow: { ...exported().flow, notes } }))
    const order: string[] = []
    const imported = fixture.importAgent(bomb).then(answer => {
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
