import { isDeepStrictEqual } from 'node:util'
import type { gate, ReleaseGate } from '@parley/contract'
import { Refusal } from '@parley/contract'
import {
  cancelTestRuns,
  type GateRow,
  gatesAgainst,
  insertGate,
  insertOverriddenGate,
  insertTestRun,
  moveHead,
  openGateTestRuns,
  passGate,
  readGate,
  readPublication,
  readSuite,
  releaseGatesOf,
  type TestRunSuite,
  writeAudit,
} from '@parley/store'
import type { z } from 'zod'
import type { Context } from '../context.ts'
import { estimatedCost } from './test-runs.ts'

type Gate = z.input<typeof gate>

/** A version that is to become the live one; the agent is locked. */
interface Release {
  readonly agentId: string
  readonly candidate: number
  /** The live version; null: there is none. */
  readonly predecessor: number | null
}

/** `moved`: the version is live; `pending`, `failed`: its gate's tests run, or have failed. */
type Released = { readonly state: 'moved' } | { readonly state: 'pending' | 'failed'; readonly testRunId: string }

/**
 * Makes the version live, or starts the tests of its gate. The live version's gate is in force, so that a draft cannot loosen the
 * gate that it must pass; the candidate's own where the live version has none. Throws `gate_suite_missing`, and `forbidden` for an
 * override without the role admin.
 */
export async function release(
  to: Release,
  override: { readonly reason: string } | undefined,
  context: Context,
): Promise<Released> {
  if (override !== undefined) assertAdmin(context)
  const { db, scope } = context
  const { agentId, candidate, predecessor } = to
  const settings = to.candidate === predecessor ? null : await gateInForce(to, context)
  if (settings === null) {
    await moveHead(db, scope, agentId, candidate, predecessor)
    return { state: 'moved' }
  }
  if (override !== undefined) {
    await overrideGate(to, settings, override.reason, context)
    return { state: 'moved' }
  }
  const suites = await suitesOf(settings, context)
  const found = (await gatesAgainst(db, scope, agentId, candidate, predecessor)).find(
    one => isDeepStrictEqual(one.settings, settings) && testsThese(one, suites) && isEvidence(one),
  )
  if (found?.test_run_id == null) return { state: 'pending', testRunId: await startGate(to, settings, suites, context) }
  if (found.verdict === null) return { state: 'pending', testRunId: found.test_run_id }
  if (found.verdict === 'failed') return { state: 'failed', testRunId: found.test_run_id }
  // The worker moves the head of a gate that is still running.
  if (found.state === 'running') return { state: 'pending', testRunId: found.test_run_id }
  await passGate(db, scope, context.platform.sealer, found)
  return { state: 'moved' }
}

function assertAdmin({ principal }: Context): void {
  if (principal.role === 'admin') return
  throw new Refusal('forbidden', `overriding a release gate needs the role admin; this one is ${principal.role}`, {
    reason: 'role',
  })
}

async function gateInForce({ agentId, ...versions }: Release, { db, scope }: Context): Promise<ReleaseGate | null> {
  const gates = await releaseGatesOf(db, scope, agentId, versions)
  return gates.predecessor ?? gates.candidate
}

async function suitesOf({ suites }: ReleaseGate, { db, scope }: Context): Promise<TestRunSuite[]> {
  const found: TestRunSuite[] = []
  for (const id of suites) {
    const suite = await readSuite(db, scope, id)
    if (suite === null)
      throw new Refusal(
        'capability_unavailable',
        `the release gate names the test suite ${id}, which does not exist: an admin may publish with "override"`,
        { reason: 'gate_suite_missing', details: { suite_id: id } },
      )
    const { suite_id, revision, digest, cases, source } = suite
    found.push({ suite_id, revision, digest, agent_id: suite.agent_id, cases, source })
  }
  return found
}

/** Suites that changed since make other tests. */
function testsThese(gate: GateRow, suites: readonly TestRunSuite[]): boolean {
  const digests = (all: readonly Pick<TestRunSuite, 'suite_id' | 'digest'>[]) =>
    all.map(({ suite_id, digest }) => `${suite_id} ${digest}`).join()
  return gate.suites !== null && digests(gate.suites) === digests(suites)
}

/** Test runs under way, and results about the versions. Cancelled test runs and those whose trials errored show nothing. */
function isEvidence({ test_state, verdict }: GateRow): boolean {
  return test_state !== 'cancelled' && verdict !== 'errored'
}

async function startGate(
  { agentId, candidate, predecessor }: Release,
  settings: ReleaseGate,
  suites: readonly TestRunSuite[],
  context: Context,
): Promise<string> {
  const { db, scope, principal } = context
  const publication = await readPublication(db, scope, agentId, candidate)
  const { model } = publication!.plan.providers.llm
  const cases = suites.flatMap(one => one.cases)
  const isJudged = cases.some(({ assertions }) => assertions.some(({ type }) => type === 'judge'))
  const trials = (mode: 'text' | 'audio') => cases.filter(one => one.blocking && one.mode === mode).length
  const sides = predecessor === null ? 1 : 2
  const counts = { cloud: sides * trials('text'), phone: sides * trials('audio') }
  const test_run_id = await insertTestRun(db, scope, {
    agent_id: agentId,
    version: candidate,
    purpose: 'publish_gate',
    suites,
    case_ids: null,
    trials: null,
    baseline_test_run_id: null,
    judge_model: isJudged && model.model_id !== 'rules-1' ? model : null,
    estimated_usd: await estimatedCost(agentId, counts, context),
    created_by: principal.ref,
  })
  await insertGate(db, scope, { agent_id: agentId, candidate, predecessor, settings, test_run_id })
  context.dueAfterCommit('trials')
  return test_run_id
}

/** Makes the version live without evidence, and says so in the audit log beside the operation's own item. */
async function overrideGate(
  { agentId, candidate, predecessor }: Release,
  settings: ReleaseGate,
  reason: string,
  context: Context,
): Promise<void> {
  const { db, scope, principal, requestId } = context
  for (const test_run_id of await openGateTestRuns(db, scope, agentId, candidate))
    await cancelTestRuns(db, scope, { test_run_id })
  await moveHead(db, scope, agentId, candidate, predecessor)
  const override = { reason, by: principal.ref }
  await insertOverriddenGate(db, scope, { agent_id: agentId, candidate, predecessor, settings, override })
  await writeAudit(db, scope, {
    principal: principal.ref,
    action: 'publications.override_gate',
    resource: { kind: 'publication', id: `${agentId}/${candidate}` },
    outcome: 'allowed',
    request_id: requestId,
  })
}

/** The gate of a version as the API shows it. */
export async function gateBody({ db, scope }: Context, agentId: string, version: number): Promise<Gate> {
  const row = await readGate(db, scope, agentId, version)
  if (row === null) return noGate(version)
  const { state, test_run_id, candidate, predecessor, evidence, override } = row
  return {
    state: state === 'cancelled' ? 'none' : state,
    test_run_id,
    candidate,
    predecessor,
    evidence,
    override,
  }
}

function noGate(candidate: number): Gate {
  return { state: 'none', test_run_id: null, candidate, predecessor: null, evidence: null, override: null }
}
