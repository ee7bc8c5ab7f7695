/**
 * `node media/src/io/media-thread-benchmark.ts [calls] [seconds]`: that many SRTP sessions on one media thread talk in pairs over
 * loopback. Prints one JSON object: CPU per call-tick (one packet sent and one received, SRTP both ways, all DSP),
 * lateness of sends against their own slots as the sender's clock saw it, the same of a bare thread of the same priority that only
 * sleeps to 2.5 ms deadlines beside it (what the machine itself is late), memory per call.
 */
import { Worker } from 'node:worker_threads'
import { systemRandom } from '@parley/kernel'
import type { MediaParameters, MediaSession } from '../session/media-session.ts'
import type { ThreadStatistics } from './thread-protocol.ts'
import { ThreadedMediaPlane } from './threaded-media-plane.ts'

const calls = Number(process.argv[2] ?? 50)
const seconds = Number(process.argv[3] ?? 10)
const WARM_UP_MS = 2000

const plane = await ThreadedMediaPlane.start({
  threads: 1,
  bindAddress: '127.0.0.1',
  ports: { from: 42_000, to: 42_000 + calls * 2 + 1 },
})
const memoryBefore = process.memoryUsage().rss
const sessions: MediaSession[] = []
for (let i = 0; i < calls; i++) sessions.push(await plane.open({ label: `call ${i}` }))
const key = () => ({ suite: 'AES_CM_128_HMAC_SHA1_80', keyAndSalt: systemRandom.bytes(30) }) as const
for (let i = 0; i + 1 < calls; i += 2) {
  const [a, b, ab, ba] = [sessions[i]!, sessions[i + 1]!, key(), key()]
  const common = { direction: 'sendrecv', codec: 'PCMU', payloadType: 0, ptimeMs: 20, dtmfPayloadType: 101 } as const
  const toA: MediaParameters = { ...common, remote: b.local, srtp: { send: ab, receive: ba } }
  const toB: MediaParameters = { ...common, remote: a.local, srtp: { send: ba, receive: ab } }
  a.apply(toA)
  b.apply(toB)
}
const tone = Int16Array.from({ length: 8000 }, (_, i) => 8000 * Math.sin((2 * Math.PI * 440 * i) / 8000))
const heard = new Int16Array(16_000)
const supply = setInterval(() => {
  for (const session of sessions) {
    if (session.queued() < 8000) session.play(tone)
    session.readHeard(heard)
  }
}, 500)
await sleep(WARM_UP_MS)
const missedBefore = await missedSlots()
const sleeper = startSleeper()
const before = await statistics()
const mainBefore = process.threadCpuUsage()
await sleep(seconds * 1000)
const after = await statistics()
const main = process.threadCpuUsage(mainBefore)
const bare = await sleeper.stop()
clearInterval(supply)
const memoryAfter = process.memoryUsage().rss
const missed = await missedSlots()
const ticks = after.sendLateness.count
console.log(
  JSON.stringify({
    packet_io: after.packetIoKind,
    calls,
    seconds,
    us_per_call_tick: round((1000 * (after.cpuMs - before.cpuMs)) / ticks),
    thread_cpu_share: round((after.cpuMs - before.cpuMs) / (seconds * 1000)),
    main_cpu_share: round((main.user + main.system) / (seconds * 1e6)),
    send_lateness_ms: {
      p50: round(after.sendLateness.p50Ms),
      p99: round(after.sendLateness.p99Ms),
      p999: round(after.sendLateness.p999Ms),
      max: round(after.sendLateness.maxMs),
    },
    bare_sleeper_lateness_ms: bare,
    sends_expected: (calls * seconds * 1000) / 20,
    sends: ticks,
    missed_slots: missed - missedBefore,
    bytes_per_call: Math.round((memoryAfter - memoryBefore) / calls),
    dropped: after.packetIo,
  }),
)
await plane.close()

function startSleeper(): { stop(): Promise<unknown> } {
  const stopped = new Int32Array(new SharedArrayBuffer(8))
  const source = `
    const { parentPort, workerData: cell } = require('node:worker_threads')
    try { require('node:os').setPriority(0, -14) } catch {}
    const late = []
    for (let at = performance.now() + 2.5; Atomics.load(cell, 1) === 0; at += 2.5) {
      const left = at - performance.now()
      if (left > 0) Atomics.wait(cell, 0, 0, left)
      late.push(performance.now() - at)
    }
    late.sort((a, b) => a - b)
    const q = p => Math.round(1000 * late[Math.min(late.length - 1, Math.floor(late.length * p))]) / 1000
    parentPort.postMessage({ p50: q(0.5), p99: q(0.99), p999: q(0.999), max: q(1) })`
  const worker = new Worker(source, { eval: true, workerData: stopped })
  const result = new Promise(resolve => worker.once('message', resolve))
  return {
    stop: () => {
      Atomics.store(stopped, 1, 1)
      return result
    },
  }
}

async function statistics(): Promise<ThreadStatistics> {
  return (await plane.threadStatistics())[0]!
}

async function missedSlots(): Promise<number> {
  const all = await Promise.all(sessions.map(session => session.statistics()))
  return all.reduce((sum, statistics) => sum + statistics.missedSlots, 0)
}

function sleep(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
