import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import { measureServiceOverhead } from './bare-clients.ts'
import { callerLines } from './callers.ts'
import { PLANTED_FAULTS, type PlantedFault } from './faults.ts'
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
const MAX_CALLS = 1000
const MAX_SECONDS = 3600

/**
 * Measures what the engine adds to a turn: the time from the caller's last audible frame to the agent's first, both on the
 * network, minus the configured endpointing delay and the scripted delay of the model. With one call it is also measured with
 * preemptive generation, where the two delays overlap.
 *
 * `npm run bench -- turn [--calls 1,10,50,100] [--turns N]` (turns per call)
 * `[--planted 50]` (planted fault: the model takes this many ms longer than its script)
 * `[--services typical]` (recogniser, model and voice run in another process, with typical delays; what a bare client waits
 * beyond these delays is subtracted)
 * `[--seconds N]` (instead of turns: how long all calls live at once)
 * `[--security srtp]` (calls over TLS with SRTP instead of UDP and RTP) `[--recording on]` (both channels of each call)
 * `[--faults hole,stall,pause,busy]` (other planted faults).
 */
export const benchmark: Benchmark = {
  name: 'turn',
  options: ['calls', 'turns', 'seconds', 'planted', 'services', 'security', 'recording', 'faults'],
  run,
}

async function run({ option, line, progress }: BenchmarkOptions): Promise<object> {
  const rows = rowsOf(option('calls'), option('turns'))
  const plantedMs = Number(option('planted') ?? 0)
  if (!(plantedMs >= 0 && plantedMs <= 5000)) throw new Error('--planted takes milliseconds, 0 to 5000')
  const services = oneOf(option, 'services', ['typical'])
  const secure = oneOf(option, 'security', ['rtp', 'srtp']) === 'srtp'
  const recorded = oneOf(option, 'recording', ['off', 'on']) === 'on'
  const faults = faultsOf(option('faults'))
  const seconds = option('seconds') === undefined ? null : wholeNumber(option('seconds')!, '--seconds', MAX_SECONDS)
  const lines = await callerLines(services === undefined)
  if (services !== undefined) progress('measuring the overhead of the services with a bare client')
  const overhead = services === undefined ? null : await measureServiceOverhead()
  const measured = async (calls: number, turns: number, asksAhead: boolean) => {
    const length = seconds === null ? `${turns} turns each` : `${seconds} s together`
    progress(`${calls} calls, ${length}${asksAhead ? ', with preemptive generation' : ''}`)
    const fixed = {
      warmUpTurns: WARM_UP_TURNS,
      quietMs: QUIET_MS,
      lines,
      plantedMs,
      services: overhead,
      secure,
      recorded,
      faults,
      seconds,
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
  const counts = calls?.split(',').map(count => wholeNumber(count, '--calls', MAX_CALLS)) ?? ROWS.map(row => row.calls)
  const perCall = turns === undefined ? null : wholeNumber(turns, '--turns', 1000)
  return counts.map(count => {
    const fitting = ROWS.findLast(row => row.calls <= count) ?? ROWS[0]!
    return { calls: count, turns: perCall ?? fitting.turns }
  })
}

function faultsOf(names = ''): readonly PlantedFault[] {
  const wanted = names.split(',').filter(name => name !== '')
  const unknown = wanted.find(name => !PLANTED_FAULTS.some(fault => fault === name))
  if (unknown !== undefined) throw new Error(`--faults takes ${PLANTED_FAULTS.join(', ')}, not "${unknown}"`)
  return PLANTED_FAULTS.filter(fault => wanted.includes(fault))
}

/** Throws when the value of the option `name` is not a whole number from 1 to `most`. */
function wholeNumber(text: string, name: string, most: number): number {
  const value = Number(text)
  if (!(Number.isInteger(value) && value >= 1 && value <= most))
    throw new Error(`${name} takes whole numbers from 1 to ${most}, not "${text}"`)
  return value
}

/** The value of an option that takes one of these words; undefined: it was not given. */
function oneOf<Word extends string>(
  option: BenchmarkOptions['option'],
  name: string,
  words: readonly Word[],
): Word | undefined {
  const value = option(name)
  const word = words.find(one => one === value)
  if (value !== undefined && word === undefined)
    throw new Error(`--${name} takes ${words.join(' or ')}, not "${value}"`)
  return word
}
