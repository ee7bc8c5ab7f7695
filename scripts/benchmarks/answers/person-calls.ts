import type { BenchmarkOptions } from '../benchmark.ts'
import { quantile } from '../quantile.ts'
import { PERSON_TURNS, type PersonCall, personCall } from './person-call.ts'

/** Calls before the measurement, until the code is compiled. */
const WARM_UP = 12
/** Turns of the calls that are compared: a short one, most of which detection listens to, and one of about a minute. */
const TURNS = [2, PERSON_TURNS] as const
/** CPU of an agent's call in a process with a hundred of them, ms per second: the cheapest call that `bench -- turn` has measured. */
const CHEAPEST_CALL_MS_PER_SECOND = 7

interface Pair {
  readonly off: PersonCall
  readonly on: PersonCall
}

/** Calls with a person in pairs, without and with detection: their recordings, and the CPU that detection adds. */
export async function comparePersonCalls(pairs: number, { line, progress }: BenchmarkOptions): Promise<object> {
  const rows = []
  for (const turns of TURNS) {
    for (let i = 0; i < WARM_UP; i++) await personCall(i % 2 === 0, turns)
    const measured: Pair[] = []
    for (let i = 0; i < pairs; i++) {
      measured.push(await pairOf(turns, i % 2 === 0))
      if ((i + 1) % 20 === 0) progress(`${turns} turns: ${i + 1} of ${pairs} pairs`)
    }
    const row = rowOf(turns, measured)
    line(row)
    rows.push(row)
  }
  const longest = rows.at(-1)!
  return {
    bench: 'answers',
    pairs,
    recordings_equal: rows.every(row => row.recordings_equal === pairs),
    added_cpu_share: longest.added_share_of_cheapest_call,
  }
}

async function pairOf(turns: number, isOffFirst: boolean): Promise<Pair> {
  if (isOffFirst) {
    const off = await personCall(false, turns)
    return { off, on: await personCall(true, turns) }
  }
  const on = await personCall(true, turns)
  return { off: await personCall(false, turns), on }
}

function rowOf(turns: number, pairs: readonly Pair[]) {
  const [first] = pairs
  const seconds = first!.on.callMs / 1000
  const added = pairs.map(({ on, off }) => on.cpuMs - off.cpuMs)
  const off = quantile(
    pairs.map(pair => pair.off.cpuMs),
    0.5,
  )
  const median = quantile(added, 0.5)
  const [low, high] = intervalOfMedian(added)
  const round = (value: number) => Number(value.toFixed(3))
  return {
    table: 'person',
    turns,
    call_seconds: round(seconds),
    found: first!.on.classes,
    recordings_equal: pairs.filter(isEqual).length,
    cpu_ms_without: round(off),
    added_cpu_ms: round(median),
    added_cpu_ms_low: round(low),
    added_cpu_ms_high: round(high),
    added_share_of_this_call: round(median / off),
    added_share_of_cheapest_call: round(median / (CHEAPEST_CALL_MS_PER_SECOND * seconds)),
  }
}

function isEqual({ on, off }: Pair): boolean {
  return same(on.received, off.received) && same(on.sent, off.sent)
}

function same(a: Int16Array, b: Int16Array): boolean {
  return a.length === b.length && a.every((sample, i) => sample === b[i])
}

/** Order statistics between which the median lies with 95 %. */
function intervalOfMedian(values: readonly number[]): readonly [number, number] {
  const sorted = values.toSorted((a, b) => a - b)
  const reach = 0.98 * Math.sqrt(sorted.length)
  const at = (index: number) => sorted[Math.max(0, Math.min(sorted.length - 1, Math.round(index)))]!
  return [at((sorted.length - 1) / 2 - reach), at((sorted.length - 1) / 2 + reach)]
}
