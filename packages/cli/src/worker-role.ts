import { audioTrialRunner } from '@parley/evaluation'
import { openSipFarEnd, startTextRuns, startWorker } from '@parley/jobs'
import { type Ms, randomToken, systemRandom, systemTime } from '@parley/kernel'
import { DocumentReader } from '@parley/knowledge'
import { TonesVoice } from '@parley/providers'
import {
  type EnvironmentQueue,
  expireContents,
  joinRecordings,
  type RunJournals,
  RunLeases,
  type RunQueue,
} from '@parley/runs'
import type { Blobs } from '@parley/store'
import { LiveKitServer } from '@parley/webrtc'
import type { Settings } from './environment.ts'
import type { EnvironmentServices } from './environment-services.ts'
import type { ProcessIdentity } from './identity.ts'
import { problemLines } from './problem-lines.ts'
import { overridesOf } from './resolve-entries.ts'
import type { RoleMetrics } from './role-metrics.ts'
import type { RunAgents } from './run-agents.ts'
import type { Services } from './services.ts'
import type { ProcessState } from './state.ts'
import type { Tracing } from './tracing.ts'

interface WorkerRoleParts {
  readonly state: ProcessState
  readonly services: Services
  readonly environmentServices: EnvironmentServices
  readonly agents: RunAgents
  readonly identity: ProcessIdentity
  readonly runQueue: RunQueue
  readonly environmentQueue: EnvironmentQueue
  readonly blobs: Blobs
  readonly journals: RunJournals
  readonly metrics: RoleMetrics
  /** Null: tracing is off. */
  readonly tracing: Tracing | null
}

interface WorkerRole {
  /** Accepts no more chats and tasks; those in progress may take `withinMs` more. Sweeps, webhooks and analyses continue. */
  drain(withinMs: Ms): Promise<void>
  close(): Promise<void>
}

/** Recordings that are joined in one round. */
const RECORDINGS_PER_ROUND = 50
/** Voices on this machine, which speak a text the same each time. */
const DETERMINISTIC_VOICES: ReadonlySet<string> = new Set(['simulated/tones-1', 'local/flite', 'local/espeak-ng'])

/** Starts chats and tasks, sweeps, the reaper, webhooks and analyses. Throws errors of sockets and of the database. */
export async function startWorkerRole(settings: Settings, parts: WorkerRoleParts): Promise<WorkerRole> {
  const {
    state,
    services,
    environmentServices,
    agents,
    identity,
    runQueue,
    environmentQueue,
    blobs,
    journals,
    metrics,
    tracing,
  } = parts
  const { database, leases, bus, sealer } = state
  const trace = tracing === null ? {} : { trace: tracing.onSpan }
  const log = problemLines('worker')
  const farEnd = await openSipFarEnd({
    bind: settings.sipBind,
    ...(settings.sipHost !== null && { advertisedHost: settings.sipHost }),
    tls: identity.tls,
    overrides: overridesOf(settings.resolve),
    userAgentName: 'Parley',
    log,
  })
  const reader = new DocumentReader()
  const callerVoice = new TonesVoice()
  const worker = await startWorker({
    database,
    bus,
    sealer,
    egress: services.egress,
    pagingUrl: settings.pagingUrl,
    hangUp: farEnd,
    ...(settings.liveKit !== null && { rooms: new LiveKitServer(settings.liveKit) }),
    log,
    models: async (ref, { plan, scope }) => {
      const own = await environmentServices.of(scope)
      return ref === null ? own.readyModel(plan) : own.modelOf(ref)
    },
    embedders: (model, scope) => environmentServices.embedder(model, scope),
    reader,
    trials: {
      agents: agents.text,
      audio: audioTrialRunner(callerVoice),
      voiceOf: id => (DETERMINISTIC_VOICES.has(id) ? services.voice(id) : null),
    },
    wake: work => runQueue.wake(work),
    queue: environmentQueue,
    expireContents: async () => {
      const { recordings, transcripts } = await expireContents(database, blobs, { onProblem: log })
      return recordings + transcripts > 0
    },
    joinRecordings: async () => {
      const joined = await joinRecordings({ database, blobs, time: systemTime }, RECORDINGS_PER_ROUND, {
        onProblem: log,
      })
      for (const { run_id } of joined) bus.publish('runs', run_id)
      return joined.length === RECORDINGS_PER_ROUND
    },
    ...trace,
    time: systemTime,
    random: systemRandom,
    wallClock: Date.now,
    leaseMs: settings.leaseMs,
  }).catch(async error => {
    await reader.close()
    await callerVoice.close()
    await farEnd.close()
    throw error
  })
  const runLeases = new RunLeases({
    database,
    leases,
    bus,
    journals,
    sealer,
    leaseMs: settings.leaseMs,
    time: systemTime,
    wallClock: Date.now,
    random: systemRandom,
    owner: { engine: `worker-${randomToken(systemRandom, 20)}`, worker: 'texts' },
    onDue: (work, scope) => environmentQueue.wake(work, scope),
    ...trace,
    onProblem: log,
  })
  const texts = startTextRuns({
    leases: runLeases,
    database,
    bus,
    agents: agents.text,
    time: systemTime,
    wallClock: Date.now,
    log,
  })
  const stopListening = await runQueue.listen(['chat', 'task', 'background'], work => texts.wake(work))
  metrics.watchQueue(database.runs)
  metrics.watchWorker(() => ({ ...worker.metrics, ...texts.metrics }))
  return {
    async drain(withinMs) {
      await stopListening()
      await texts.close(withinMs)
    },
    async close() {
      await stopListening()
      await texts.close(0)
      await worker.close()
      await reader.close()
      await callerVoice.close()
      await farEnd.close()
      runLeases.close()
    },
  }
}
