import type { Scope, TestCase } from '@parley/contract'
import { runTrial, type TrialReport, type TrialRunner } from '@parley/evaluation'
import type { Plan } from '@parley/flow'
import { type Ms, ParleyError, SeededRandom, type Time, type UnixMs } from '@parley/kernel'
import type { EnvironmentQueue } from '@parley/runs'
import {
  type Bus,
  type Database,
  nextTrialDueInMs,
  renewTrial,
  type Sealer,
  settleTrial,
  type TakenTrial,
  takeTrials,
} from '@parley/store'
import { EnvironmentRounds } from '../environment-rounds.ts'
import type { JobCounters } from '../metrics.ts'
import type { PlanCache } from '../plan-cache.ts'
import type { JobLog } from '../protocol.ts'
import { judgeGate } from '../release/judge-gate.ts'
import { settleNextGate } from '../release/settle-gate.ts'
import type { TextAgents } from '../text/protocol.ts'
import { judgeTestRun } from './judge-test-run.ts'
import { withRecordedAnswers } from './recorded-cases.ts'
import { replayRun } from './replay-run.ts'
import { startNextTestRun } from './start-test-run.ts'
import { trialResult } from './trial-result.ts'

/** A process that dies loses its trials to others after this long. */
const LEASE_MS: Ms = 15_000
const ENVIRONMENTS_AT_ONCE = 8
/** Trials of one environment at once; the database holds all processes to it. */
const TRIALS_AT_ONCE = 4
/** Times that a trial is begun: each costs what its models do, and one may end the process that carries it out. */
const MAX_TRIES = 5

export interface TrialJobsOptions {
  readonly database: Database
  readonly queue: EnvironmentQueue
  readonly plans: PlanCache
  readonly agents: TextAgents
  /** Holds conversations with audio; default: such trials are errored. */
  readonly audio?: TrialRunner
  /** Finds deterministic voices by id, whose audio replays compare; default: none is known. */
  readonly voiceOf?: NonNullable<Parameters<typeof replayRun>[2]['voiceOf']>
  /** Opens the key that signs the certificates of release gates, and the logs of runs that are replayed. */
  readonly sealer: Sealer
  /** Tells other processes of a head that moved. */
  readonly bus: Pick<Bus, 'publish'>
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly log: JobLog
  readonly counters: JobCounters
  /** Default {@link LEASE_MS}. */
  readonly leaseMs?: Ms
}

/**
 * Carries out the trials of test runs, environment by environment. A trial is leased under a fence; its run and its result are
 * written together, once, by the process that still has it. A process that dies leaves its trials to others, which begin them anew.
 */
export class TrialJobs extends EnvironmentRounds<TakenTrial> {
  readonly #options: TrialJobsOptions
  readonly #leaseMs: Ms

  constructor(options: TrialJobsOptions) {
    super({
      work: 'trials',
      queue: options.queue,
      environmentsAtOnce: ENVIRONMENTS_AT_ONCE,
      itemsAtOnce: TRIALS_AT_ONCE,
      time: options.time,
    })
    this.#options = options
    this.#leaseMs = options.leaseMs ?? LEASE_MS
  }

  protected nextDueInMs(scope: Scope): Promise<number | null> {
    return nextTrialDueInMs(this.#options.database.within(scope), scope)
  }

  protected async take(scope: Scope, atMost: number): Promise<readonly TakenTrial[]> {
    const { database } = this.#options
    while (await database.transaction(scope, tx => startNextTestRun(tx, scope)));
    await this.#settleGates(scope)
    return database.transaction(scope, tx => takeTrials(tx, scope, this.#leaseMs, atMost))
  }

  /** Moves the heads of agents whose release gates have passed. */
  async #settleGates(scope: Scope): Promise<void> {
    const { database, sealer, bus } = this.#options
    for (;;) {
      const settled = await database.transaction(scope, tx => settleNextGate(tx, scope, sealer))
      if (settled === null) return
      if (settled.isReleased) bus.publish('publications', settled.agentId)
    }
  }

  /** Never rejects: a trial that could not be settled is due again when its lease ends. */
  protected async carryOut(trial: TakenTrial): Promise<void> {
    const { database, wallClock, log, counters } = this.#options
    const lost = new AbortController()
    const stopRenewing = this.#keepLease(trial, lost)
    try {
      const started_at = isoOf(wallClock())
      const run_id = crypto.randomUUID()
      const signal = AbortSignal.any([lost.signal, this.abortSignal])
      const report = await this.#run(trial, run_id, signal)
      const times = { run_id, started_at, ended_at: isoOf(wallClock()) }
      const result = trialResult(report, trial, times)
      const settled = await database.transaction(trial.scope, async tx => {
        const answer = await settleTrial(tx, trial, result)
        if (answer === 'settled' && !(await judgeGate(tx, trial.scope, trial.test_run_id)))
          await judgeTestRun(tx, trial.scope, trial.test_run_id)
        return answer
      })
      counters.add(settled === 'settled' ? 'trials_settled' : 'trials_lost')
    } catch (error) {
      if (lost.signal.aborted) counters.add('trials_lost')
      else if (!this.abortSignal.aborted) log(`the trial ${trial.trial_id} is not settled`, error)
    } finally {
      stopRenewing()
    }
  }

  async #run(trial: TakenTrial, runId: string, signal: AbortSignal): Promise<TrialReport> {
    const { plans, agents, audio, sealer, time, wallClock } = this.#options
    const { scope, agent_id, version } = trial
    if (trial.fence > MAX_TRIES) return unable(`interrupted: the trial was begun ${MAX_TRIES} times and never ended`)
    const test_case = await this.#caseOf(trial)
    const plan = await plans.planOf(scope, agent_id, version)
    if (plan === null) throw new TypeError(`the publication of trial ${trial.trial_id} does not exist`)
    if (test_case.mode === 'audio' && audio === undefined)
      return unable('mode_not_supported: this worker has no audio for trials')
    const models = await this.#models(trial, plan, agents)
    if (typeof models === 'string') return unable(models)
    const random = new SeededRandom(seedOf(`${test_case.case_id}/${trial.trial}`))
    const options = {
      plan,
      agentId: agent_id,
      agentVersion: version,
      runId,
      testCase: test_case,
      models,
      time,
      wallClock,
      random,
      signal,
    }
    if (trial.replay !== null) {
      const { database, voiceOf } = this.#options
      return replayRun(trial, trial.replay, { ...options, ...(voiceOf && { voiceOf }) }, { database, sealer })
    }
    return test_case.mode === 'audio' ? runTrial(options, audio) : runTrial(options)
  }

  async #caseOf({ scope, test_case, recorded_run_id }: TakenTrial): Promise<TestCase> {
    const { database, sealer } = this.#options
    if (recorded_run_id === null) return test_case
    return withRecordedAnswers(test_case, recorded_run_id, database.within(scope), { scope, sealer })
  }

  /** The agent's models, or why they are not ready. */
  async #models({ scope, agent_id, version }: TakenTrial, plan: Plan, agents: TextAgents) {
    try {
      return (await agents(plan, { scope, agent_id, version })).models
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error
      return `${error.code}: ${error.message}`
    }
  }

  /** Renews the lease until the returned function is called; aborts `lost` when the trial belongs to another or is cancelled. */
  #keepLease(trial: TakenTrial, lost: AbortController): () => void {
    const { database, time } = this.#options
    const everyMs = this.#leaseMs / 3
    let isOver = false
    const renew = async () => {
      const kept = await database
        .transaction(trial.scope, tx => renewTrial(tx, trial, this.#leaseMs))
        // A database that is away decides nothing: the fence does when the result is written.
        .catch(() => true)
      if (isOver) return
      if (!kept) return lost.abort(new Error('another process has the trial, or it was cancelled'))
      timer = time.at(time.now() + everyMs, () => void renew())
    }
    let timer = time.at(time.now() + everyMs, () => void renew())
    return () => {
      isOver = true
      timer.cancel()
    }
  }
}

function unable(error: string): TrialReport {
  return { verdict: 'errored', record: null, assertions: [], error }
}

function isoOf(at: UnixMs): string {
  return new Date(at).toISOString()
}

/** FNV-1a, 32 bits: the same case and trial have the same seed in every test run. */
function seedOf(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}
