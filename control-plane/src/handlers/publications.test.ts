import { createHash } from 'node:crypto'
import { canonicalJson } from '@parley/kernel'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AgentFixture, type DraftRevisionRef, everyPage, refusal } from '../testing/agent-fixture.ts'

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

const prompt = (text: string) => ({ type: 'flow.prompt', text })
const get = async (version: number) => (await fixture.call('publications.get', { params: { ...params, version } })).body
const versions = async () =>
  (await fixture.call('publications.list', { params })).body.items.map(
    (item: { ref: { version: number } }) => item.ref.version,
  )

describe('POST /agents/{agent_id}/publications', () => {
  it('a published draft becomes the next version and is live', async () => {
    const before = await fixture.summary('ada')
    const answer = await fixture.publish('ada', at)
    expect(answer).toMatchObject({
      status: 201,
      body: {
        publication: {
          ref: { agent_id: 'ada', version: 0 },
          plan_schema_version: 1,
          channels: ['phone'],
          languages: ['en'],
          source_kind: 'api',
          published_by: { kind: 'api_key', owner_id: fixture.scope.owner_id, environment: 'production' },
          is_head: true,
          test: false,
        },
        warnings: [expect.objectContaining({ code: 'telephony_missing', severity: 'warning' })],
      },
      auditedResource: { kind: 'publication', id: 'ada/0' },
      notifications: [{ topic: 'publications', id: 'ada' }],
    })
    const { publication } = answer.body
    const { digest, version } = publication.ref
    const summary = await fixture.summary('ada')
    expect(summary).toEqual({
      ...before,
      head: { version, digest, channels: ['phone'], languages: ['en'], published_at: publication.published_at },
      draft: { ...before.draft, base_version: 0, published_revision: 1 },
      updated_at: publication.published_at,
    })
  })

  it('publishing a revision again returns its version and does not move the live version', async () => {
    const first = await fixture.publish('ada', at)
    const summary = await fixture.summary('ada')
    expect(await fixture.publish('ada', at)).toMatchObject({ status: 200, body: first.body, notifications: [] })
    expect(await fixture.summary('ada')).toEqual(summary)
    // Also when it was opened from a version and nothing changed.
    await fixture.call('drafts.discard', { params, query: at })
    const opened = (await fixture.call('drafts.open', { params })).body
    at = { draft_id: opened.draft_id, expected_revision: 1 }
    expect(await fixture.publish('ada', at)).toMatchObject({ status: 200, body: first.body })
    expect(await versions()).toEqual([0])
    at = await fixture.edit('ada', at, prompt('x'))
    expect(await fixture.publish('ada', at)).toMatchObject({
      status: 201,
      body: { publication: { ref: { version: 1 } } },
    })
  })

  it('a test publication takes a version number and does not move the live version', async () => {
    const before = await fixture.summary('ada')
    const tested = await fixture.publish('ada', at, true)
    expect(tested.body.publication).toMatchObject({ ref: { version: 0 }, test: true, is_head: false })
    expect(await fixture.summary('ada')).toEqual(before)
    const live = await fixture.publish('ada', at)
    expect(live.body.publication).toMatchObject({ ref: { version: 1 }, test: false, is_head: true })
    // Equal drafts share a digest.
    expect(live.body.publication.ref.digest).toBe(tested.body.publication.ref.digest)
    expect(await fixture.publish('ada', at, true)).toMatchObject({ status: 200, body: tested.body })
  })

  it('a draft with errors is refused with its diagnostics, and warnings are stored with the version', async () => {
    const broken = await fixture.edit('ada', at, { type: 'flow.start', component_id: null, node_id: null })
    const answer = await fixture.publish('ada', broken)
    expect(answer).toMatchObject(refusal('publication_invalid', 'invalid_draft'))
    const { diagnostics } = answer.body.error.details
    expect(diagnostics[0]).toMatchObject({ code: 'start_node_missing', severity: 'error' })
    expect(await versions()).toEqual([])
    const mended = await fixture.edit('ada', broken, ...diagnostics[0].fixes[0].edits)
    expect((await fixture.publish('ada', mended)).body.publication.ref.version).toBe(0)
  })

  it('publishing a stale revision is refused', async () => {
    await fixture.edit('ada', at, prompt('x'))
    const current = { draft_id: at.draft_id, revision: 2 }
    expect(await fixture.publish('ada', at)).toMatchObject(refusal('conflict', 'stale_revision', { current }))
    const none = { ...at, draft_id: fixture.scope.tenant_id }
    expect(await fixture.publish('ada', none)).toMatchObject(refusal('conflict', 'stale_revision', { current }))
    expect(await fixture.publish('nobody', at)).toMatchObject(refusal('not_found'))
    expect(await versions()).toEqual([])
  })

  it('a publication names its publisher: a person in the studio, or a key', async () => {
    const person = new AgentFixture(test, fixture.scope, { kind: 'user' })
    expect((await person.publish('ada', at)).body.publication).toMatchObject({
      source_kind: 'studio',
      published_by: { kind: 'user' },
    })
  })
})

describe('concurrent publishing', () => {
  it('concurrent requests to publish one revision create one version', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => fixture.publish('ada', at)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(19)
    expect(await versions()).toEqual([0])
  })

  it('concurrent failures leave no gap in the version numbers', async () => {
    for (let round = 0; round < 10; round++) {
      at = await fixture.edit('ada', at, prompt(`round ${round}`))
      const stale = { ...at, expected_revision: 1 }
      const racing = [fixture.publish('ada', at), fixture.publish('ada', at, true), fixture.publish('ada', stale)]
      await Promise.all([...racing, fixture.publish('ada', at)])
    }
    const found = await versions()
    expect(found).toEqual(Array.from({ length: 20 }, (_, n) => 19 - n))
  })

  it('each publication made during concurrent edits contains exactly one revision', async () => {
    // Every revision says its number in two places that different edits of one request write.
    const ofRevision = (n: number) => [
      { type: 'agent.name', name: `Revision ${n}` },
      prompt(`Revision ${n}`),
      { type: 'flow.variables', values: { revision: `Revision ${n}` } },
    ]
    const outcomes = new Set<number>()
    for (let n = 2; n <= 60; n++) {
      // Whoever publishes starts on the revision that the edit takes away from under it, now a little earlier, now later.
      const publishing = [fixture.publish('ada', at), fixture.publish('ada', at)]
      if (n % 3 > 0) await Promise.race([...publishing, fixture.summary('ada')])
      const edited = fixture.edit('ada', at, ...ofRevision(n))
      for (const { status } of await Promise.all(publishing)) outcomes.add(status)
      at = await edited
    }
    await fixture.publish('ada', at)
    // Some were in time, some were not: both happened while the draft changed.
    expect([...outcomes]).toEqual(expect.arrayContaining([201, 400]))

    const all = await versions()
    const rows = await test.owner.query(
      'select version, draft_revision from parley.publications where tenant_id = $1',
      [fixture.scope.tenant_id],
    )
    for (const { version, draft_revision } of rows.rows) {
      if (draft_revision === 1) continue
      const { draft, plan } = await get(version)
      const said = `Revision ${draft_revision}`
      for (const part of [draft, plan])
        expect([part.name, part.flow.global_prompt, part.flow.default_dynamic_variables.revision]).toEqual(
          Array(3).fill(said),
        )
    }
    expect(await fixture.summary('ada')).toMatchObject({ name: 'Revision 60', head: { version: all[0] } })
    expect(all).toEqual(all.map((_: number, n: number) => all.length - 1 - n))
  })
})

describe('GET /agents/{agent_id}/publications', () => {
  it('the digest of a publication matches its content after the draft has changed', async () => {
    const numbers = [0.1, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, -0, 0.30000000000000004, 9007199254740991]
    const odd = { é: 'ß\u2028', '\u{1f600}': ['\ufb33', '', '\u0080'], a: numbers, '': null, '10': 1, '9': 2 }
    at = await fixture.edit(
      'ada',
      at,
      { type: 'agent.settings', values: { voiceSpeed: 1.1, volume: 1e-7 } },
      {
        type: 'action.put',
        action: {
          action_id: 'odd',
          kind: 'http',
          name: 'odd',
          method: 'POST',
          url: 'https://example.com',
          parameters: odd,
        },
      },
    )
    const { publication } = (await fixture.publish('ada', at)).body
    const { plan, draft } = await get(0)
    const digest = createHash('sha256').update(canonicalJson(plan)).digest('hex')
    expect(publication.ref.digest).toBe(`sha256:${digest}`)
    expect(JSON.stringify(plan)).not.toContain('"ada"')
    const { actions } = (await fixture.call('drafts.get', { params })).body
    expect(draft.actions).toEqual(actions)
  })

  it('edits and later publications do not change a publication', async () => {
    await fixture.publish('ada', at)
    const first = await get(0)
    at = await fixture.edit('ada', at, prompt('Another'))
    await fixture.publish('ada', at)
    expect(await get(0)).toEqual({ ...first, publication: { ...first.publication, is_head: false } })
    expect(await fixture.call('publications.get', { params: { ...params, version: 2 } })).toMatchObject(
      refusal('not_found'),
    )
    const elsewhere = await AgentFixture.open(test)
    expect(await elsewhere.call('publications.get', { params: { ...params, version: 0 } })).toMatchObject(
      refusal('not_found'),
    )
  })

  it('publications are listed latest first, page by page', async () => {
    for (let n = 0; n < 5; n++) {
      await fixture.publish('ada', at)
      at = await fixture.edit('ada', at, prompt(`${n}`))
    }
    const seen = await everyPage<number>(
      async cursor => {
        const query = { limit: 2, ...(cursor && { cursor }) }
        const { items, next_cursor } = (await fixture.call('publications.list', { params, query })).body
        return { items: items.map((item: { ref: { version: number } }) => item.ref.version), next: next_cursor }
      },
      async () => {
        await fixture.publish('ada', at)
        at = await fixture.edit('ada', at, prompt(`again ${at.expected_revision}`))
      },
    )
    expect(seen).toEqual([4, 3, 2, 1, 0])
    expect((await fixture.call('publications.list', { params })).body.items[0].is_head).toBe(true)
    await fixture.create('bea')
    const none = { items: [], next_cursor: null }
    expect((await fixture.call('publications.list', { params: { agent_id: 'bea' } })).body).toEqual(none)
    expect(await fixture.call('publications.list', { params: { agent_id: 'nobody' } })).toMatchObject(
      refusal('not_found'),
    )
  })
})

describe('PUT /agents/{agent_id}/head', () => {
  const setHead = (version: number, expected_version: number | null) =>
    fixture.call('publications.set_head', { params, body: { version, expected_version } })

  beforeEach(async () => {
    await fixture.publish('ada', at)
    const to = { type: 'agent.settings', values: { channels: ['cloud'], language: 'es' } }
    at = await fixture.edit('ada', at, { type: 'agent.name', name: 'Bea' }, to)
    await fixture.publish('ada', at)
    await fixture.publish('ada', at, true)
  })

  it('moving the head to an earlier version also restores the name, channels and time of that version', async () => {
    const { publication } = await get(0)
    const moved = await setHead(0, 1)
    expect(moved).toMatchObject({
      status: 200,
      body: {
        name: 'Ada',
        head: { version: 0, channels: ['phone'], languages: ['en'] },
        updated_at: publication.published_at,
        // What is edited has not gone live by this.
        draft: { base_version: 1, published_revision: 2 },
      },
      notifications: [{ topic: 'publications', id: 'ada' }],
    })
    expect((await fixture.call('agents.list', { query: { channel: 'phone' } })).body.agents).toEqual([moved.body])
    expect((await fixture.call('agents.list', { query: { channel: 'cloud' } })).body.agents).toEqual([])
  })

  it('the head moves only from the expected version, to an existing version that is not a test', async () => {
    const stale = refusal('conflict', 'stale_revision', { current: { version: 1 } })
    expect(await setHead(0, 0)).toMatchObject(stale)
    expect(await setHead(0, null)).toMatchObject(stale)
    expect(await setHead(2, 1)).toMatchObject(refusal('conflict', 'test_publication'))
    expect(await setHead(9, 1)).toMatchObject(refusal('not_found'))
    expect((await fixture.summary('ada')).head.version).toBe(1)
    const elsewhere = await AgentFixture.open(test)
    const body = { version: 0, expected_version: 1 }
    expect(await elsewhere.call('publications.set_head', { params, body })).toMatchObject(refusal('not_found'))
  })

  it('of concurrent moves of the head from one version exactly one succeeds', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => setHead(0, 1)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })
})
