import { digestOf } from '@parley/flow/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { PipelineApi } from '../testing/pipeline-api.ts'
import { exported, ReadingFixture } from '../testing/reading-fixture.ts'
import { LARGE_BODY_BYTES } from './large-body.ts'
import { ReadingThreads } from './reading-threads.ts'

let fixture: ReadingFixture
let api: PipelineApi

beforeAll(async () => {
  fixture = await ReadingFixture.open()
  api = fixture.api
})
afterAll(() => api?.close())

describe('a large draft', () => {
  const global_prompt = 'x'.repeat(65_000)
  const components = Array.from({ length: 5 }, (_, n) => ({
    component_id: `c${n}`,
    name: 'x',
    start_node_id: 'a',
    nodes: [{ id: 'a', type: 'end', instruction: { type: 'prompt', text: 'x'.repeat(65_000) } }],
  }))
  const agent = { agent_name: 'Doorbell' }
  const nodes = [{ id: 'hello', type: 'end', instruction: { type: 'static_text', text: '{{who}}?' } }]
  /** Validates and publishes a draft; `onThreads` names the work that ran on worker threads. */
  const validateAndPublish = async (id: string, more: object) => {
    const flow = { ...exported().flow, nodes, ...more }
    const { body } = await fixture.importAgent(fixture.importOf(id, { flow, agent }))
    const at = { draft_id: body.draft.draft_id, expected_revision: 1 }
    const work = vi.spyOn(ReadingThreads.prototype, 'work')
    const validated = await fixture.request('POST', `${id}/draft/validate`, {})
    const { status, body: published } = await fixture.request('POST', `${id}/publications`, at)
    const onThreads = work.mock.calls.map(([, task]) => task.work)
    work.mockRestore()
    return { diagnostics: validated.body.diagnostics, status, published, onThreads }
  }

  /** Edits, reads, exports, publishes, opens and clones a draft; returns the answers without the members that make it large. */
  const useDraft = async (id: string, more: object) => {
    const { body } = await fixture.importAgent(
      fixture.importOf(id, { flow: { ...exported().flow, nodes, ...more }, agent }),
    )
    const { draft_id } = body.draft
    const work = vi.spyOn(ReadingThreads.prototype, 'work')
    const edits = [
      { type: 'agent.name', name: 'Bell' },
      { type: 'flow.variables', values: { who: 'Who' } },
    ]
    const get = async (what: string) => (await api.request('GET', `/api/v1/agents/${id}/${what}`)).body
    const edited = await api.request('PATCH', `/api/v1/agents/${id}/draft`, {
      body: { draft_id, expected_revision: 1, edits },
    })
    const read = await fixture.draftOf(id)
    const bare = ({ flow, source, ...others }: { flow: Record<string, unknown>; source?: unknown }) => {
      const { global_prompt, components, ...rest } = flow
      return { ...others, flow: rest }
    }
    const draftExport = await get('export?draft=true')
    await fixture.request('POST', `${id}/publications`, { draft_id, expected_revision: 2 })
    const published = await get('export')
    await api.request('DELETE', `/api/v1/agents/${id}/draft?draft_id=${draft_id}&expected_revision=2`)
    const opened = await fixture.request('POST', `${id}/draft`, {})
    await api.request('POST', `/api/v1/agents/${id}/clone`, {
      idempotencyKey: `clone-of-${id}`,
      body: { agent_id: `${id}-copy`, name: 'Copy' },
    })
    const copied = await fixture.draftOf(`${id}-copy`)
    expect(copied).toEqual({ ...read, name: 'Copy' })
    const onThreads = work.mock.calls.map(([, task]) => task.work)
    work.mockRestore()
    const { agent: _, draft_id: newId, updated_at, ...content } = opened.body
    expect(content).toMatchObject(read)
    return {
      revision: [edited.body.revision, content.revision, content.base_version],
      onThreads,
      read: bare(read),
      draftExport: bare(draftExport),
      published: bare(published),
      opened: opened.status,
    }
  }

  it('a large draft is validated and published on a worker thread with the same result as a small draft', async () => {
    const small = await validateAndPublish('thin', { global_prompt: 'x' })
    const large = await validateAndPublish('grown', { global_prompt, components })
    expect([small.onThreads, large.onThreads]).toEqual([[], ['diagnostics', 'plan']])
    expect(large.diagnostics).toEqual(small.diagnostics)
    expect(large.diagnostics.map(({ code }: { code: string }) => code)).toContain('variable_undefined')
    expect([large.status, large.published.warnings]).toEqual([201, large.diagnostics])
    const { body } = await api.request('GET', '/api/v1/agents/grown/publications/0')
    expect(body.plan.flow.components).toHaveLength(5)
    expect(body.publication.ref.digest).toBe(digestOf(body.plan))
  })

  it('a large draft is edited, read, exported, opened and cloned on a worker thread with the same result as a small one', async () => {
    const { revision: at, onThreads, ...large } = await useDraft('handled-large', { global_prompt, components })
    const small = await useDraft('handled-small', { global_prompt: 'x' })
    expect([small.onThreads, onThreads]).toEqual([
      [],
      ['edited', 'content', 'exported', 'plan', 'exported', 'content', 'renamed', 'content'],
    ])
    const { revision: smallAt, onThreads: _, ...others } = small
    expect([at, large]).toEqual([smallAt, others])
  })

  it('a tool returns the same large draft as text and as structured content', async () => {
    const prompt = '$& $1 $` \\ " {{who}} \u2028 é '.repeat(20)
    await fixture.importAgent(
      fixture.importOf('by-tool', { flow: { ...exported().flow, nodes, global_prompt: prompt, components }, agent }),
    )
    const read = await api.request('GET', '/api/v1/agents/by-tool/draft')
    expect(read.text.length).toBeGreaterThan(LARGE_BODY_BYTES)
    const call = { name: 'drafts_get', arguments: { params: { agent_id: 'by-tool' } } }
    const answer = await api.request('POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 'i', method: 'tools/call', params: call },
      headers: { accept: 'application/json, text/event-stream' },
    })
    expect(answer.body).toEqual({
      jsonrpc: '2.0',
      id: 'i',
      result: { content: [{ type: 'text', text: read.text }], structuredContent: read.body },
    })
  })

  it('an invalid large draft is refused with the same diagnostics as a small one', async () => {
    const faulty = { global_prompt, start_node_id: 'nowhere' }
    const small = await validateAndPublish('faulty', faulty)
    const large = await validateAndPublish('faulty-and-large', { ...faulty, components })
    expect([small.onThreads, large.onThreads]).toEqual([[], ['diagnostics', 'plan']])
    expect([large.status, large.published.error.details]).toEqual([422, small.published.error.details])
  })
})

describe('while a worker thread processes a large draft', () => {
  const long = (name: string) => ({ type: 'flow.prompt', text: `{{who}} ${name} ${'x'.repeat(60_000)}` })
  /** Imports a large draft; resolves with its revision. */
  const largeDraft = async (id: string) => {
    const instruction = { type: 'static_text', text: 'x'.repeat(65_000) }
    const nodes = Array.from({ length: 5 }, (_, n) => ({
      id: n === 0 ? 'hello' : `n${n}`,
      type: 'end',
      instruction,
    }))
    const { body } = await fixture.importAgent(
      fixture.importOf(id, { flow: { ...exported().flow, nodes }, agent: { agent_name: 'First' } }),
    )
    return { draft_id: body.draft.draft_id, expected_revision: 1 }
  }
  /** Runs `action` before the first task of this kind of work reaches a thread. */
  const beforeThread = (work: string, action: () => Promise<unknown>) => {
    const original = ReadingThreads.prototype.work
    let times = 0
    const spy = vi.spyOn(ReadingThreads.prototype, 'work').mockImplementation(async function (this: never, ...args) {
      if (args[1].work === work && times++ === 0) await action()
      return original.apply(this, args)
    } as typeof original)
    return { spy, times: () => times }
  }
  const versions = async (id: string) => (await api.request('GET', `/api/v1/agents/${id}/publications`)).body.items

  it('an edit during publishing does not wait, and the publication of the old revision is refused', async () => {
    const at = await largeDraft('raced')
    const prompt = long('Second')
    const edits = [{ type: 'agent.name', name: 'Second' }, prompt]
    // The edit locks agent and draft: it would wait for ever if the publication held one of these locks.
    const { spy } = beforeThread('plan', async () => {
      const edited = await api.request('PATCH', '/api/v1/agents/raced/draft', { body: { ...at, edits } })
      expect(edited.status).toBe(200)
    })
    const published = await fixture.request('POST', 'raced/publications', at)
    spy.mockRestore()
    expect([published.status, published.body.error?.details]).toEqual([
      409,
      { reason: 'stale_revision', current: { draft_id: at.draft_id, revision: 2 } },
    ])
    expect(await versions('raced')).toEqual([])
    const next = await fixture.request('POST', 'raced/publications', { ...at, expected_revision: 2 })
    expect(next.status).toBe(201)
    const { draft, plan } = (await api.request('GET', '/api/v1/agents/raced/publications/0')).body
    for (const part of [draft, plan]) {
      expect(part.name).toBe('Second')
      expect(part.flow.global_prompt).toBe(prompt.text)
    }
  })

  it('one of two concurrent edits of a revision is stored', async () => {
    const at = await largeDraft('edited-twice')
    const edit = (name: string) =>
      api.request('PATCH', '/api/v1/agents/edited-twice/draft', { body: { ...at, edits: [long(name)] } })
    const { spy } = beforeThread('edited', async () => expect((await edit('Second')).status).toBe(200))
    const late = await edit('First')
    spy.mockRestore()
    expect([late.status, late.body.error?.details?.reason]).toEqual([409, 'stale_revision'])
    expect((await fixture.draftOf('edited-twice')).flow.global_prompt).toContain('Second')
  })

  it('the request holds no database connection and no lock', async () => {
    const at = await largeDraft('held')
    let open: unknown[] | null = null
    const { spy } = beforeThread('plan', async () => {
      const { rows } = await api.db.owner.query(
        `select query from pg_stat_activity
         where datname = current_database() and state like 'idle in transaction%'`,
      )
      open = rows
    })
    const published = await fixture.request('POST', 'held/publications', at)
    spy.mockRestore()
    expect([published.status, open]).toEqual([201, []])
  })

  it('the draft is validated again when the resources that it refers to have changed', async () => {
    const at = await largeDraft('refers')
    const tenant = api.scope.tenant_id
    await api.db.owner.query(
      "insert into parley.trunks (tenant_id, trunk_id, name, provider, termination_uri, inbound) values ($1, 'main', 'x', 'generic_sip', 'sbc.example.com', true)",
      [tenant],
    )
    const edits = [{ type: 'agent.telephony', value: { trunkId: 'main' } }]
    expect((await api.request('PATCH', '/api/v1/agents/refers/draft', { body: { ...at, edits } })).status).toBe(200)
    const { spy, times } = beforeThread('plan', () =>
      api.db.owner.query("delete from parley.trunks where tenant_id = $1 and trunk_id = 'main'", [tenant]),
    )
    const published = await fixture.request('POST', 'refers/publications', { ...at, expected_revision: 2 })
    spy.mockRestore()
    expect([published.status, times()]).toEqual([422, 2])
    const codes = published.body.error.details.diagnostics.map((found: { code: string }) => found.code)
    expect(codes).toContain('trunk_not_found')
  })
})
