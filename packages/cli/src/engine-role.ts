import { join } from 'node:path'
import { type CallEvent, type LadderMessage, lineTestHandler, RunEngine, TokenRouter } from '@parley/engine'
import { type Ms, randomToken, runTraceIds, systemRandom, systemTime } from '@parley/kernel'
import type { TextToSpeech } from '@parley/providers'
import { type EnvironmentQueue, RecordingSpool, type RunJournals, RunLeases, type RunQueue } from '@parley/runs'
import type { Blobs } from '@parley/store'
import { LiveKitServer, requireRoomLibrary } from '@parley/webrtc'
import { addressesOf } from './addresses-of.ts'
import { endpointOptions } from './endpoint-options.ts'
import type { Settings } from './environment.ts'
import type { EnvironmentServices } from './environment-services.ts'
import { describeEvent } from './event-lines.ts'
import { HepExport } from './hep-export.ts'
import { type ProcessIdentity, watchIdentity } from './identity.ts'
import { LineRecordings } from './line-recordings.ts'
import { prepareAgents } from './prepare-agents.ts'
import { problemLines } from './problem-lines.ts'
import type { RoleMetrics } from './role-metrics.ts'
import type { RunAgents } from './run-agents.ts'
import type { Services } from './services.ts'
import { sipListenFault } from './start-faults.ts'
import type { ProcessState } from './state.ts'
import type { Tracing } from './tracing.ts'
import { engineIceServers } from './turn-settings.ts'

interface EngineRoleParts {
  readonly state: ProcessState
  readonly services: Services
  readonly environmentServices: EnvironmentServices
  readonly agents: RunAgents
  readonly identity: ProcessIdentity
  readonly runQueue: RunQueue
  readonly environmentQueue: EnvironmentQueue
  readonly blobs: Blobs
  /** Whether blobs are files on this machine, so that recordings can be joined in place. */
  readonly blobsAreFiles: boolean
  /** Token in the SIP address of the line test. */
  readonly lineToken: string
  /** Prints a line on standard output. */
  readonly printLine: (line: string) => void
  readonly journals: RunJournals
  readonly metrics: RoleMetrics
  /** Null: tracing is off. */
  readonly tracing: Tracing | null
}

interface EngineRole {
  readonly tlsPort: number
  /** Number of live calls. */
  readonly live: number
  /** Refuses new calls; resolves when the last call ends, or after `withinMs`. */
  drain(withinMs: Ms): Promise<void>
  close(): Promise<void>
}

/** Starts the SIP endpoint and the engine that runs calls. Throws errors of the endpoint and the database. */
export async function startEngineRole(settings: Settings, parts: EngineRoleParts): Promise<EngineRole> {
  const { state, services, agents, identity, runQueue, blobs, blobsAreFiles, journals, lineToken, printLine, metrics } =
    parts
  const { database, leases, bus, sealer } = state
  const onProblem = problemLines('engine')
  if (settings.liveKit !== null) requireRoomLibrary()
  const lineRecordings = new LineRecordings({
    directory: join(settings.home, 'recordings'),
    time: systemTime,
    wallClock: Date.now,
    onProblem,
  })
  await lineRecordings.open()
  const recordings = new RecordingSpool({
    directory: join(settings.home, 'spool'),
    maxBytes: settings.spoolBytes,
    database,
    blobs,
    time: systemTime,
    wallClock: Date.now,
    joinsAtClose: blobsAreFiles,
    onProblem,
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
    // Unique across restarts of the process.
    owner: { engine: `engine-${randomToken(systemRandom, 20)}`, worker: null },
    onDue: (work, scope) => parts.environmentQueue.wake(work, scope),
    ...(parts.tracing !== null && { trace: parts.tracing.onSpan }),
    onProblem,
  })
  const { captureServer } = settings
  const hep = captureServer === null ? null : new HepExport({ server: captureServer, time: systemTime, onProblem })
  await prepareAgents({ database, environmentServices: parts.environmentServices, time: systemTime, onProblem })
  const runs = await RunEngine.start({
    database,
    bus,
    sealer,
    leases: runLeases,
    runQueue,
    agents,
    recordings,
    time: systemTime,
    onProblem,
    addressesOf: addressesOf(settings.resolve),
    addresses: engine => ({ host: settings.sipHost ?? settings.sipBind, tls_port: engine.endpoint.port('tls') }),
    web: {
      bindAddress: settings.rtpBind === '0.0.0.0' ? null : settings.rtpBind,
      ports: settings.webPorts,
      announcedAddress: settings.mediaAddress ?? null,
      iceServers: () => engineIceServers(settings.webRelay, Date.now()),
      relayOnly: settings.webRelay?.engine === 'only',
    },
    ...(settings.liveKit !== null && { liveKit: new LiveKitServer(settings.liveKit) }),
    router: lineTestRouter(lineToken, services.voice('local/flite'), lineRecordings),
    ...(hep !== null && { onSipMessage: (message: LadderMessage) => hep.send(message) }),
    calls: {
      endpoint: endpointOptions(settings, identity),
      maxMediaLatenessMs: settings.maxMediaLatenessMs,
      maxAudioReadLatenessMs: settings.maxAudioReadLatenessMs,
      onEvent: (call, event) => {
        metrics.callEvent(event)
        const line = describeEvent(event, call.leg.format)
        if (line !== null) printLine(`${call.leg.callId.slice(0, 12)}  ${line}`)
      },
    },
    onOver: (run, end) => {
      const { state: ended, outcome, connectedMs, report } = end
      metrics.callEnded(end)
      const line = {
        run_id: run.runId,
        trace_id: runTraceIds(run.runId).traceId,
        tenant_id: run.scope.tenant_id,
        state: ended,
        outcome,
        connected_ms: connectedMs,
      }
      printLine(JSON.stringify({ event: 'call.ended', ...line, sip_status: report?.end.sipStatus ?? null }))
    },
  }).catch(async error => {
    hep?.close()
    runLeases.close()
    await recordings.stop()
    throw sipListenFault(error, settings)
  })
  metrics.watchEngine(() => ({
    ...runs.engine.endpoint.transportStats(),
    live: runs.live,
    isDraining: runs.isDraining,
    mediaLatenessMs: runs.engine.endpoint.mediaLatenessMs,
    audioReadLatenessMs: runs.engine.audioReadLatenessMs,
  }))
  metrics.watchTrunks(() => runs.trunkFigures)
  metrics.watchSpool(() => recordings)
  const unwatch = watchIdentity(identity, runs.engine.endpoint, printLine)
  return {
    tlsPort: runs.engine.endpoint.port('tls'),
    get live() {
      return runs.live
    },
    drain: withinMs => runs.drain(withinMs),
    async close() {
      unwatch()
      await runs.close()
      hep?.close()
      await recordings.stop()
      await lineRecordings.trim()
    },
  }
}

/** Routes calls to the line test's own address; such a call is not a run. */
function lineTestRouter(token: string, voice: TextToSpeech, recordings: LineRecordings): TokenRouter {
  const createHandler = lineTestHandler({ voice, language: 'en', time: systemTime, wallClock: Date.now })
  const decide = () => {
    const path = recordings.path(`in-${crypto.randomUUID()}`)
    return {
      kind: 'taken',
      security: 'srtp-required',
      plan: {
        createHandler,
        recording: { path },
        onEvent: ({ type }: CallEvent) => {
          if (type === 'ended') recordings.ended(path)
        },
        onAbandoned: () => recordings.ended(path),
      },
    } as const
  }
  return new TokenRouter([{ token, decide }])
}
