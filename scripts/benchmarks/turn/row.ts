import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ms } from '@parley/kernel'
import type { ServiceOverhead } from './bare-clients.ts'
import { measureCalls } from './callers.ts'
import { EngineLink } from './engine-link.ts'
import { engineFigures, type TurnFigures, turnFigures } from './figures.ts'
import type { SearchedDocuments } from './messages.ts'
import { MIN_DELAY_MS, SERVICE_DELAYS } from './script.ts'
import { startServices } from './services-link.ts'

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
  /** Turns of each call before the measured ones. */
  readonly warmUpTurns: number
  readonly quietMs: Ms
  readonly lines: readonly Int16Array[]
  /** Preemptive generation: the model may be asked before the end of turn is certain. Waits then overlap, and overhead may be negative. */
  readonly asksAhead: boolean
  /** Planted fault: delay of the model beyond its script, ms. */
  readonly plantedMs: Ms
  /** Overhead of services in another process; null: recogniser, voice and model run in the engine's process. */
  readonly services: ServiceOverhead | null
  /** Documents that the agent searches; default none. */
  readonly documents?: SearchedDocuments
}

export interface Row extends TurnFigures {
  readonly calls: number
  readonly asks_ahead: boolean
  readonly services: boolean
  /** Wait of a bare client for model and voice beyond their script, ms; it is subtracted. */
  readonly services_late_ms: Ms
  readonly packet_io: 'native' | 'portable'
  readonly engine_event_loop_utilization: number
  readonly engine_cpu_ms_per_call_second: number
  /** Near 1 the callers themselves are late, and the figures are not about the engine. */
  readonly callers_event_loop_utilization: number
  /** Calls that ended before their last turn; their earlier turns count. */
  readonly broken_calls: number
  readonly broken: readonly string[]
  /** Requests to the model minus turns, discarded preemptive requests included; negative when there were fewer. */
  readonly answers_too_many: number
  /** Requests to the model with passages of documents. */
  readonly answers_with_passages: number
  /** The first turns whose words were not recognised exactly. */
  readonly misheard: readonly string[]
}

/** Measures one number of simultaneous calls with an engine in a process of its own. Throws if all calls fail. */
export async function measureRow(options: RowOptions): Promise<Row> {
  const { calls, turns, warmUpTurns, quietMs, lines, asksAhead, plantedMs } = options
  const lateMs = options.services === null ? 0 : options.services.modelMs + options.services.voiceMs
  const home = await mkdtemp(join(tmpdir(), 'parley-turn.'))
  const services = options.services === null ? null : await startServices(plantedMs)
  try {
    const { engine, uri, packetIo } = await EngineLink.start({
      home,
      endpointingMs: ENDPOINTING_MS,
      asksAhead,
      plantedMs,
      services: services?.environment ?? null,
      documents: options.documents ?? null,
    })
    try {
      const before = await engine.measure()
      const loop = performance.eventLoopUtilization()
      const measured = await measureCalls({ target: uri, calls, turns: warmUpTurns + turns, quietMs, lines })
      const callers = performance.eventLoopUtilization(loop)
      const after = await engine.measure()
      const broken = measured.flatMap(call => call.broken ?? [])
      if (broken.length === calls) throw new Error(broken[0])
      const { eventLoop, cpuPerCallSecond } = engineFigures(calls, before, after)
      return {
        calls,
        asks_ahead: asksAhead,
        services: services !== null,
        services_late_ms: Math.round(lateMs * 10) / 10,
        packet_io: packetIo,
        ...turnFigures(
          measured.map(call => call.turns),
          {
            waitsMs: services === null ? WAITS_MS : SERVICE_WAITS_MS + lateMs,
            modelMs: services === null ? MIN_DELAY_MS : SERVICE_DELAYS.thinking,
            unmeasured: warmUpTurns,
          },
        ),
        engine_event_loop_utilization: eventLoop,
        engine_cpu_ms_per_call_second: cpuPerCallSecond,
        callers_event_loop_utilization: Math.round(callers.utilization * 1000) / 1000,
        broken_calls: broken.length,
        broken: broken.slice(0, MAX_SHOWN),
        answers_too_many: after.requests - calls * (warmUpTurns + turns),
        answers_with_passages: after.withPassages,
        misheard: after.misheard.slice(0, MAX_SHOWN),
      }
    } finally {
      await engine.end()
    }
  } finally {
    await services?.end()
    await rm(home, { recursive: true, force: true })
  }
}
