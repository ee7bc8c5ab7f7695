import { createSocket, type Socket } from 'node:dgram'
import { type Ms, SeededRandom } from '@parley/kernel'
import { attack, pause } from './attacker.ts'

export interface MediaSpray {
  /** The RTP port under attack; RTCP is one above. */
  readonly port: number
  /** Source addresses, with one socket each. */
  readonly from: readonly string[]
  readonly count: number
  readonly perSecond: number
  readonly seed: number
}

export interface MediaSprayResult {
  readonly sent: number
  /** Packets that were sent to the attacker. */
  readonly received: number
  readonly seconds: number
  /** Longest time that the attacker itself waited for the processor between two bursts: how busy the machine was with other things. */
  readonly longestWaitMs: Ms
}

const SRTP_BYTES = 182
/** Timers of 1 ms fire up to 3 ms after each other on a machine that is not busy. */
const MAX_BURST_MS: Ms = 3

/** Packets of an off-path attacker: plausible RTP, RTCP BYE and sender reports, and random bytes. */
function packets(seed: number): readonly { readonly bytes: Uint8Array; readonly rtcp: boolean }[] {
  const random = new SeededRandom(seed)
  return Array.from({ length: 999 }, (_, i) => {
    const kind = i % 3
    if (kind === 0) {
      const rtp = random.bytes(i % 2 === 0 ? 172 : SRTP_BYTES)
      rtp.set([0x80, 0])
      return { bytes: rtp, rtcp: false }
    }
    if (kind === 1) {
      // BYE or sender report of a random source.
      const rtcp = random.bytes(i % 2 === 0 ? 8 : 28)
      rtcp.set(i % 2 === 0 ? [0x81, 203, 0, 1] : [0x80, 200, 0, 6])
      return { bytes: rtcp, rtcp: true }
    }
    return { bytes: random.bytes((i * 37) % 400), rtcp: i % 2 === 0 }
  })
}

async function spray(job: MediaSpray): Promise<MediaSprayResult> {
  let received = 0
  const sockets: Socket[] = []
  for (const address of job.from) {
    const socket = createSocket('udp4')
    await new Promise<void>(resolve => socket.bind(0, address, resolve))
    socket.on('message', () => {
      received++
    })
    sockets.push(socket)
  }
  const all = packets(job.seed)
  const began = performance.now()
  let last = began
  let longestWaitMs = 0
  let sent = 0
  while (sent < job.count) {
    const now = performance.now()
    const waitedMs = now - last
    last = now
    longestWaitMs = Math.max(longestWaitMs, waitedMs)
    // An attacker that was late does not make up for it: for a moment its rate would be many times what it is meant to be.
    const burst = Math.ceil((Math.min(waitedMs, MAX_BURST_MS) / 1000) * job.perSecond)
    const end = Math.min(job.count, sent + burst)
    const sends: Promise<void>[] = []
    for (; sent < end; sent++) {
      const { bytes, rtcp } = all[sent % all.length]!
      const socket = sockets[sent % sockets.length]!
      const port = rtcp ? job.port + 1 : job.port
      sends.push(new Promise(resolve => socket.send(bytes, port, '127.0.0.1', () => resolve())))
    }
    await Promise.all(sends)
    await pause(1)
  }
  const seconds = Math.round(performance.now() - began) / 1000
  await pause(500)
  return { sent, received, seconds, longestWaitMs: Math.round(longestWaitMs) }
}

attack(spray)
