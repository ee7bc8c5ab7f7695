// The process that is measured: one media plane with one media thread, as an engine has it.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { BroadcastChannel } from 'node:worker_threads'
import { randomBelow, systemRandom } from '@parley/kernel'
import { type MediaSession, ThreadedMediaPlane } from '@parley/media'
import { collectThread } from '../collect-garbage.ts'
import type { SubjectReply, SubjectRequest } from './messages.ts'

/** Two benchmarks may run at once: each begins somewhere in this range, and skips ports that are taken. */
const FIRST_PORTS = { from: 20_000, to: 27_000 } as const
const SPARE_PORTS = 400
const SUPPLY_EVERY_MS = 250
/** Time for every thread to collect its garbage. */
const COLLECTION_MS = 250
const collections = new BroadcastChannel('collect-garbage')
collections.unref()

let plane: ThreadedMediaPlane | null = null
const sessions: MediaSession[] = []

const tone = Int16Array.from({ length: 4000 }, (_, i) => 8000 * Math.sin((2 * Math.PI * 440 * i) / 8000))
const audio = new Int16Array(8000)

/** The work of the calls' owner: fills the playout rings and reads the received audio. */
function supply(): void {
  for (const session of sessions) {
    if (session.queued() < 4000) session.play(tone)
    session.readHeard(audio)
  }
}

/** Resident memory of the process after every thread has collected its garbage twice, and returned what it left, bytes. */
async function memoryWithoutGarbage(): Promise<number> {
  for (let i = 0; i < 2; i++) {
    collections.postMessage('collect')
    collectThread()
    await sleep(COLLECTION_MS)
  }
  return process.memoryUsage().rss
}

const statisticsOfCalls = () => Promise.all(sessions.map(session => session.statistics()))

async function answer(request: SubjectRequest): Promise<SubjectReply> {
  if (request.type === 'open') {
    const { calls, packetIo, stalls, recordings } = request
    const { from, to } = FIRST_PORTS
    const firstPort = from + 2 * randomBelow(systemRandom, (to - from) / 2)
    plane = await ThreadedMediaPlane.start({
      threads: 1,
      bindAddress: '127.0.0.1',
      ports: { from: firstPort, to: firstPort + calls * 2 + SPARE_PORTS - 1 },
      packetIo,
      ...(stalls && { stalls }),
    })
    const rssBefore = await memoryWithoutGarbage()
    for (let i = 0; i < calls; i++) {
      const recording = recordings === null ? {} : { recording: { path: join(recordings, `${i}.wav`) } }
      const session = await plane.open({ label: `call ${i}`, ...recording })
      if (recordings !== null) session.detectVoice({})
      sessions.push(session)
    }
    setInterval(supply, SUPPLY_EVERY_MS)
    return { type: 'opened', ports: sessions.map(session => session.local.port), rssBefore }
  }
  if (request.type === 'connect') {
    for (const [i, parameters] of request.parameters.entries()) sessions[i]!.apply(parameters)
    return { type: 'connected' }
  }
  if (request.type === 'weigh') return { type: 'weighed', rss: await memoryWithoutGarbage() }
  const early = request.at === 'begin' ? await statisticsOfCalls() : null
  const [thread] = await plane!.threadStatistics()
  // At once, so that all times are of the same moment.
  const cpu = process.threadCpuUsage()
  const whole = process.cpuUsage()
  const statistics = early ?? (await statisticsOfCalls())
  const sum = (of: (one: (typeof statistics)[number]) => number) =>
    statistics.reduce((total, one) => total + of(one), 0)
  return {
    type: 'measured',
    measured: {
      thread: thread!,
      processCpuMs: (whole.user + whole.system) / 1000,
      mainCpuMs: (cpu.user + cpu.system) / 1000,
      missedSlots: sum(one => one.missedSlots),
      rejected: {
        unauthenticated: sum(one => one.rejected.unauthenticated),
        replayed: sum(one => one.rejected.replayed),
        foreign: sum(one => one.rejected.foreign),
        malformed: sum(one => one.rejected.malformed),
      },
    },
  }
}

process.on('message', (request: SubjectRequest) => {
  void answer(request).then(reply => process.send!(reply))
})
process.on('disconnect', () => process.exit())
