import type { Egress } from '@parley/egress'
import { type Ms, type Random, randomToken, type Time, type TraceSink, type UnixMs, withDeadline } from '@parley/kernel'
import type { DocumentReader, Embedders } from '@parley/knowledge'
import type { EnvironmentQueue, Work } from '@parley/runs'
import { type Bus, type Database, OPEN_WITHIN_MS, RUN_LEASE_MS, type RunOwner, type Sealer } from '@parley/store'
import { AlertEvaluator } from './alerts/alert-evaluator.ts'
import { AlertSender } from './alerts/alert-sender.ts'
import { CallAnalyser } from './analysis/call-analyser.ts'
import { KnowledgeBuilder } from './knowledge/knowledge-builder.ts'
import { JobCounters, type WorkerMetrics } from './metrics.ts'
import { PlanCache } from './plan-cache.ts'
import type { AnalysisModels, FarEnd, JobLog, RoomServer } from './protocol.ts'
import { Reaper } from './reaper/reaper.ts'
import { LeaderLease } from './sweeps/leader-lease.ts'
import {
  expireRuns,
  expireUpdates,
  forgetEngines,
  forgetIdempotency,
  pruneForgottenNumbers,
  wakeDueEnvironments,
} from './sweeps/run-sweeps.ts'
import { Sweep } from './sweeps/sweep.ts'
import { TrialJobs, type TrialJobsOptions } from './trials/trial-jobs.ts'
import { WebhookSender } from './webhooks/webhook-sender.ts'

/** From the end of a round to the start of the next. */
const INTERVALS = {
  expireRuns: 1000,
  expireUpdates: 1000,
  forgetEngines: 10_000,
  forgetIdempotency: 60_000,
  expireContents: 3_600_000,
  pruneForgottenNumbers: 3_600_000,
  joinRecordings: 2000,
  /** For the default lease; for another one a third of it. */
  reap: RUN_LEASE_MS / 3,
  webhooks: 1000,
  analyses: 1000,
  alerts: 1000,
  alert_deliveries: 1000,
  knowledge: 2000,
  trials: 1000,
}

type SweepName = keyof typeof INTERVALS

/** Sweeps that one worker runs at a time, and how long the others wait when that worker dies. */
const ALONE: Partial<Record<SweepName, Ms>> = {
  expireRuns: 5000,
  expireUpdates: 5000,
  forgetEngines: 30_000,
  forgetIdempotency: 120_000,
  expireContents: 120_000,
  pruneForgottenNumbers: 120_000,
  joinRecordings: 15_000,
  webhooks: 5000,
  analyses: 5000,
  alerts: 5000,
  alert_deliveries: 5000,
  knowledge: 5000,
  trials: 5000,
}

const CLOSE_WITHIN_MS: Ms = 10_000

export interface WorkerOptions {
  readonly database: Database
  readonly bus: Bus
  /** Decrypts the secrets that sign webhooks, and the destinations of alerts. */
  readonly sealer: Sealer
  /** Sends the webhooks and the notifications of alerts. */
  readonly egress: Egress
  /** Takes the paging events of alerts: an events API of version 2. */
  readonly pagingUrl: string
  readonly models: AnalysisModels
  /** Embed the passages of documents. */
  readonly embedders: Embedders
  readonly reader: Pick<DocumentReader, 'read'>
  /** What trials of test runs need; default: this worker carries out none. */
  readonly trials?: Pick<TrialJobsOptions, 'agents' | 'audio' | 'voiceOf'>
  /** Ends the calls of engines that died. */
  readonly hangUp: FarEnd
  /** Ends the rooms of their web calls. Default: there is no LiveKit server. */
  readonly rooms?: RoomServer
  /** Wakes a process that runs such work; never throws. */
  readonly wake: (work: Work) => void
  /** Gives environments their rounds of webhooks, analyses, alerts and documents to embed. */
  readonly queue: EnvironmentQueue
  /** Deletes content past its retention; true: there is more. Two processes may run it at once. */
  readonly expireContents: () => Promise<boolean>
  /** Joins the segments of ended runs' recordings; true: there are more. Two processes may run it at once. */
  readonly joinRecordings: () => Promise<boolean>
  /** Takes a span for each webhook that is sent. Default: tracing is off. */
  readonly trace?: TraceSink
  readonly time: Time
  readonly random: Random
  readonly wallClock: () => UnixMs
  readonly log: JobLog
  /** Default: see the source; for tests and proofs. */
  readonly intervals?: Partial<Record<SweepName, Ms>>
  /** Lease of run owners, ms; the reaper waits for it. Default 9000. */
  readonly leaseMs?: Ms
  /** How long a far end that confirms nothing keeps its run's permit, from the last renewal. Default 28000. */
  readonly busyMs?: Ms
  /** Pauses between the sends of a webhook or a notification. Default 1, 5, 30 s, 2 and 10 minutes. */
  readonly retryAfterMs?: readonly Ms[]
  /** Time from one evaluation of an alert rule to the next. Default 60 s. */
  readonly alertEveryMs?: Ms
  /** How long a notification whose worker died stays its own. Default 30 s. */
  readonly alertLeaseMs?: Ms
}

export interface Worker {
  /** Counts since the start; a counter each, named `parley_jobs_…_total` where they are served. */
  readonly metrics: WorkerMetrics
  /** Starts nothing more; resolves when the work under way is done, after 10 s at the latest. Other workers take the rest. */
  close(): Promise<void>
}

/** Starts a worker: sweeps, reaper, webhooks, analyses, alerts, generations, trials. A failure of one ends neither the process nor the others. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  await options.database.ping(OPEN_WITHIN_MS)
  const worker = new RunningWorker(options)
  await worker.start()
  return worker
}

class RunningWorker implements Worker {
  readonly #options: WorkerOptions
  readonly #owner: RunOwner
  readonly #counters = new JobCounters()
  readonly #sweeps = new Map<SweepName, Sweep>()
  readonly #leaderLeases: LeaderLease[] = []
  readonly #reaper: Reaper
  readonly #webhooks: WebhookSender
  readonly #analyser: CallAnalyser
  readonly #alertEvaluator: AlertEvaluator
  readonly #alertSender: AlertSender
  readonly #knowledge: KnowledgeBuilder
  readonly #trials: TrialJobs | null
  #closing: Promise<void> | null = null

  constructor(options: WorkerOptions) {
    this.#options = options
    // Unique, also across restarts.
    this.#owner = { engine: `worker-${randomToken(options.random, 16)}`, worker: 'reaper' }
    const shared = { ...options, counters: this.#counters, plans: new PlanCache(options.database) }
    this.#reaper = new Reaper({
      ...shared,
      owner: this.#owner,
      farEnd: options.hangUp,
      everyMs: this.#everyMs('reap'),
    })
    this.#webhooks = new WebhookSender(shared)
    this.#analyser = new CallAnalyser(shared)
    this.#alertEvaluator = new AlertEvaluator(shared)
    this.#alertSender = new AlertSender(shared)
    this.#knowledge = new KnowledgeBuilder(shared)
    const { trials, leaseMs: _, ...rest } = shared
    this.#trials = trials === undefined ? null : new TrialJobs({ ...rest, ...trials })
    this.#begin('expireRuns', () => expireRuns(shared))
    this.#begin('expireUpdates', () => expireUpdates(shared))
    this.#begin('forgetEngines', () => forgetEngines(shared))
    this.#begin('forgetIdempotency', () => forgetIdempotency(shared))
    this.#begin('expireContents', options.expireContents)
    this.#begin('pruneForgottenNumbers', () => pruneForgottenNumbers(shared))
    this.#begin('joinRecordings', options.joinRecordings)
    this.#begin('reap', () => this.#reaper.round())
    for (const work of ['webhooks', 'analyses', 'alerts', 'alert_deliveries', 'knowledge', 'trials'] as const)
      this.#begin(work, wakeDueEnvironments(options.database, options.queue, work))
  }

  async start(): Promise<void> {
    const parts = [this.#webhooks, this.#analyser, this.#alertEvaluator, this.#alertSender, this.#knowledge]
    await Promise.all([...parts, ...(this.#trials === null ? [] : [this.#trials])].map(part => part.start()))
  }

  get metrics(): WorkerMetrics {
    return this.#counters.read()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  #everyMs(name: SweepName): Ms {
    const { intervals, leaseMs } = this.#options
    const usual = name === 'reap' && leaseMs !== undefined ? leaseMs / 3 : INTERVALS[name]
    return intervals?.[name] ?? usual
  }

  #begin(name: SweepName, round: () => Promise<boolean>): void {
    const { database, time, random, log } = this.#options
    const leaseMs = ALONE[name]
    let guarded = round
    if (leaseMs !== undefined) {
      const leaderLease = new LeaderLease({
        leases: database.leases,
        name: `jobs/${name}`,
        owner: this.#owner.engine,
        leaseMs,
        time,
      })
      this.#leaderLeases.push(leaderLease)
      guarded = () => leaderLease.run(round)
    }
    const everyMs = this.#everyMs(name)
    this.#sweeps.set(name, new Sweep({ name, everyMs, round: guarded, time, random, log, counters: this.#counters }))
  }

  async #close(): Promise<void> {
    const { time } = this.#options
    const deadline = time.now() + CLOSE_WITHIN_MS
    const never = new AbortController().signal
    const sweeps = Promise.all([...this.#sweeps.values()].map(sweep => sweep.close()))
    const reaper = this.#reaper.close()
    const analyser = this.#analyser.close()
    const webhooks = this.#webhooks.close()
    const alerts = Promise.all([this.#alertEvaluator.close(), this.#alertSender.close()])
    const knowledge = this.#knowledge.close()
    const trials = this.#trials?.close()
    await withDeadline(time, deadline - CLOSE_WITHIN_MS / 4, never, Promise.all([sweeps, analyser, knowledge, trials]))
    this.#analyser.abort()
    this.#knowledge.abort()
    this.#trials?.abort()
    const rest = [sweeps, reaper, webhooks, analyser, alerts, knowledge, trials]
    await withDeadline(
      time,
      deadline,
      never,
      Promise.all([...rest, ...this.#leaderLeases.map(leaderLease => leaderLease.release())]),
    )
  }
}
