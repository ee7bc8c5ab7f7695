import type { ReleaseGate, TestCase } from '@parley/contract'
import type { Plan } from '@parley/flow'
import {
  checkCertificate,
  ensureSigningKey,
  insertGate,
  insertTestRun,
  listAudit,
  moveHead,
  readGate,
  readTrial,
} from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { bookingCase, HOTEL, SEALER, TrialHarness } from '../trials/trials.fixture.ts'

const SUITE = '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f'
const PRINCIPAL = { owner_id: 'o', environment: 'production', kind: 'api_key', id: SUITE } as const
const GATE: ReleaseGate = {
  suites: [SUITE],
  maximumFalsePass: 0.1,
  maximumFalseBlock: 0.05,
  minimumEffect: 0.5,
}

let test: TestDatabase
let harness: TrialHarness
beforeAll(async () => {
  test = await testDatabase()
  await ensureSigningKey(test.owner.url, SEALER)
})
afterAll(() => test?.close())
beforeEach(async () => {
  harness = await TrialHarness.open(test)
  await test.owner.query(
    `update parley.publications set draft = '{"name": "Hotel"}', digest = $2 where tenant_id = $1 and agent_id = 'hotel'`,
    [harness.jobs.scope.tenant_id, `sha256:${'1'.repeat(64)}`],
  )
  await head(1)
})

const head = (version: number) => harness.jobs.write(tx => moveHead(tx, harness.jobs.scope, 'hotel', version))
const round = () => harness.worker().round(harness.jobs.scope)
const db = () => test.database.within(harness.jobs.scope)
const gateOf = async (version: number) => (await readGate(db(), harness.jobs.scope, 'hotel', version))!

async function headNow(): Promise<number | null> {
  const { rows } = await test.owner.query(
    "select head_version from parley.agents where tenant_id = $1 and agent_id = 'hotel'",
    [harness.jobs.scope.tenant_id],
  )
  return rows[0].head_version
}

async function publish(version: number, plan: Plan): Promise<void> {
  await test.owner.query(
    `insert into parley.publications (tenant_id, agent_id, version, digest, plan_schema_version, channels, languages,
       source_kind, published_by, test, draft_id, draft_revision, plan, draft, warnings)
     values ($1, 'hotel', $2, $3, 1, '{cloud}', '{en}', 'api', '{}', false, uuidv7(), 1, $4, '{"name": "Hotel"}', '[]')`,
    [harness.jobs.scope.tenant_id, version, `sha256:${String(version).repeat(64)}`, JSON.stringify(plan)],
  )
}

/** The hotel with another last line: it names the wrong room. */
const WRONG_ROOM: Plan = JSON.parse(JSON.stringify(HOTEL).replace('Room {{room}} is yours.', 'It is all yours.'))

async function gate(
  cases: readonly TestCase[],
  over: { readonly candidate?: number; readonly predecessor?: number | null; readonly settings?: object } = {},
) {
  const { scope } = harness.jobs
  const { candidate = 2, predecessor = 1, settings = {} } = over
  return harness.jobs.write(async tx => {
    const test_run_id = await insertTestRun(tx, scope, {
      agent_id: 'hotel',
      version: candidate,
      purpose: 'publish_gate',
      suites: [
        { suite_id: SUITE, revision: 1, digest: `sha256:${'a'.repeat(64)}`, agent_id: null, cases, source: null },
      ],
      case_ids: null,
      trials: null,
      baseline_test_run_id: null,
      judge_model: null,
      estimated_usd: 0,
      created_by: PRINCIPAL,
    })
    await insertGate(tx, scope, {
      agent_id: 'hotel',
      candidate,
      predecessor,
      settings: { ...GATE, ...settings },
      test_run_id,
    })
    return test_run_id
  })
}

describe('a release gate', () => {
  it('a version as good as the live one becomes live, with a certificate that the public key verifies', async () => {
    await publish(2, HOTEL)
    const id = await gate([bookingCase(), bookingCase({ case_id: 'again' })])
    await round()
    expect(harness.jobs.problems).toEqual([])
    expect(await harness.read(id)).toMatchObject({ state: 'completed', verdict: 'passed', purpose: 'publish_gate' })
    expect(await headNow()).toBe(2)
    const { state, evidence, certificate } = await gateOf(2)
    expect(state).toBe('passed')
    expect(evidence).toMatchObject({
      method: 'sequential',
      reason: null,
      candidate: { passed: evidence!.pairs, trials: evidence!.pairs, high: 1 },
      predecessor: { passed: evidence!.pairs },
      difference: { estimate: 0 },
    })
    const text = JSON.stringify(certificate)
    const keys = await test.database.signing.publicKeys()
    expect(checkCertificate(text, keys)).toMatchObject({
      isValid: true,
      certificate: { content: { publication: { agent_id: 'hotel', version: 2 }, predecessor: { version: 1 } } },
    })
    const { rows } = await listAudit(db(), harness.jobs.scope, { cursor: null, limit: 10 })
    expect(rows).toMatchObject([
      { action: 'publications.set_head', resource_id: 'hotel/2', principal: { kind: 'system', id: 'release_gate' } },
    ])
    const [result] = await harness.results(id)
    expect(result).toMatchObject({ verdict: 'passed', change: 'same' })
    expect(result!.trials.length).toBeGreaterThan(0)
    const [of1] = result!.predecessor_trials
    expect(await readTrial(db(), harness.jobs.scope, id, of1!.trial_id)).toMatchObject({ version: 1 })
  })

  it('a version that breaks a case is blocked, and the live version stays', async () => {
    await publish(2, WRONG_ROOM)
    const id = await gate([bookingCase()])
    await round()
    expect(await harness.read(id)).toMatchObject({ state: 'completed', verdict: 'failed' })
    expect(await headNow()).toBe(1)
    const { state, evidence, certificate } = await gateOf(2)
    expect({ state, certificate }).toEqual({ state: 'failed', certificate: null })
    expect(evidence).toMatchObject({ reason: 'worse', candidate: { passed: 0 }, difference: { estimate: -1 } })
    const [result] = await harness.results(id)
    expect(result).toMatchObject({ verdict: 'failed', change: 'regressed' })
    const counts = await test.owner.query(
      "select count(*)::integer as n from parley.test_trials where test_run_id = $1 and state in ('queued', 'running')",
      [id],
    )
    expect(counts.rows).toEqual([{ n: 0 }])
  })

  it('a version whose predecessor is not live any more is superseded', async () => {
    await publish(2, HOTEL)
    await publish(3, HOTEL)
    const id = await gate([bookingCase()])
    await head(3)
    await round()
    expect((await gateOf(2)).state).toBe('superseded')
    expect(await headNow()).toBe(3)
    expect((await harness.read(id)).state).toBe('cancelled')
  })

  it('the first version of an agent is judged by the pass policies of its cases', async () => {
    await test.owner.query('update parley.agents set head_version = null where tenant_id = $1', [
      harness.jobs.scope.tenant_id,
    ])
    await publish(2, WRONG_ROOM)
    await publish(3, HOTEL)
    await gate([bookingCase({ trials: 2 })], { predecessor: null })
    await round()
    expect(await gateOf(2)).toMatchObject({ state: 'failed', evidence: { method: 'absolute', reason: 'case_failed' } })
    expect(await headNow()).toBeNull()
    await gate([bookingCase({ trials: 2 })], { candidate: 3, predecessor: null })
    await round()
    expect(await headNow()).toBe(3)
    expect(await gateOf(3)).toMatchObject({
      state: 'passed',
      evidence: { candidate: { passed: 2, trials: 2 }, predecessor: null, difference: null },
      certificate: { content: { predecessor: null } },
    })
  })

  it('a case that the live version cannot be tested by must pass by its own policy', async () => {
    const unknown = JSON.parse(JSON.stringify(HOTEL).replaceAll('booked', 'confirmed'))
    await publish(2, HOTEL)
    await publish(3, unknown)
    await head(2)
    const added = bookingCase({ case_id: 'added', assertions: [{ type: 'final_node', id: 'a', node_ids: ['end'] }] })
    const confirmed = { type: 'node_visited', id: 'b', node_ids: ['confirmed'], match: 'any' }
    const cases = [bookingCase({ case_id: 'new', assertions: [confirmed] })]
    await gate([...cases, bookingCase({ ...added, assertions: [confirmed, ...added.assertions] })], {
      candidate: 3,
      predecessor: 2,
    })
    await round()
    expect(await gateOf(3)).toMatchObject({ state: 'failed', evidence: { reason: 'case_failed', pairs: 0 } })
    await gate(cases, { candidate: 3, predecessor: 2 })
    await round()
    expect(await gateOf(3)).toMatchObject({ state: 'passed', evidence: { method: 'sequential', pairs: 0 } })
  })

  it.each([
    ['maximum_trials', { maximumTrials: 3, minimumEffect: 0.05 }],
    ['maximum_usd', { maximumUsd: '0', minimumEffect: 0.05 }],
  ])('reaching a limit blocks the version: %s', async (reason, settings) => {
    const { tenant_id } = harness.jobs.scope
    await test.owner.query(
      `insert into parley.rate_cards (tenant_id, rate_card_id, effective_at, reserve_usd, rates)
       values ($1, 'r', now() - interval '1 day', '{"cloud": "0.01"}', '[]')`,
      [tenant_id],
    )
    await publish(2, HOTEL)
    const id = await gate([bookingCase()], { settings })
    await round()
    expect((await gateOf(2)).evidence).toMatchObject({ reason })
    expect(await headNow()).toBe(1)
    const { progress } = await harness.read(id)
    if (reason === 'maximum_trials') expect(progress.trials).toBeLessThanOrEqual(3)
  })

  it.each([
    ['no_cases', [bookingCase({ blocking: false })]],
    ['case_invalid', [bookingCase({ assertions: [{ type: 'final_node', id: 'a', node_ids: ['nowhere'] }] })]],
  ])('a gate that cannot give evidence blocks the version: %s', async (reason, cases) => {
    await publish(2, HOTEL)
    await gate(cases)
    await round()
    expect(await gateOf(2)).toMatchObject({ state: 'failed', evidence: { reason } })
    expect(await headNow()).toBe(1)
  })

  it('a changed letter of a certificate is found', async () => {
    await publish(2, HOTEL)
    await gate([bookingCase()])
    await round()
    const keys = await test.database.signing.publicKeys()
    const text = JSON.stringify((await gateOf(2)).certificate)
    expect(checkCertificate(text, keys).isValid).toBe(true)
    expect(checkCertificate(JSON.stringify(JSON.parse(text), null, 2), keys).isValid).toBe(true)
    for (let at = 0; at < text.length; at++) {
      const other = text[at] === 'a' ? 'b' : 'a'
      expect(checkCertificate(text.slice(0, at) + other + text.slice(at + 1), keys).isValid, `letter ${at}`).toBe(false)
    }
    expect(checkCertificate(text.replace('{', '{"key_id":"other",'), keys)).toMatchObject({ isValid: false })
    expect(checkCertificate(text, [])).toMatchObject({ isValid: false, reason: expect.stringContaining('none of') })
  })

  it('of several workers that settle a gate at once one moves the head', async () => {
    await publish(2, HOTEL)
    await gate([bookingCase()])
    const workers = Array.from({ length: 3 }, () => harness.worker())
    await Promise.all(workers.map(worker => worker.round(harness.jobs.scope)))
    // A round whose statement was not answered in time leaves the gate to the next one.
    await vi.waitFor(async () => {
      await round()
      expect(await headNow()).toBe(2)
    })
    const { rows } = await listAudit(db(), harness.jobs.scope, { cursor: null, limit: 10 })
    expect(rows).toHaveLength(1)
  })
})
