import { setTimeout as pause } from 'node:timers/promises'
import type { Scope } from '@parley/contract'
import { type Ms, randomBelow, SeededRandom } from '@parley/kernel'
import { insertTestRun } from '@parley/store'
import { startTestServer, type TestDatabase, testDatabaseOn } from '@parley/store/testing'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'
import { INQUIRY, INQUIRY_DESK } from './trials/inquiry-desk.ts'
import { type ProcessFigures, TrialProcesses } from './trials/trial-processes.ts'

const SUITE = '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f'
const AGENT = 'inquiry-desk'
const PROCESSES = 2
/** One process is killed for every this many trials. */
const TRIALS_PER_KILL = 25
/** Trials from which on memory is judged: before, caches still fill. */
const TRIALS_FOR_MEMORY = 200
/** Memory of the last quarter of a process's reports against the second quarter. */
const MOST_GROWTH = 1.15
const LOOK_EVERY_MS: Ms = 200

interface TrialOutcome {
  readonly trial: number
  readonly verdict: string | null
  /** Digest of the transcript and of the times in it. */
  readonly transcript: string | null
  readonly callMs: Ms
}

interface Round {
  readonly outcomes: readonly TrialOutcome[]
  /** Runs of the test run: one for each trial. */
  readonly runs: number
  readonly kills: number
  readonly seconds: number
  readonly figures: readonly (readonly ProcessFigures[])[]
}

/**
 * Trials with audio of twelve turns each, carried out twice by two processes: once undisturbed, once with kills (-9) at random
 * moments. All trials must end with a result, none twice, and the same trial with the same verdict and the same conversation, to the
 * millisecond. `count`: trials of each round; one kill for 25 of them, at least one.
 */
async function proveTrials({ seed, count, seconds, line, progress }: ProofOptions): Promise<ProofOutcome> {
  const random = new SeededRandom(seed)
  const server = await startTestServer()
  const test = await testDatabaseOn(server.templateUrl)
  try {
    const scope = await test.scope()
    await publish(test, scope)
    const limit = AbortSignal.timeout(seconds * 1000)
    const kills = Math.max(1, Math.round(count / TRIALS_PER_KILL))
    const undisturbed = await round(test, scope, count, { kills: 0, limit, progress, random })
    line(summaryOf('undisturbed', undisturbed))
    const killed = await round(test, scope, count, { kills, limit, progress, random })
    line(summaryOf('killed', killed))
    const faults = [...faultsOf(undisturbed, count), ...faultsOf(killed, count)]
    for (const [index, one] of undisturbed.outcomes.entries()) {
      const other = killed.outcomes[index]
      if (other === undefined || one.verdict !== other.verdict || one.transcript !== other.transcript)
        faults.push(`trial ${one.trial} had another result in the second round`)
    }
    const growth = growthOf(undisturbed.figures)
    if (count >= TRIALS_FOR_MEMORY && growth > MOST_GROWTH) faults.push(`memory grew by the factor ${growth}`)
    for (const fault of faults.slice(0, 20)) line({ fault })
    return { ok: faults.length === 0, summary: { trials: count, kills: killed.kills, faults: faults.length, growth } }
  } finally {
    await test.close()
    await server.stop()
  }
}

async function round(
  test: TestDatabase,
  scope: Scope,
  count: number,
  {
    kills,
    limit,
    progress,
    random,
  }: Pick<ProofOptions, 'progress'> & {
    readonly kills: number
    readonly limit: AbortSignal
    readonly random: SeededRandom
  },
): Promise<Round> {
  const processes = new TrialProcesses(test.owner.url, scope)
  const begun = performance.now()
  const id = await startTestRun(test, scope, count)
  // Numbers of ended trials at which a process is killed.
  const moments = Array.from({ length: kills }, () => randomBelow(random, count)).sort((a, b) => a - b)
  let [done, shown] = [0, 0]
  try {
    for (let process = 0; process < PROCESSES; process++) processes.start()
    for (;;) {
      limit.throwIfAborted()
      const { settled, admitted, isOver } = await progressOf(test, id)
      if (isOver) break
      if (done < moments.length && settled >= moments[done]! && admitted > settled) {
        await pause(randomBelow(random, 500))
        await processes.replace(done++)
      }
      if (settled >= shown + 50) {
        shown = settled
        progress(`${settled} of ${count} trials, ${done} kills`)
      }
      await pause(LOOK_EVERY_MS)
    }
  } finally {
    await processes.close()
  }
  const seconds = (performance.now() - begun) / 1000
  const { rows } = await test.owner.query('select count(*)::integer as runs from parley.runs where test_run_id = $1', [
    id,
  ])
  const { runs } = rows[0] as { runs: number }
  return { outcomes: await outcomesOf(test, id), runs, kills: done, seconds, figures: processes.figures }
}

function faultsOf({ outcomes, runs }: Round, count: number): string[] {
  const faults = outcomes
    .filter(({ verdict }) => verdict !== 'passed')
    .map(({ trial, verdict }) => `trial ${trial}: ${verdict}`)
  if (outcomes.length !== count) faults.push(`${outcomes.length} trials instead of ${count}`)
  if (runs !== count) faults.push(`${runs} runs of ${count} trials`)
  return faults
}

function summaryOf(name: string, { outcomes, runs, kills, seconds, figures }: Round): object {
  const callSeconds = outcomes.reduce((sum, { callMs }) => sum + callMs, 0) / 1000
  const cpuSeconds = figures.reduce((sum, of) => sum + (of.at(-1)?.cpu_ms ?? 0), 0) / 1000
  return {
    round: name,
    trials: outcomes.length,
    runs,
    kills,
    seconds: Math.round(seconds),
    call_seconds: Math.round(callSeconds),
    cpu_seconds: Math.round(cpuSeconds),
    call_seconds_per_cpu_second: Number((callSeconds / Math.max(1, cpuSeconds)).toFixed(1)),
    rss_mib: figures.map(of => Math.round(Math.max(0, ...of.map(({ rss }) => rss)) / 2 ** 20)),
  }
}

/** The largest growth of a process that reported long enough; 0: none did. */
function growthOf(figures: Round['figures']): number {
  const growths = figures.flatMap(of => {
    const quarter = Math.floor(of.length / 4)
    if (quarter < 5) return []
    return [medianOf(of.slice(-quarter)) / medianOf(of.slice(quarter, 2 * quarter))]
  })
  return Number(Math.max(0, ...growths).toFixed(3))
}

function medianOf(figures: readonly ProcessFigures[]): number {
  return figures.map(({ rss }) => rss).toSorted((a, b) => a - b)[figures.length >> 1]!
}

async function publish({ owner }: TestDatabase, { tenant_id }: Scope): Promise<void> {
  await owner.query("insert into parley.agents (tenant_id, agent_id, name) values ($1, $2, 'A')", [tenant_id, AGENT])
  await owner.query(
    `insert into parley.publications (tenant_id, agent_id, version, digest, plan_schema_version, channels, languages,
       source_kind, published_by, test, draft_id, draft_revision, plan, draft, warnings)
     values ($1, $2, 1, 'd', 1, '{phone,cloud}', '{en}', 'api', '{}', false, uuidv7(), 1, $3, '{}', '[]')`,
    [tenant_id, AGENT, JSON.stringify(INQUIRY_DESK)],
  )
}

function startTestRun({ database }: TestDatabase, scope: Scope, trials: number): Promise<string> {
  return database.transaction(scope, tx =>
    insertTestRun(tx, scope, {
      agent_id: AGENT,
      version: 1,
      purpose: 'manual',
      suites: [{ suite_id: SUITE, revision: 1, digest: 'd', agent_id: null, cases: [INQUIRY], source: null }],
      case_ids: null,
      trials,
      baseline_test_run_id: null,
      judge_model: null,
      estimated_usd: 0,
      created_by: { owner_id: 'o', environment: 'production', kind: 'api_key', id: SUITE },
    }),
  )
}

async function progressOf({ owner }: TestDatabase, id: string) {
  const { rows } = await owner.query(
    `select r.state = 'completed' as "isOver", count(*) filter (where t.state = 'completed')::integer as settled,
       count(*) filter (where t.started_at is not null)::integer as admitted
     from parley.test_runs r left join parley.test_trials t using (tenant_id, test_run_id)
     where r.test_run_id = $1 group by r.state`,
    [id],
  )
  return rows[0] as { readonly isOver: boolean; readonly settled: number; readonly admitted: number }
}

async function outcomesOf({ owner }: TestDatabase, id: string): Promise<TrialOutcome[]> {
  const { rows } = await owner.query(
    `select t.trial, t.verdict, md5(s.utterances::text) as transcript, coalesce((
       select max(e.offset_ms) from parley.run_events e where e.tenant_id = t.tenant_id and e.run_id = t.run_id), 0) as "callMs"
     from parley.test_trials t left join parley.run_transcripts s using (tenant_id, run_id)
     where t.test_run_id = $1 order by t.trial`,
    [id],
  )
  return rows as TrialOutcome[]
}

export const proof: Proof = { name: 'trials', count: 2000, seconds: 14_400, run: proveTrials }
