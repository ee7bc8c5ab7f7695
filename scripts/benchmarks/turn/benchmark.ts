import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import { bareLateness } from './bare-clients.ts'
import { callerLines } from './callers.ts'
import { measureRow, type Row } from './row.ts'

/** Calls at once, and turns measured in each: some hundred answers where there are many calls. */
const ROWS = [
  { calls: 1, turns: 40 },
  { calls: 10, turns: 10 },
  { calls: 50, turns: 5 },
  { calls: 100, turns: 4 },
]
/** V8 has not compiled what is hot before. */
const WARM_UP_TURNS = 3
const QUIET_MS = 1000

/**
 * What the engine adds to a turn: from the caller's last audible frame to the agent's first, both read off the wire, less the
 * wait for the caller to go on and the model's scripted delay, one after the other; at one call also with the model asked
 * ahead, where they overlap. `npm run bench -- turn [--calls 1,10,50,100] [--turns N]`
 * (N in each call) `[--planted 50]` (ms that the model takes longer than its script says: a fault that must show)
 * `[--services typical]` (speechInput, model and voice are services in another process, with the delays of typical ones; what a
 * bare client of model and voice waits beyond those on this machine is theirs).
 */
export const benchmark: Benchmark = { name: 'turn', options: ['calls', 'turns', 'planted', 'services'], run }

async function run({ option, line, progress }: BenchmarkOptions): Promise<object> {
  const rows = rowsOf(option('calls'), option('turns'))
  const plantedMs = Number(option('planted') ?? 0)
  if (!(plantedMs >= 0 && plantedMs <= 5000)) throw new Error('--planted takes 0 to 5000')
  const services = option('services')
  if (services !== undefined && services !== 'typical') throw new Error('--services takes "typical"')
  const lines = await callerLines(services === undefined)
  if (services !== undefined) progress('how late the services are for a bare client')
  const late = services === undefined ? null : await bareLateness()
  const measured = async (calls: number, turns: number, asksAhead: boolean) => {
    progress(`${calls} calls, ${turns} turns each${asksAhead ? ', the model asked ahead' : ''}`)
    const fixed = {
      warmUpTurns: WARM_UP_TURNS,
      quietMs: QUIET_MS,
      lines,
      plantedMs,
      services: late,
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
    throw new Error('--calls takes numbers from 1 to 500')
  const each = turns === undefined ? null : Number(turns)
  if (each !== null && !(Number.isInteger(each) && each >= 1 && each <= 1000))
    throw new Error('--turns takes 1 to 1000')
  return counts.map(count => {
    const fitting = ROWS.findLast(row => row.calls <= count) ?? ROWS[0]!
    return { calls: count, turns: each ?? fitting.turns }
  })
}
