import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AgentFixture, everyPage, refusal } from '../testing/agent-fixture.ts'

let test: TestDatabase
let fixture: AgentFixture

beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  fixture = await AgentFixture.open(test)
})

describe('POST /agents', () => {
  it('a new agent is returned with its first draft, which uses the first ready providers', async () => {
    const { status, body } = await fixture.call('agents.create', {
      body: { template: 'phone_outbound', name: 'Ada', agent_id: 'ada' },
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      ref: { tenant_id: fixture.scope.tenant_id, kind: 'agent', id: 'ada' },
      name: 'Ada',
      head: null,
      draft: { revision: 1, base_version: null, published_revision: null },
      last_run: null,
    })
    expect(body.updated_at).toBe(body.created_at)
    const draft = await fixture.call('drafts.get', { params: { agent_id: 'ada' } })
    expect(draft.body.providers).toEqual({
      stt: { provider: 'near', model: 'near-1' },
      llm: { model: { model_id: 'near-1', provider: 'near', tier: 'frontier' }, provider: 'hosted' },
      tts: { provider: 'near', model: 'near-1', voiceId: 'bea' },
    })
    expect(await fixture.summary('ada')).toEqual(body)
  })

  it('a new agent without a requested id gets a generated id', async () => {
    const { body } = await fixture.call('agents.create', { body: { template: 'blank', name: 'Ada' } })
    expect(body.ref.id).toMatch(/^agent_[0-9a-z]{20}$/)
  })

  it('an agent id is given once, even to concurrent requests, and never again after archiving', async () => {
    const body = { template: 'blank', name: 'Ada', agent_id: 'ada' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => fixture.call('agents.create', { body })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    await fixture.call('agents.delete', { params: { agent_id: 'ada' } })
    expect(await fixture.call('agents.create', { body })).toMatchObject(refusal('conflict', 'agent_exists'))
  })

  it('two environments may use the same agent id', async () => {
    await fixture.create('ada')
    const elsewhere = await AgentFixture.open(test)
    await elsewhere.create('ada', 'Another')
    expect((await fixture.summary('ada')).name).toBe('ada')
  })

  it.each(['phone_outbound', 'cloud_task', 'cloud_chat'])(
    'the template %s creates a draft that can be published',
    async template => {
      expect(await fixture.publish('ada', await fixture.create('ada', 'Ada', template))).toMatchObject({ status: 201 })
    },
  )
})

describe('DELETE /agents/{agent_id}', () => {
  it('an archived agent leaves the catalogue with its draft, and its publications stay readable', async () => {
    const at = await fixture.create('ada')
    await fixture.publish('ada', at)
    const { body: before } = await fixture.call('agents.get', { params: { agent_id: 'ada' } })
    const first = await fixture.call('agents.delete', { params: { agent_id: 'ada' } })
    expect(first.body).toEqual({ ...before, draft: null })
    expect(first.notifications).toEqual([{ topic: 'publications', id: 'ada' }])

    const params = { agent_id: 'ada' }
    for (const id of ['agents.get', 'drafts.get', 'drafts.validate'] as const)
      expect(await fixture.call(id, { params }), id).toMatchObject(refusal('not_found'))
    expect((await fixture.call('agents.list')).body.agents).toEqual([])
    expect((await fixture.call('publications.list', { params })).body.items).toHaveLength(1)
    expect(await fixture.call('publications.get', { params: { ...params, version: 0 } })).toMatchObject({ status: 200 })

    const again = await fixture.call('agents.delete', { params })
    expect(again).toMatchObject({ status: 200, body: first.body, notifications: [] })
  })

  it('an archived agent refuses edits and publications', async () => {
    const at = await fixture.create('ada')
    await fixture.publish('ada', at)
    await fixture.call('agents.delete', { params: { agent_id: 'ada' } })
    const params = { agent_id: 'ada' }
    const archived = refusal('conflict', 'agent_archived')
    const edits = [{ type: 'agent.name', name: 'x' }]
    expect(await fixture.call('drafts.edit', { params, body: { ...at, edits } })).toMatchObject(archived)
    expect(await fixture.call('drafts.open', { params, body: {} })).toMatchObject(archived)
    expect(await fixture.call('drafts.discard', { params, query: at })).toMatchObject(archived)
    expect(await fixture.publish('ada', at)).toMatchObject(archived)
    const head = { version: 0, expected_version: 0 }
    expect(await fixture.call('publications.set_head', { params, body: head })).toMatchObject(archived)
  })

  it('archiving an agent during concurrent writes leaves no draft and no later version', async () => {
    for (let round = 0; round < 8; round++) {
      const agent_id = `ada${round}`
      const params = { agent_id }
      const at = await fixture.create(agent_id)
      await fixture.publish(agent_id, at)
      const { body: exported } = await fixture.call('agents.export', { params })
      const { warnings, ...body } = exported
      const config = { ...body.config, recording: { required: true, channels: 'dual' } }
      const reference = { tenant_id: fixture.scope.tenant_id, kind: 'agent', id: agent_id }
      if (round % 2 === 1) await fixture.call('drafts.discard', { params, query: at })
      const archive = fixture.call('agents.delete', { params })
      const writes = await Promise.all([
        fixture.call('drafts.open', { params }),
        fixture.call('agents.import', { body: { reference, ...body, config } }),
        fixture.call('drafts.edit', { params, body: { ...at, edits: [{ type: 'flow.prompt', text: 'x' }] } }),
        fixture.publish(agent_id, at, true),
      ])
      expect((await archive).status).toBe(200)
      for (const { status, body } of writes) if (status === 400) expect(body.error.code).toBe('conflict')
      const { rows } = await test.owner.query(
        `select count(d.draft_id)::integer as drafts, count(p.version)::integer as late
         from parley.agents a
         left join parley.drafts d using (tenant_id, agent_id)
         left join parley.publications p on p.tenant_id = a.tenant_id and p.agent_id = a.agent_id and p.published_at > a.archived_at
         where a.tenant_id = $1 and a.agent_id = $2 and a.archived_at is not null`,
        [fixture.scope.tenant_id, agent_id],
      )
      expect(rows).toEqual([{ drafts: 0, late: 0 }])
    }
  })

  it('archiving an agent unassigns its phone numbers', async () => {
    await fixture.publish('ada', await fixture.create('ada'))
    await fixture.trunk('main', '+12025550100', '+12025550101')
    await test.owner.query("update parley.numbers set agent_id = 'ada', version = 0 where tenant_id = $1", [
      fixture.scope.tenant_id,
    ])
    const { notifications } = await fixture.call('agents.delete', { params: { agent_id: 'ada' } })
    expect(notifications.filter(({ topic }) => topic === 'telephony')).toHaveLength(2)
    const { rows } = await test.owner.query('select agent_id, version from parley.numbers where tenant_id = $1', [
      fixture.scope.tenant_id,
    ])
    expect(rows).toEqual(Array(2).fill({ agent_id: null, version: null }))
  })

  it('archiving an unknown agent, or one of another environment, is answered 404', async () => {
    await fixture.create('ada')
    const elsewhere = await AgentFixture.open(test)
    const params = { agent_id: 'ada' }
    expect(await elsewhere.call('agents.delete', { params })).toMatchObject(refusal('not_found'))
    expect(await elsewhere.call('agents.get', { params })).toMatchObject(refusal('not_found'))
    expect(await fixture.call('agents.get', { params })).toMatchObject({ status: 200 })
  })
})

describe('POST /agents/{agent_id}/clone', () => {
  const clone = (agent_id: string, body: object = {}) => fixture.call('agents.clone', { params: { agent_id }, body })
  const nameOfDraft = async (agent_id: string) => (await fixture.call('drafts.get', { params: { agent_id } })).body.name

  it('a clone copies the live version, or the version that is named', async () => {
    let at = await fixture.create('ada', 'First')
    await fixture.publish('ada', at)
    at = await fixture.edit(
      'ada',
      at,
      { type: 'agent.name', name: 'Second' },
      { type: 'flow.prompt', text: 'Be kind.' },
    )
    await fixture.publish('ada', at)
    await fixture.edit('ada', at, { type: 'flow.prompt', text: 'Not published.' })

    const head = await clone('ada', { agent_id: 'of-head' })
    expect(head).toMatchObject({
      status: 201,
      body: { name: 'Second (copy)', head: null, draft: { revision: 1, base_version: null, published_revision: null } },
    })
    const copy = (await fixture.call('drafts.get', { params: { agent_id: 'of-head' } })).body
    expect(copy).toMatchObject({ name: 'Second (copy)', flow: { global_prompt: 'Be kind.' } })
    await clone('ada', { agent_id: 'of-0', version: 0, name: 'Mine' })
    expect((await fixture.call('drafts.get', { params: { agent_id: 'of-0' } })).body).toMatchObject({
      name: 'Mine',
      flow: { global_prompt: '' },
    })
    expect(await clone('ada', { version: 7 })).toMatchObject(refusal('not_found'))
  })

  it('a clone of an agent that was never published copies its draft', async () => {
    await fixture.create('ada', 'x'.repeat(253))
    const { body } = await clone('ada')
    expect(body.name).toBe(`${'x'.repeat(253)} (c`)
    expect(await nameOfDraft(body.ref.id)).toBe(body.name)
  })

  it('an archived agent can be cloned if it was ever published', async () => {
    await fixture.publish('ada', await fixture.create('ada'))
    await fixture.create('bea')
    for (const agent_id of ['ada', 'bea']) await fixture.call('agents.delete', { params: { agent_id } })
    expect(await clone('ada', { agent_id: 'ada2' })).toMatchObject({ status: 201 })
    expect(await clone('bea')).toMatchObject(refusal('conflict', 'nothing_to_clone'))
    expect(await clone('nobody')).toMatchObject(refusal('not_found'))
    expect(await clone('ada', { agent_id: 'ada' })).toMatchObject(refusal('conflict', 'agent_exists'))
  })

  it('cloning is refused when the only draft was discarded', async () => {
    const at = await fixture.create('ada')
    await fixture.call('drafts.discard', { params: { agent_id: 'ada' }, query: at })
    expect(await clone('ada')).toMatchObject(refusal('conflict', 'nothing_to_clone'))
  })
})

describe('GET /agents', () => {
  const list = async (query: object = {}) => (await fixture.call('agents.list', { query })).body
  const ids = async (query: object = {}) =>
    (await list(query)).agents.map((agent: { ref: { id: string } }) => agent.ref.id)

  it('the search text matches part of a name or id without regard to case, and wildcards match themselves', async () => {
    await fixture.create('sales-1', 'Über 100% Ärger')
    await fixture.create('sales-2', 'a_b')
    await fixture.create('sales-3', 'aXb \\ c')
    expect(await ids({ q: 'ÜBER' })).toEqual(['sales-1'])
    expect(await ids({ q: '100%' })).toEqual(['sales-1'])
    expect(await ids({ q: 'a_b' })).toEqual(['sales-2'])
    expect(await ids({ q: '\\ C' })).toEqual(['sales-3'])
    expect(await ids({ q: 'SALES' })).toHaveLength(3)
    expect(await ids({ q: '   ' })).toHaveLength(3)
    expect(await ids({ q: 'nobody' })).toEqual([])
    // White space in the search text is significant.
    expect(await ids({ q: ' ales' })).toEqual([])
  })

  it('the channel filter lists agents whose live version serves that channel', async () => {
    await fixture.publish('phone', await fixture.create('phone', 'p', 'phone_outbound'))
    await fixture.publish('cloud', await fixture.create('cloud', 'c', 'cloud_chat'))
    await fixture.create('draft-only')
    expect(await ids({ channel: 'phone' })).toEqual(['phone'])
    expect(await ids({ channel: 'cloud' })).toEqual(['cloud'])
  })

  it('agents are sorted by latest publication, or by lower-case name and id', async () => {
    const first = await fixture.create('one', 'Beta')
    await fixture.create('two', 'alpha')
    await fixture.create('three', 'ALPHA')
    expect(await ids()).toEqual(['three', 'two', 'one'])
    await fixture.publish('one', first)
    expect(await ids()).toEqual(['one', 'three', 'two'])
    expect(await ids({ sort: 'name_asc' })).toEqual(['three', 'two', 'one'])
  })

  it.each(['updated_desc', 'name_asc'])(
    'paging lists each agent once while other agents are created (%s)',
    async sort => {
      for (let n = 0; n < 23; n++) await fixture.create(`agent-${n}`, `name ${n % 7}`)
      let made = 0
      const seen = await everyPage<string>(
        async cursor => {
          const { agents, next_cursor } = await list({ sort, limit: 1 + (made % 5), ...(cursor && { cursor }) })
          return { items: agents.map((agent: { ref: { id: string } }) => agent.ref.id), next: next_cursor }
        },
        () => fixture.create(`later-${++made}`, `name ${made % 7}`),
      )
      expect(made).toBeGreaterThan(3)
      expect(new Set(seen).size).toBe(seen.length)
      const old = seen.filter(id => id.startsWith('agent-'))
      expect(old.toSorted()).toEqual(Array.from({ length: 23 }, (_, n) => `agent-${n}`).toSorted())
    },
  )

  it('paging works with names of the greatest length and refuses the cursor of another list', async () => {
    const longest = '\u{1f600}'.repeat(256)
    for (const n of [1, 2]) await fixture.create(`${'x'.repeat(255)}${n}`, longest)
    const page = await list({ sort: 'name_asc', limit: 1 })
    expect(page.next_cursor.length).toBeLessThanOrEqual(4096)
    expect(await ids({ sort: 'name_asc', limit: 1, cursor: page.next_cursor })).toEqual([`${'x'.repeat(255)}2`])
    const foreign = refusal('invalid_request', 'invalid_cursor')
    const cursor = page.next_cursor
    expect(await fixture.call('agents.list', { query: { cursor } })).toMatchObject(foreign)
    expect(await fixture.call('agents.list', { query: { cursor, sort: 'name_asc', q: 'x' } })).toMatchObject(foreign)
    const elsewhere = await AgentFixture.open(test)
    expect(await elsewhere.call('agents.list', { query: { cursor, sort: 'name_asc' } })).toMatchObject(foreign)
  })

  it('an agent whose stored data is broken is listed as an issue beside the readable agents', async () => {
    await fixture.create('sound')
    await fixture.create('broken')
    await test.owner.query("update parley.agents set head_version = 7 where tenant_id = $1 and agent_id = 'broken'", [
      fixture.scope.tenant_id,
    ])
    const { agents, issues } = await list()
    expect(agents.map((agent: { ref: { id: string } }) => agent.ref.id)).toEqual(['sound'])
    expect(issues).toEqual([{ target: fixture.scope, message: expect.stringContaining('broken') }])
  })
})
