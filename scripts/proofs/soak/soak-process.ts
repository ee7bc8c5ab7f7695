// Runs with every thread's garbage collector at hand: `node soak-process.ts OPTIONS`, JSON. Prints JSON lines, the last one the outcome.
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { BroadcastChannel } from 'node:worker_threads'
import type { Ms } from '@parley/kernel'
import { collectThread } from '../../benchmarks/collect-garbage.ts'
import { Line, type Resources } from '../leaks/line.ts'
import type { SoakOptions } from '../soak.ts'

const MINUTE_MS: Ms = 60_000
/** A call talks for this long. */
const TALK_MS: Ms = 1000
/** Compiled code, connections, pools and what the C library keeps stay: the baseline is taken after calls of this time, when garbage is at its height. */
const WARM_UP_MS: Ms = 120_000
const SHORT_WARM_UP_MS: Ms = 2000
/** Ports rest after a call, and transactions last 64*T1. */
const SETTLE_MS: Ms = 40_000
/** Enough for ports and sockets; not for the timers of transactions, and what these hold. */
const SHORT_SETTLE_MS: Ms = 4000
const MAX_HEAP_GROWTH_BYTES = 8 << 20
/** Garbage of other threads, which this one cannot collect, and what the C library keeps. */
const MAX_RESIDENT_GROWTH_BYTES = 48 << 20
/** Mappings that V8 and the C library have more, or fewer, at times: a call has four. */
const MAX_MAPPINGS_GROWTH = 64
/** Timers of things that rest. */
const MAX_TIMERS_GROWTH = 8
/** Time for every thread to collect its garbage. */
const COLLECTION_MS: Ms = 500
const collections = new BroadcastChannel('collect-garbage')
collections.unref()

const print = (record: object) => process.stdout.write(`${JSON.stringify(record)}\n`)

async function soak({ seed, perSecond, seconds, planted }: SoakOptions): Promise<object> {
  const isShort = seconds * 1000 < MINUTE_MS
  const line = await Line.open(seed)
  const leaked: unknown[] = []
  const plants = new Set(planted)
  const settle = async () => {
    await sleep(isShort ? SHORT_SETTLE_MS : SETTLE_MS)
    await collectEverywhere()
    return await line.resources()
  }
  let handle: FileHandle | null = null
  try {
    await callsFor(line, isShort ? SHORT_WARM_UP_MS : WARM_UP_MS, perSecond, () => {})
    const before = await settle()
    print({ before })
    const cpu = process.cpuUsage()
    let reportedAt = performance.now()
    const { made, failed } = await callsFor(line, seconds * 1000, perSecond, soFar => {
      if (plants.has('memory')) leaked.push(Array.from({ length: 50_000 }, Math.random))
      if (performance.now() - reportedAt < MINUTE_MS) return
      reportedAt = performance.now()
      const { rss, heapUsed } = process.memoryUsage()
      print({ calls: soFar, live: line.engine.calls.size, resident_bytes: rss, heap_bytes: heapUsed })
    })
    const { user, system } = process.cpuUsage(cpu)
    if (plants.has('a handle')) handle = await open(import.meta.filename)
    if (plants.has('a port')) await line.engine.endpoint.media.open({ label: 'leaked' })
    if (plants.has('a place')) line.engine.capacity.reserve()
    const after = await settle()
    const kept = whatIsKept(before, after, isShort)
    const cores = Math.round((user + system) / seconds / 1e4) / 100
    return { ok: failed === 0 && kept.length === 0, summary: { calls: made, failed, kept, cores, before, after } }
  } finally {
    await handle?.close()
    await line.close()
  }
}

/** Every thread collects its garbage, and gives back what it left. */
async function collectEverywhere(): Promise<void> {
  for (let i = 0; i < 2; i++) {
    collections.postMessage('collect')
    collectThread()
    await sleep(COLLECTION_MS)
  }
}

/** Begins calls at this rate and waits for their ends. */
async function callsFor(line: Line, ms: Ms, perSecond: number, onCall: (made: number) => void) {
  const begun = performance.now()
  const live: Promise<void>[] = []
  let made = 0
  let failed = 0
  const one = async (number: number) => {
    const isEnded = await line.call(number, TALK_MS).catch(() => false)
    if (!isEnded) failed++
  }
  for (; performance.now() - begun < ms; made++) {
    const dueIn = begun + (1000 * made) / perSecond - performance.now()
    if (dueIn > 0) await sleep(dueIn)
    const call = one(made).then(() => void live.splice(live.indexOf(call), 1))
    live.push(call)
    onCall(made + 1)
  }
  await Promise.all(live)
  return { made, failed }
}

/** What the process holds more than before, in words; empty: nothing. */
function whatIsKept(before: Resources, after: Resources, isShort: boolean): string[] {
  const grown = (name: Exclude<keyof Resources, 'media'>, most: number) =>
    after[name] - before[name] > most ? [`${name}: ${after[name]}, before ${before[name]}`] : []
  return [
    ...grown('heapBytes', MAX_HEAP_GROWTH_BYTES),
    ...grown('residentBytes', MAX_RESIDENT_GROWTH_BYTES),
    ...grown('mappings', isShort ? Number.POSITIVE_INFINITY : MAX_MAPPINGS_GROWTH),
    ...grown('timers', isShort ? Number.POSITIVE_INFINITY : MAX_TIMERS_GROWTH),
    ...grown('handles', 0),
    ...grown('descriptors', 0),
    ...grown('sessions', 0),
    ...grown('calls', 0),
    ...grown('places', 0),
    ...(after.media === before.media ? [] : [`${after.media}, before ${before.media}`]),
  ]
}

print(await soak(JSON.parse(process.argv[2]!) as SoakOptions))
process.exit()
