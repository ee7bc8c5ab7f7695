import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { systemRandom } from '@parley/kernel'
import { pcmuCall } from '@parley/media/testing'
import { ChildLink } from '../child-link.ts'
import type {
  CallKeys,
  PeerMeasures,
  PeerReply,
  PeerRequest,
  Quantiles,
  SubjectMeasures,
  SubjectReply,
  SubjectRequest,
} from './messages.ts'

interface PointOptions {
  readonly calls: number
  readonly packetIo: 'native' | 'portable'
  readonly warmUpMs: number
  readonly measureMs: number
  /** Whether voice activity and the recording of both channels are on. */
  readonly everything: boolean
  /** Whether the measured process has one core, and the other end the next one; otherwise both use any. */
  readonly pinned?: boolean
  /** A planted fault, which the figures must show. */
  readonly stalls: { readonly ms: number; readonly everySends: number } | null
}

export interface PointFigures {
  readonly packet_io: 'native' | 'portable'
  readonly calls: number
  readonly everything: boolean
  readonly seconds: number
  readonly lateness_ms: Quantiles
  /** Of a bare thread that only sleeps, in the same seconds. */
  readonly bare_sleeper_ms: Quantiles
  readonly packets: number
  readonly missing: number
  /** Packets that the sender dropped for good: slots that it missed, and packets that the system refused. */
  readonly never_sent: number
  /** Packets that the receiver's sockets had no room for, since the start. */
  readonly dropped_by_receiver: number
  /** Packets that the subject received, and that its sockets had no room for. */
  readonly received: number
  readonly receive_dropped: number
  /** Share of a core that the other end took. */
  readonly peer_cpu_share: number
  /** CPU of the media thread per call and 20 ms: one packet each way. */
  readonly us_per_tick: number
  readonly main_us_per_tick: number
  /** Of all threads of the process. */
  readonly process_us_per_tick: number
  readonly media_thread_utilization: number
  /** Growth of the process's resident memory since before the calls were opened, without garbage, bytes. */
  readonly grown_bytes: number
}

/** Measures one number of calls over one packet I/O layer, in two processes. Throws if either end refused packets. */
export async function measurePoint(options: PointOptions): Promise<PointFigures> {
  const { calls, packetIo, stalls, warmUpMs, measureMs, everything, pinned = false } = options
  const recordings = everything ? mkdtempSync(join(tmpdir(), 'parley-media-')) : null
  const collector = pathToFileURL(join(import.meta.dirname, '../collect-garbage.ts')).href
  const subject = new ChildLink<SubjectRequest, SubjectReply>(join(import.meta.dirname, 'subject.ts'), {
    nodeOptions: ['--expose-gc', '--import', collector],
    ...(pinned && { core: 0 }),
  })
  const peer = new ChildLink<PeerRequest, PeerReply>(join(import.meta.dirname, 'peer.ts'), pinned ? { core: 1 } : {})
  try {
    const keys = Array.from({ length: calls }, (): CallKeys => ({ toSubject: newKey(), toPeer: newKey() }))
    const opened = await subject.ask({ type: 'open', calls, packetIo, stalls, recordings }, 'opened')
    const seconds = (warmUpMs + measureMs) / 1000
    const bound = await peer.ask({ type: 'bind', subjectPorts: opened.ports, keys, seconds }, 'bound')
    await subject.ask(
      {
        type: 'connect',
        parameters: bound.ports.map((port, i) =>
          pcmuCall(port, { send: keys[i]!.toPeer, receive: keys[i]!.toSubject }),
        ),
      },
      'connected',
    )
    const done = peer.ask({ type: 'run', warmUpMs, measureMs }, 'done')
    await Promise.race([peer.next('measuring'), done])
    const sleeper = startSleeper(packetIo)
    const before = (await subject.ask({ type: 'measure', at: 'begin' }, 'measured')).measured
    const { heard: received } = await done
    const after = (await subject.ask({ type: 'measure', at: 'end' }, 'measured')).measured
    const bare = await sleeper.stop()
    check(received, after)
    const grownBytes = (await subject.ask({ type: 'weigh' }, 'weighed')).rss - opened.rssBefore
    return figures(options, received, before, after, bare, grownBytes)
  } finally {
    await Promise.all([subject.end(), peer.end()])
    if (recordings !== null) rmSync(recordings, { recursive: true, force: true })
  }
}

function figures(
  { calls, packetIo, measureMs, everything }: PointOptions,
  received: PeerMeasures,
  before: SubjectMeasures,
  after: SubjectMeasures,
  bare: Quantiles,
  grownBytes: number,
): PointFigures {
  const ticks = after.thread.sendLateness.count
  const grown = (counter: keyof SubjectMeasures['thread']['packetIo']) =>
    after.thread.packetIo[counter] - before.thread.packetIo[counter]
  const perTick = (ms: number) => Math.round((ms * 100_000) / ticks) / 100
  return {
    packet_io: packetIo,
    calls,
    everything,
    seconds: measureMs / 1000,
    lateness_ms: received.latenessMs,
    bare_sleeper_ms: bare,
    packets: received.packets,
    missing: received.missing,
    never_sent: after.missedSlots - before.missedSlots + grown('sendDropped'),
    dropped_by_receiver: received.receiveDropped,
    received: grown('received'),
    receive_dropped: grown('receiveDropped'),
    peer_cpu_share: Math.round(received.cpuShare * 1000) / 1000,
    us_per_tick: perTick(after.thread.cpuMs - before.thread.cpuMs),
    main_us_per_tick: perTick(after.mainCpuMs - before.mainCpuMs),
    process_us_per_tick: perTick(after.processCpuMs - before.processCpuMs),
    media_thread_utilization: Math.round(after.thread.eventLoopUtilization * 1000) / 1000,
    grown_bytes: grownBytes,
  }
}

/** Throws if packets were refused, because the figures would then be invalid. */
function check(received: PeerMeasures, after: SubjectMeasures): void {
  const { unauthenticated, replayed, foreign, malformed } = after.rejected
  const refused = unauthenticated + replayed + foreign + malformed
  if (received.packets === 0) throw new Error('not one packet arrived')
  if (received.unauthentic > 0) throw new Error(`${received.unauthentic} packets of the subject were not authentic`)
  if (refused > 0) throw new Error(`the subject refused ${refused} packets: ${JSON.stringify(after.rejected)}`)
}

function newKey(): CallKeys['toPeer'] {
  return { suite: 'AES_CM_128_HMAC_SHA1_80', keyAndSalt: systemRandom.bytes(30) }
}

function startSleeper(packetIo: PointOptions['packetIo']): { stop(): Promise<Quantiles> } {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(join(import.meta.dirname, 'bare-sleeper.ts'), { workerData: { stop: cell, packetIo } })
  return {
    async stop() {
      Atomics.store(cell, 0, 1)
      return ((await once(worker, 'message')) as [Quantiles])[0]
    },
  }
}
