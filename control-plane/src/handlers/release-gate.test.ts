import { randomBytes } from 'node:crypto'
import { cancelTestRuns, checkCertificate, ensureSigningKey, MasterKeySealer } from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AgentFixture, type DraftRevisionRef, refusal } from '../testing/agent-fixture.ts'
import { SUITE_BODY } from '../testing/suite-requests.ts'
import { testPlatform } from '../testing/test-platform.ts'

let test: TestDatabase
let fixture: AgentFixture
let member: AgentFixture
let at: DraftRevisionRef
let suite_id: string
const sealer = new MasterKeySealer(new Map([[1, randomBytes(32)]]))
const params = { agent_id: 'ada' }

beforeAll(async () => {
  test = await testDatabase()
  await ensureSigningKey(test.owner.url, sealer)
})
afterAll(() => test?.close())
beforeEach(async () => {
  const platform = { ...testPlatform(), sealer }
  fixture = await AgentFixture.open(test, { platform })
  member = new AgentFixture(test, fixture.scope, { platform, role: 'member' })
  const { source: _, ...suite } = SUITE_BODY
  at = await fixture.create('ada')
  suite_id = (await fixture.call('test_suites.create', { body: suite })).body.suite_id
})

const settings = (releaseGate: object | null) => ({ type: 'agent.settings', values: { releaseGate } })
const gate = (over: object = {}) => ({
  suites: [suite_id],
  maximumFalsePass: 0.1,
  maximumFalseBlock: 0.05,
  minimumEffect: 0.1,
  ...over,
})
const prompt = (text: string) => ({ type: 'flow.prompt', text })
const headOf = async () => (await fixture.summary('ada')).head?.version ?? null
const get = async (version: number) => (await fixture.call('publications.get', { params: { ...params, version } })).body
const setHead = (version: number, expected_version: number | null, over: object = {}, by = fixture) =>
  by.call('publications.set_head', { params, body: { version, expected_version, ...over } })
const publishWith = (over: object, by = fixture) =>
  by.call('publications.publish', { params, body: { ...at, test: false, ...over } })

/** Publishes version 0 without a gate and version 1, which has one and becomes live by an override. */
async function gated(): Promise<void> {
  await fixture.publish('ada', at)
  at = await fixture.edit('ada', at, settings(gate()))
  await publishWith({ override: { reason: 'The gate is new' } })
  at = await fixture.edit('ada', at, prompt('Another'))
}

const EVIDENCE = {
  method: 'sequential',
  reason: null,
  pairs: 30,
  trials: 60,
  candidate: { passed: 30, trials: 30, low: 0.88, high: 1 },
  predecessor: { passed: 30, trials: 30, low: 0.88, high: 1 },
  difference: { estimate: 0, low: -0.1, high: 0.1 },
  measured_usd: null,
}

/** Ends the test run of a gate as a worker does; its gate has `state` afterwards. */
async function endTests(testRunId: string, verdict: string, state: string): Promise<void> {
  await test.owner.query(
    "update parley.test_runs set state = 'completed', verdict = $2, finished_at = now() where test_run_id = $1",
    [testRunId, verdict],
  )
  await test.owner.query('update parley.release_gates set state = $2, evidence = $3 where test_run_id = $1', [
    testRunId,
    state,
    JSON.stringify(EVIDENCE),
  ])
}

describe('publishing an agent with a release gate', () => {
  it('without a gate a version is live at once', async () => {
    const { body } = await fixture.publish('ada', at)
    expect(body.gate).toEqual({
      state: 'none',
      test_run_id: null,
      candidate: 0,
      predecessor: null,
      evidence: null,
      override: null,
    })
    at = await fixture.edit('ada', at, settings(null))
    await fixture.publish('ada', at)
    expect(await headOf()).toBe(1)
  })

  it('the version is created and tested, and the live version stays', async () => {
    await gated()
    const { status, body } = await fixture.publish('ada', at)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      publication: { ref: { version: 2 }, is_head: false },
      gate: { state: 'running', candidate: 2, predecessor: 1, evidence: null },
    })
    const { test_run_id } = body.gate
    expect((await fixture.call('test_runs.get', { params: { test_run_id } })).body).toMatchObject({
      purpose: 'publish_gate',
      state: 'queued',
      publication: { version: 2 },
      suites: [{ suite_id, revision: 1 }],
    })
    expect(await headOf()).toBe(1)
    expect(await get(2)).toMatchObject({ gate: body.gate, certificate: null })
    // A repetition starts no other test run.
    expect((await fixture.publish('ada', at)).body.gate).toEqual(body.gate)
    const { items } = (await fixture.call('test_runs.list', { query: { purpose: 'publish_gate' } })).body
    expect(items).toHaveLength(1)
  })

  it('a draft that drops or loosens the gate must pass the gate of the live version', async () => {
    await gated()
    for (const change of [settings(null), settings(gate({ minimumEffect: 0.5 }))]) {
      at = await fixture.edit('ada', at, change)
      const { gate } = (await fixture.publish('ada', at)).body
      expect(gate.state).toBe('running')
      const { rows } = await test.owner.query('select settings from parley.release_gates where test_run_id = $1', [
        gate.test_run_id,
      ])
      expect(rows[0].settings.minimumEffect).toBe(0.1)
    }
  })

  it('a test publication has no gate', async () => {
    await gated()
    expect((await fixture.publish('ada', at, true)).body.gate.state).toBe('none')
  })

  it('the first version with a gate is tested alone', async () => {
    at = await fixture.edit('ada', at, settings(gate()))
    const { body } = await fixture.publish('ada', at)
    expect(body.gate).toMatchObject({ state: 'running', candidate: 0, predecessor: null })
    expect(await headOf()).toBeNull()
  })

  it('a gate whose suite was deleted refuses the publication, and creates no version', async () => {
    await gated()
    await fixture.call('test_suites.delete', { params: { suite_id }, query: { expected_revision: 1 } })
    expect(await fixture.publish('ada', at)).toMatchObject(refusal('capability_unavailable', 'gate_suite_missing'))
    expect((await fixture.call('publications.list', { params })).body.items).toHaveLength(2)
  })

  it('an admin overrides the gate with a reason, which the version shows and the audit log has', async () => {
    await gated()
    expect(await publishWith({ override: { reason: 'x' } }, member)).toMatchObject(refusal('forbidden', 'role'))
    const first = (await fixture.publish('ada', at)).body.gate
    const { status, body } = await publishWith({ override: { reason: 'An incident' } })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      publication: { is_head: true },
      gate: { state: 'overridden', candidate: 2, predecessor: 1, override: { reason: 'An incident' } },
    })
    expect(await headOf()).toBe(2)
    const run = (await fixture.call('test_runs.get', { params: { test_run_id: first.test_run_id } })).body
    expect(run.state).toBe('cancelled')
    const { rows } = await test.owner.query(
      "select resource_id from parley.audit where tenant_id = $1 and action = 'publications.override_gate' order by audit_id",
      [fixture.scope.tenant_id],
    )
    expect(rows.map(row => row.resource_id)).toEqual(['ada/1', 'ada/2'])
  })
})

describe('moving the head of an agent with a release gate', () => {
  let testRunId: string
  beforeEach(async () => {
    await gated()
    testRunId = (await fixture.publish('ada', at)).body.gate.test_run_id
  })

  it('moving the head to a version with a release gate is refused while its tests run, and after they failed', async () => {
    const pending = refusal('conflict', 'gate_pending', { test_run_id: testRunId })
    expect(await setHead(2, 1)).toMatchObject(pending)
    await endTests(testRunId, 'failed', 'failed')
    expect(await setHead(2, 1)).toMatchObject(refusal('conflict', 'gate_failed', { test_run_id: testRunId }))
    expect(await headOf()).toBe(1)
  })

  it('without evidence it starts the tests, once', async () => {
    const first = await setHead(0, 1)
    expect(first).toMatchObject(refusal('conflict', 'gate_pending'))
    const { test_run_id } = first.body.error.details
    expect(test_run_id).not.toBe(testRunId)
    expect(await setHead(0, 1)).toMatchObject(refusal('conflict', 'gate_pending', { test_run_id }))
    expect((await get(0)).gate).toMatchObject({ state: 'running', candidate: 0, predecessor: 1, test_run_id })
  })

  it('tests that were cancelled, errored, or used other cases are no evidence', async () => {
    await endTests(testRunId, 'errored', 'failed')
    const second = (await setHead(2, 1)).body.error.details.test_run_id
    expect(second).not.toBe(testRunId)
    await test.database.transaction(fixture.scope, tx => cancelTestRuns(tx, fixture.scope, { test_run_id: second }))
    const third = (await setHead(2, 1)).body.error.details.test_run_id
    expect([testRunId, second]).not.toContain(third)
    await endTests(third, 'failed', 'failed')
    const edits = [{ op: 'set_name', name: 'Other' }]
    await fixture.call('test_suites.edit', { params: { suite_id }, body: { expected_revision: 1, edits } })
    // The name of a suite is no part of what it tests.
    expect(await setHead(2, 1)).toMatchObject(refusal('conflict', 'gate_failed', { test_run_id: third }))
    const change = [{ op: 'upsert_case', case: { ...SUITE_BODY.cases[0], case_id: 'more' } }]
    await fixture.call('test_suites.edit', { params: { suite_id }, body: { expected_revision: 2, edits: change } })
    expect(await setHead(2, 1)).toMatchObject(refusal('conflict', 'gate_pending'))
  })

  it('evidence that came too late moves the head when its predecessor is live again, and is signed', async () => {
    await setHead(0, 1, { override: { reason: 'Back' } })
    await endTests(testRunId, 'passed', 'superseded')
    await setHead(1, 0, { override: { reason: 'Forth' } })
    const { status } = await setHead(2, 1)
    expect(status).toBe(200)
    const { gate, certificate } = await get(2)
    expect(gate).toMatchObject({ state: 'passed', test_run_id: testRunId, evidence: EVIDENCE })
    expect(checkCertificate(JSON.stringify(certificate), await test.database.signing.publicKeys())).toMatchObject({
      isValid: true,
      certificate: { content: { publication: { version: 2 }, predecessor: { version: 1 }, test_run_id: testRunId } },
    })
  })

  it('members may not override, and an override is shown with its reason', async () => {
    const override = { reason: 'An incident' }
    expect(await setHead(2, 1, { override }, member)).toMatchObject(refusal('forbidden', 'role'))
    expect((await setHead(2, 1, { override })).status).toBe(200)
    expect((await get(2)).gate).toMatchObject({ state: 'overridden', override, predecessor: 1 })
  })
})
