import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ms } from '@parley/kernel'
import type { Lateness } from './bare-clients.ts'
import { measureCalls } from './callers.ts'
import { EngineLink } from './engine-link.ts'
import { engineFigures, type TurnFigures, turnFigures } from './figures.ts'
import { LEAST_DELAY_MS, SERVICE_DELAYS } from './script.ts'
import { startServices } from './services-link.ts'

/** Endpointing delay of the engine: silence after which the caller's turn ends. */
const ENDPOINTING_MS: Ms = 300

/** What a turn waits by script, the model aside. */
const WAITS_MS = ENDPOINTING_MS
const SERVICE_WAITS_MS = ENDPOINTING_MS + SERVICE_DELAYS.hearing + SERVICE_DELAYS.speaking

const TOLD = 10

interface RowOptions {
  readonly calls: number
  /** Of each call, measured. */
  readonly turns: number
  /** Of each call, before those. */
  readonly warmUpTurns: number
  readonly quietMs: Ms
  readonly lines: readonly Int16Array[]
  /** Preemptive generation: the model may be asked before the end of turn is certain. Waits then overlap, and overhead may be negative. */
  readonly asksAhead: boolean
  /** Planted fault: delay of the model beyond its script, ms. */
  readonly plantedMs: Ms
  /** SpeechInput, voice and model are services in another process, over real sockets; null: they are the engine's own. */
  readonly services: Lateness | null
}

export interface Row extends TurnFigures {
  readonly calls: number
  readonly asks_ahead: boolean
  readonly services: boolean
  /** Of what was waited for model and voice, what a bare client waits beyond the script: taken off. */
  readonly services_late_ms: Ms
  readonly packet_io: 'native' | 'portable'
  readonly engine_event_loop_utilization: number
  readonly engine_cpu_ms_per_call_second: number
  /** Near 1 the callers are late themselves, and the figures are theirs. */
  readonly callers_event_loop_utilization: number
  /** Calls that did not get to their last turn; what they measured before counts. */
  readonly broken_calls: number
  readonly broken: readonly string[]
  /** Requests to the model minus turns, discarded preemptive requests included; negative when there were fewer. */
  readonly answers_too_many: number
  /** What of the turns was not understood word by word, the first of it. */
  readonly misheard: readonly string[]
}

/** So many calls at once with an engine in a process of its own. Throws when not one of them gets through. */
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
            modelMs: services === null ? LEAST_DELAY_MS : SERVICE_DELAYS.thinking,
            unmeasured: warmUpTurns,
          },
        ),
        engine_event_loop_utilization: eventLoop,
        engine_cpu_ms_per_call_second: cpuPerCallSecond,
        callers_event_loop_utilization: Math.round(callers.utilization * 1000) / 1000,
        broken_calls: broken.length,
        broken: broken.slice(0, TOLD),
        answers_too_many: after.requests - calls * (warmUpTurns + turns),
        misheard: after.misheard.slice(0, TOLD),
      }
    } finally {
      await engine.end()
    }
  } finally {
    await services?.end()
    await rm(home, { recursive: true, force: true })
  }
}
