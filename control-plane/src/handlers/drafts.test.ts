import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AgentFixture, type DraftRevisionRef, refusal } from '../testing/agent-fixture.ts'

let test: TestDatabase
let fixture: AgentFixture
let at: DraftRevisionRef
const params = { agent_id: 'ada' }

beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  fixture = await AgentFixture.open(test)
  at = await fixture.create('ada', 'Ada')
})

const edit = (from: DraftRevisionRef, ...edits: unknown[]) =>
  fixture.call('drafts.edit', { params, body: { ...from, edits } })
const draft = async () => (await fixture.call('drafts.get', { params })).body
const prompt = (text: string) => ({ type: 'flow.prompt', text })

describe('PATCH /agents/{agent_id}/draft', () => {
  it('one request with any number of edits raises the revision by one', async () => {
    const answer = await edit(at, prompt('One'), prompt('Two'), { type: 'agent.settings', values: { volume: 2 } })
    expect(answer).toMatchObject({
      status: 200,
      body: { agent: { id: 'ada' }, draft_id: at.draft_id, revision: 2, base_version: null, published_revision: null },
      auditedResource: { kind: 'agent', id: 'ada' },
    })
    expect(await draft()).toMatchObject({ ...answer.body, flow: { global_prompt: 'Two' }, settings: { volume: 2 } })
  })

  it('when one edit does not apply, none is stored and the refusal names that edit', async () => {
    const before = await draft()
    const answer = await edit(at, prompt('Kept?'), { type: 'flow.node.remove', component_id: null, node_id: 'nobody' })
    expect(answer).toMatchObject(refusal('invalid_request', 'edit_not_applicable'))
    expect(answer.body.error.details.issues[0].path).toMatch(/^\/edits\/1(\/|$)/)
    expect(await draft()).toEqual(before)
  })

  it('an edit of a stale revision is refused with the current revision', async () => {
    const now = await fixture.edit('ada', at, prompt('New'))
    const current = { draft_id: at.draft_id, revision: now.expected_revision }
    for (const stale of [at, { ...now, expected_revision: 3 }, { ...now, draft_id: fixture.scope.tenant_id }])
      expect(await edit(stale, prompt('x'))).toMatchObject(refusal('conflict', 'stale_revision', { current }))
    await fixture.call('drafts.discard', { params, query: now })
    expect(await edit(now, prompt('x'))).toMatchObject(refusal('conflict', 'stale_revision', { current: null }))
    expect(
      await fixture.call('drafts.edit', { params: { agent_id: 'nobody' }, body: { ...now, edits: [prompt('x')] } }),
    ).toMatchObject(refusal('not_found'))
  })

  it('edits, discards and repeated discards accept a draft id in any letter case', async () => {
    const at = await fixture.create('written')
    const upper = { ...at, draft_id: at.draft_id.toUpperCase() }
    const edited = await fixture.edit('written', upper, { type: 'agent.name', name: 'Written' })
    expect(edited).toEqual({ draft_id: at.draft_id, expected_revision: 2 })
    const discard = (draft_id: string) =>
      fixture.call('drafts.discard', { params: { agent_id: 'written' }, query: { draft_id, expected_revision: 2 } })
    const first = await discard(upper.draft_id)
    expect(first.body).toMatchObject({ draft_id: at.draft_id, revision: 2 })
    expect((await discard(at.draft_id)).body).toEqual(first.body)
  })

  it('an agent takes the name of its draft until a version is live', async () => {
    at = await fixture.edit('ada', at, { type: 'agent.name', name: 'Bea' })
    expect((await fixture.summary('ada')).name).toBe('Bea')
    await fixture.publish('ada', at)
    at = await fixture.edit('ada', at, { type: 'agent.name', name: 'Cleo' })
    expect((await fixture.summary('ada')).name).toBe('Bea')
    await fixture.publish('ada', at)
    expect((await fixture.summary('ada')).name).toBe('Cleo')
  })

  it('an edit that makes the draft exceed its limits is refused', async () => {
    const action = (n: number) => ({
      type: 'action.put',
      action: { action_id: `a${n}`, kind: 'end_call', name: `a${n}` },
    })
    const all = Array.from({ length: 100 }, (_, n) => action(n))
    at = await fixture.edit('ada', at, ...all)
    expect(await edit(at, action(100))).toMatchObject(refusal('conflict', 'limit_reached'))
    expect((await draft()).revision).toBe(at.expected_revision)
  })

  it('a webhook over http is refused unless the operator allowed the host', async () => {
    const put = (url: string) => ({
      type: 'notification.put',
      notification: { url, secret: { id: 'signing', version: '1' } },
    })
    const refused = await edit(at, prompt('x'), put('http://example.com/hook'))
    expect(refused).toMatchObject(refusal('invalid_request', 'address_not_allowed'))
    expect(refused.body.error.details.issues[0].path).toBe('/edits/1/notification/url')
    expect((await draft()).revision).toBe(1)
    at = await fixture.edit('ada', at, put('https://example.com/hook'))
    await fixture.edit('ada', at, put('http://127.0.0.1:9999/hook'))
  })

  it('of 100 concurrent edits of one revision exactly one is stored, every time', async () => {
    for (let round = 1; round <= 20; round++) {
      const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => edit(at, prompt(`${round}/${n}`))))
      const won = answers.flatMap((answer, n) => (answer.status === 200 ? [n] : []))
      expect(won).toHaveLength(1)
      const stale = refusal('conflict', 'stale_revision', { current: { draft_id: at.draft_id, revision: round + 1 } })
      for (const answer of answers.filter(({ status }) => status !== 200)) expect(answer).toMatchObject(stale)
      const now = await draft()
      expect(now).toMatchObject({ revision: round + 1, flow: { global_prompt: `${round}/${won[0]}` } })
      at = { ...at, expected_revision: now.revision }
    }
  })
})

describe('DELETE /agents/{agent_id}/draft', () => {
  const discard = (query: DraftRevisionRef) => fixture.call('drafts.discard', { params, query })

  it('a discard returns the last state of the draft, also when it is repeated', async () => {
    const last = { ...(await draft()) }
    const first = await discard(at)
    expect(first.status).toBe(200)
    expect(last).toMatchObject(first.body)
    expect(await discard(at)).toMatchObject({ status: 200, body: first.body })
    expect(await fixture.call('drafts.get', { params })).toMatchObject(refusal('not_found'))
    expect((await fixture.summary('ada')).draft).toBeNull()
    const other = { ...at, expected_revision: 2 }
    expect(await discard(other)).toMatchObject(refusal('conflict', 'stale_revision', { current: null }))
    expect(await discard({ ...at, draft_id: fixture.scope.tenant_id })).toMatchObject(refusal('not_found'))
  })

  it('discarding a draft does not change the live version', async () => {
    await fixture.publish('ada', at)
    await discard(at)
    expect(await fixture.summary('ada')).toMatchObject({ head: { version: 0 }, draft: null })
    const opened = await fixture.call('drafts.open', { params, body: {} })
    expect(opened).toMatchObject({ status: 201, body: { revision: 1, base_version: 0, published_revision: 1 } })
    // A repeated discard of the first draft does not touch the draft that is open now.
    expect(await discard(at)).toMatchObject({ status: 200, body: { draft_id: at.draft_id } })
    expect((await draft()).draft_id).toBe(opened.body.draft_id)
  })

  it('a discard of a stale revision is refused', async () => {
    const now = await fixture.edit('ada', at, prompt('New'))
    const current = { draft_id: now.draft_id, revision: 2 }
    expect(await discard(at)).toMatchObject(refusal('conflict', 'stale_revision', { current }))
    expect((await draft()).revision).toBe(2)
  })
})

describe('POST /agents/{agent_id}/draft', () => {
  const open = (body: object = {}) => fixture.call('drafts.open', { params, body })

  it('a draft can be opened from the live version or from any named version, including test versions', async () => {
    await fixture.publish('ada', at)
    at = await fixture.edit('ada', at, prompt('For tests'))
    await fixture.publish('ada', at, true)
    expect(await open()).toMatchObject(refusal('conflict', 'draft_exists'))
    await fixture.call('drafts.discard', { params, query: at })

    const head = await open()
    expect(head.body).toMatchObject({ base_version: 0, flow: { global_prompt: '' } })
    expect(await draft()).toEqual(head.body)
    await fixture.call('drafts.discard', { params, query: { draft_id: head.body.draft_id, expected_revision: 1 } })
    expect((await open({ version: 1 })).body).toMatchObject({ base_version: 1, flow: { global_prompt: 'For tests' } })
  })

  it('opening a draft is refused when the agent has no version', async () => {
    await fixture.call('drafts.discard', { params, query: at })
    expect(await open()).toMatchObject(refusal('conflict', 'agent_not_published'))
    expect(await open({ version: 0 })).toMatchObject(refusal('not_found'))
    expect(await fixture.call('drafts.open', { params: { agent_id: 'nobody' } })).toMatchObject(refusal('not_found'))
  })

  it('concurrent requests open one draft', async () => {
    await fixture.publish('ada', at)
    await fixture.call('drafts.discard', { params, query: at })
    const answers = await Promise.all(Array.from({ length: 10 }, () => open()))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  })
})

describe('POST /agents/{agent_id}/draft/validate', () => {
  const validate = (body?: object) => fixture.call('drafts.validate', { params, ...(body && { body }) })
  const codes = async () => (await validate()).body.diagnostics.map((found: { code: string }) => found.code)

  it('validation answers 200 with diagnostics, and the proposed fixes can be applied unchanged', async () => {
    at = await fixture.edit('ada', at, { type: 'agent.telephony', value: { trunkId: 'main', from: '+12025550100' } })
    const { status, body } = await validate(at)
    expect(status).toBe(200)
    expect(body.revision).toBe(2)
    const found = body.diagnostics.find((one: { code: string }) => one.code === 'trunk_not_found')
    expect(found).toMatchObject({ severity: 'error', path: '/telephony/trunkId' })
    at = await fixture.edit('ada', at, ...found.fixes[0].edits)
    expect(await codes()).not.toContain('trunk_not_found')
  })

  it('validation knows the trunks, numbers, secrets and providers of this environment only', async () => {
    at = await fixture.edit(
      'ada',
      at,
      { type: 'agent.telephony', value: { trunkId: 'main', from: '+12025550103' } },
      { type: 'notification.put', notification: { url: 'https://example.com', secret: { id: 'hook', version: '2' } } },
      { type: 'agent.provider', role: 'tts', changes: { provider: 'distant', model: 'distant-1', voiceId: 'ann' } },
    )
    const elsewhere = await AgentFixture.open(test)
    await elsewhere.trunk('main', '+12025550100', '+12025550101', '+12025550102', '+12025550103')
    await elsewhere.secret('hook', 'webhook_signing', 2)
    expect(await codes()).toEqual(expect.arrayContaining(['trunk_not_found', 'number_not_found', 'secret_not_found']))

    await fixture.trunk('main', '+12025550100', '+12025550101', '+12025550102', '+12025550103')
    await fixture.secret('hook', 'webhook_signing', 1)
    expect(await codes()).toContain('secret_not_found')
    await test.owner.query("insert into parley.secret_versions values ($1, 'hook', 2, '\\x00')", [
      fixture.scope.tenant_id,
    ])
    const left = await codes()
    for (const code of ['trunk_not_found', 'number_not_found', 'secret_not_found']) expect(left).not.toContain(code)
    // A voice of the catalogue that is not ready is an error as well.
    expect(await fixture.publish('ada', at)).toMatchObject(refusal('publication_invalid', 'invalid_draft'))
  })

  it('validation of a named revision is refused when the draft has another revision', async () => {
    await fixture.edit('ada', at, prompt('x'))
    const current = { draft_id: at.draft_id, revision: 2 }
    expect(await validate(at)).toMatchObject(refusal('conflict', 'stale_revision', { current }))
    expect(await validate()).toMatchObject({ status: 200, body: { revision: 2 } })
    expect(await fixture.call('drafts.validate', { params: { agent_id: 'nobody' } })).toMatchObject(
      refusal('not_found'),
    )
  })
})
