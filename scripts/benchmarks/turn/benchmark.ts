import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import { measureServiceOverhead } from './bare-clients.ts'
import { callerLines } from './callers.ts'
import { measureRow, type Row } from './row.ts'

/** Simultaneous calls, and turns measured in each. */
const ROWS = [
  { calls: 1, turns: 40 },
  { calls: 10, turns: 10 },
  { calls: 50, turns: 5 },
  { calls: 100, turns: 4 },
]
/** Turns before V8 has compiled the hot code. */
const WARM_UP_TURNS = 3
const QUIET_MS = 1000

/**
 * Measures what the engine adds to a turn: the time from the caller's last audible frame to the agent's first, both on the
 * network, minus the configured endpointing delay and the scripted delay of the model. With one call it is also measured with
 * preemptive generation, where the two delays overlap.
 *
 * `npm run bench -- turn [--calls 1,10,50,100] [--turns N]` (turns per call)
 * `[--planted 50]` (planted fault: the model takes this many ms longer than its script)
 * `[--services typical]` (recogniser, model and voice run in another process, with typical delays; what a bare client waits
 * beyond these delays is subtracted).
 */
export const benchmark: Benchmark = { name: 'turn', options: ['calls', 'turns', 'planted', 'services'], run }

async function run({ option, line, progress }: BenchmarkOptions): Promise<object> {
  const rows = rowsOf(option('calls'), option('turns'))
  const plantedMs = Number(option('planted') ?? 0)
  if (!(plantedMs >= 0 && plantedMs <= 5000)) throw new Error('--planted takes milliseconds, 0 to 5000')
  const services = option('services')
  if (services !== undefined && services !== 'typical') throw new Error('--services takes "typical"')
  const lines = await callerLines(services === undefined)
  if (services !== undefined) progress('measuring the overhead of the services with a bare client')
  const overhead = services === undefined ? null : await measureServiceOverhead()
  const measured = async (calls: number, turns: number, asksAhead: boolean) => {
    progress(`${calls} calls, ${turns} turns each${asksAhead ? ', with preemptive generation' : ''}`)
    const fixed = {
      warmUpTurns: WARM_UP_TURNS,
      quietMs: QUIET_MS,
      lines,
      plantedMs,
      services: overhead,
    }
    const row = await measureRow({ ...fixed, calls, turns, asksAhead })
    line({ bench: 'turn', ...row })
    return row
  }
  let single: Row | null = null
  for (const { calls, turns } of rows) {
    const row = await measured(calls, turns, false)
    if (calls !== 1) continue
    single = row
    await measured(calls, turns, true)
  }
  return {
    bench: 'turn',
    overhead_p50_ms: single?.overhead_p50_ms ?? null,
    overhead_p95_ms: single?.overhead_p95_ms ?? null,
    e2e_p50_ms: single?.e2e_p50_ms ?? null,
    e2e_p95_ms: single?.e2e_p95_ms ?? null,
  }
}

function rowsOf(calls: string | undefined, turns: string | undefined): { calls: number; turns: number }[] {
  const counts = calls?.split(',').map(Number) ?? ROWS.map(row => row.calls)
  if (!counts.every(count => Number.isInteger(count) && count >= 1 && count <= 500))
    throw new Error('--calls takes whole numbers from 1 to 500, separated by commas')
  const perCall = turns === undefined ? null : Number(turns)
  if (perCall !== null && !(Number.isInteger(perCall) && perCall >= 1 && perCall <= 1000))
    throw new Error('--turns takes a whole number from 1 to 1000')
  return counts.map(count => {
    const fitting = ROWS.findLast(row => row.calls <= count) ?? ROWS[0]!
    return { calls: count, turns: perCall ?? fitting.turns }
  })
}
