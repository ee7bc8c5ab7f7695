import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ms } from '@parley/kernel'
import { type ThreadTimes, threadTimes } from '../thread-times.ts'
import type { ServiceOverhead } from './bare-clients.ts'
import { measureCalls } from './callers.ts'
import { EngineLink } from './engine-link.ts'
import { type PlantedFault, STALL_MS, withPause } from './faults.ts'
import {
  type CpuPerCallSecond,
  cpuPerCallSecond,
  eventLoopShare,
  rounded,
  type TurnFigures,
  turnFigures,
} from './figures.ts'
import { type LiveSpan, LiveWindow } from './live-window.ts'
import type { EngineMeasures, SearchedDocuments } from './messages.ts'
import { MIN_DELAY_MS, SERVICE_DELAYS } from './script.ts'
import { startServices } from './services-link.ts'
import type { MeasuredCall } from './wire-caller.ts'

/** Endpointing delay of the engine: silence after which the caller's turn ends. */
const ENDPOINTING_MS: Ms = 300

/** Scripted waits of a turn without the model: with built-in services, and with services in another process. */
const WAITS_MS = ENDPOINTING_MS
const SERVICE_WAITS_MS = ENDPOINTING_MS + SERVICE_DELAYS.hearing + SERVICE_DELAYS.speaking

const MAX_SHOWN = 10

interface RowOptions {
  readonly calls: number
  /** Measured turns of each call. */
  readonly turns: number
  /** Instead of `turns`: how long all calls live together. Default null: until the first has said its turns. */
  readonly seconds?: number | null
  /** Turns of each call before the measured ones. */
  readonly warmUpTurns: number
  readonly quietMs: Ms
  readonly lines: readonly Int16Array[]
  /** Preemptive generation: the model may be asked before the end of turn is certain. Waits then overlap, and overhead may be negative. */
  readonly asksAhead: boolean
  /** Calls over TLS with SRTP; default false: UDP and RTP. */
  readonly secure?: boolean
  /** Both channels of each call are recorded; default false. */
  readonly recorded?: boolean
  /** Planted fault: delay of the model beyond its script, ms. */
  readonly plantedMs: Ms
  /** Other planted faults; default none. */
  readonly faults?: readonly PlantedFault[]
  /** Overhead of services in another process; null: recogniser, voice and model run in the engine's process. */
  readonly services: ServiceOverhead | null
  /** Documents that the agent searches; default none. */
  readonly documents?: SearchedDocuments
}

export interface Row extends TurnFigures, LiveFigures {
  readonly calls: number
  readonly asks_ahead: boolean
  readonly services: boolean
  readonly secure: boolean
  readonly recorded: boolean
  /** Wait of a bare client for model and voice beyond their script, ms; it is subtracted. */
  readonly services_late_ms: Ms
  readonly packet_io: 'native' | 'portable'
  /** Calls that ended before their last turn; their earlier turns count. */
  readonly broken_calls: number
  readonly broken: readonly string[]
  /** Pauses of more than 40 ms in what the callers heard, and the longest pause between two packets beyond their 20 ms. */
  readonly gaps_over_40_ms: number
  readonly longest_gap_ms: Ms
  /** Lines, those of the warm-up included, for which the model was asked before their end or more than once, and their share. */
  readonly lines_in_two: number
  readonly lines_in_two_percent: number
  /** Requests to the model minus turns, discarded preemptive requests included; negative when there were fewer. */
  readonly answers_too_many: number
  /** Requests to the model with passages of documents. */
  readonly answers_with_passages: number
  /** The first turns whose words were not recognised exactly. */
  readonly misheard: readonly string[]
}

/** Of the time in which all calls lived, after their warm-up. Null: they never did, or the system does not tell. */
interface LiveFigures {
  readonly live_seconds: number | null
  readonly engine_event_loop_utilization: number | null
  /** Near 1 the callers themselves are late, and the figures are not about the engine. */
  readonly callers_event_loop_utilization: number | null
  /** CPU of the engine for one second of one call, ms, by thread. */
  readonly engine_cpu_ms_per_call_second: CpuPerCallSecond | null
  readonly callers_cpu_ms_per_call_second: number | null
  readonly services_cpu_ms_per_call_second: number | null
}

/** What is read at both ends of that time. */
interface Sample {
  readonly loop: ReturnType<typeof performance.eventLoopUtilization>
  readonly engineLoop: Promise<EngineMeasures>
  readonly engine: ThreadTimes | null
  readonly callers: ThreadTimes | null
  readonly services: ThreadTimes | null
}

/** Measures one number of simultaneous calls with an engine in a process of its own. Throws if no turn was measured. */
export async function measureRow(options: RowOptions): Promise<Row> {
  const { asksAhead, plantedMs, faults = [], secure = false, recorded = false } = options
  const home = await mkdtemp(join(tmpdir(), 'parley-turn.'))
  const services = options.services === null ? null : await startServices(plantedMs, faults)
  try {
    const { engine, uri, packetIo, tls } = await EngineLink.start({
      home,
      endpointingMs: ENDPOINTING_MS,
      asksAhead,
      secure,
      recorded,
      plantedMs,
      faults,
      services: services?.environment ?? null,
      documents: options.documents ?? null,
    })
    try {
      const { calls, seconds = null } = options
      const onBegin = () => {
        if (faults.includes('stall')) void engine.stall(STALL_MS)
      }
      const window = new LiveWindow({ calls, seconds, onBegin, sample: () => sampleOf(engine, services?.pid ?? null) })
      const talked = await measureCalls({ ...callsOf(options), target: uri, tls: secure ? tls : null, window })
      const live = await liveFigures(window.span)
      return { ...rowOf(options, talked, await engine.measure()), packet_io: packetIo, ...live }
    } finally {
      await engine.end()
    }
  } finally {
    await services?.end()
    await rm(home, { recursive: true, force: true })
  }
}

function callsOf({ calls, warmUpTurns, turns, seconds = null, quietMs, lines, faults = [] }: RowOptions) {
  return {
    calls,
    warmUpTurns,
    turns: seconds === null ? warmUpTurns + turns : null,
    quietMs,
    lines: faults.includes('pause') ? lines.map((line, i) => (i === lines.length - 1 ? withPause(line) : line)) : lines,
  }
}

function sampleOf(engine: EngineLink, services: number | null): Sample {
  const engineLoop = engine.measure()
  // It is awaited when the calls are over; they break when the engine ends.
  engineLoop.catch(() => {})
  return {
    loop: performance.eventLoopUtilization(),
    engineLoop,
    engine: threadTimes(engine.pid),
    callers: threadTimes(process.pid),
    services: services === null ? null : threadTimes(services),
  }
}

async function liveFigures(span: LiveSpan<Sample> | null): Promise<LiveFigures> {
  if (span === null)
    return {
      live_seconds: null,
      engine_event_loop_utilization: null,
      callers_event_loop_utilization: null,
      engine_cpu_ms_per_call_second: null,
      callers_cpu_ms_per_call_second: null,
      services_cpu_ms_per_call_second: null,
    }
  const { before, after, callSeconds } = span
  const callers = performance.eventLoopUtilization(after.loop, before.loop)
  const cpu = (of: 'engine' | 'callers' | 'services') => cpuPerCallSecond(before[of], after[of], callSeconds)
  return {
    live_seconds: rounded(span.seconds, 1),
    engine_event_loop_utilization: eventLoopShare(await before.engineLoop, await after.engineLoop),
    callers_event_loop_utilization: rounded(callers.utilization, 3),
    engine_cpu_ms_per_call_second: cpu('engine'),
    callers_cpu_ms_per_call_second: cpu('callers')?.all ?? null,
    services_cpu_ms_per_call_second: cpu('services')?.all ?? null,
  }
}

function rowOf(
  options: RowOptions,
  talked: readonly MeasuredCall[],
  counts: EngineMeasures,
): Omit<Row, keyof LiveFigures | 'packet_io'> {
  const { calls, asksAhead, services, secure = false, recorded = false, warmUpTurns } = options
  const broken = talked.flatMap(call => call.broken ?? [])
  if (talked.every(call => call.turns.length <= warmUpTurns) && broken.length > 0) throw new Error(broken[0])
  const lateMs = services === null ? 0 : services.modelMs + services.voiceMs
  const said = talked.reduce((sum, call) => sum + call.said, 0)
  return {
    calls,
    asks_ahead: asksAhead,
    services: services !== null,
    secure,
    recorded,
    services_late_ms: rounded(lateMs, 1),
    ...turnFigures(
      talked.map(call => call.turns),
      {
        waitsMs: services === null ? WAITS_MS : SERVICE_WAITS_MS + lateMs,
        modelMs: services === null ? MIN_DELAY_MS : SERVICE_DELAYS.thinking,
        unmeasured: warmUpTurns,
      },
    ),
    broken_calls: broken.length,
    broken: broken.slice(0, MAX_SHOWN),
    gaps_over_40_ms: talked.reduce((sum, call) => sum + call.gaps.gaps, 0),
    longest_gap_ms: rounded(Math.max(...talked.map(call => call.gaps.longestMs)), 1),
    lines_in_two: counts.linesInTwo,
    lines_in_two_percent: rounded((100 * counts.linesInTwo) / said, 3),
    answers_too_many: counts.requests - said,
    answers_with_passages: counts.withPassages,
    misheard: counts.misheard.slice(0, MAX_SHOWN),
  }
}
