import { type Random, randomUint32, SeededRandom } from '@parley/kernel'
import { writeReceiverReport } from '../src/rtp/rtcp.ts'
import { writeRtpHeader } from '../src/rtp/rtp-packet.ts'
import type { SrtpSuite } from '../src/session/media-session.ts'
import { SrtpReceiver } from '../src/srtp/srtp-receiver.ts'
import { SrtpSender } from '../src/srtp/srtp-sender.ts'
import { keyAndSaltBytes } from '../src/srtp/srtp-suite.ts'

const RTP_BYTES = 172
const RTCP_BYTES = 8
const MAX_OVERHEAD = 20
const FORGERIES_PER_PACKET = 20
const SSRC = 0x5eed5eed

/** The receiver that is attacked: `SrtpReceiver`, or a faulty one to prove that the harness detects faults. */
interface Unprotects {
  unprotect(packet: Uint8Array, length: number): number
  unprotectRtcp(packet: Uint8Array, length: number): number
}

interface ForgeryReport {
  readonly attempts: number
  /** Number of forged, replayed, truncated or damaged packets that were accepted. */
  readonly accepted: number
  /**
   * Number of refused packets that changed their buffer, and of genuine packets that are treated differently by a
   * receiver which saw no forgery.
   */
  readonly disturbed: number
}

/**
 * One genuine stream across sequence wraps, with `count` attempts upon it in between: damaged copies of the packet that
 * comes next, replays, truncations, spliced packets, strangers' SSRCs and plain noise, as SRTP and as SRTCP.
 */
export function tryForgeries(count: number, seed: number, suite: SrtpSuite, attacked?: Unprotects): ForgeryReport {
  const random = new SeededRandom(seed)
  const key = { suite, keyAndSalt: random.bytes(keyAndSaltBytes(suite)) }
  const attack = new Attack(random, attacked ?? new SrtpReceiver(key))
  const sender = new SrtpSender(key)
  const twin = new SrtpReceiver(key)
  let sequence = 65_000 + (seed % 500)
  for (let round = 0; attack.attempts < count; round++) {
    const rtcp = round % 8 === 7
    const genuine = rtcp ? nextRtcp(sender) : nextRtp(sender, sequence, random)
    sequence += 1 + (round % 97 === 0 ? 300 : 0)
    for (let i = 0; i < FORGERIES_PER_PACKET && attack.attempts < count; i++) attack.attempt(genuine, rtcp)
    attack.deliver(genuine, rtcp, twin)
  }
  return { attempts: attack.attempts, accepted: attack.accepted, disturbed: attack.disturbed }
}

class Attack {
  attempts = 0
  accepted = 0
  disturbed = 0
  readonly #random: Random
  readonly #attacked: Unprotects
  /** Packets delivered before, RTP and RTCP apart. */
  readonly #history: { readonly rtp: Uint8Array[]; readonly rtcp: Uint8Array[] } = { rtp: [], rtcp: [] }

  constructor(random: Random, attacked: Unprotects) {
    this.#random = random
    this.#attacked = attacked
  }

  attempt(genuine: Uint8Array, rtcp: boolean): void {
    this.attempts++
    const forged = this.#forge(genuine, rtcp ? this.#history.rtcp : this.#history.rtp)
    const before = forged.slice()
    if (unprotect(this.#attacked, forged, rtcp) >= 0) this.accepted++
    else if (!equal(before, forged)) this.disturbed++
  }

  deliver(genuine: Uint8Array, rtcp: boolean, twin: Unprotects): void {
    const forTwin = genuine.slice()
    const forAttacked = genuine.slice()
    const expected = unprotect(twin, forTwin, rtcp)
    const seen = unprotect(this.#attacked, forAttacked, rtcp)
    if (expected < 0 || seen !== expected || !equal(forTwin, forAttacked)) this.disturbed++
    const history = rtcp ? this.#history.rtcp : this.#history.rtp
    history.push(genuine)
    if (history.length > 300) history.shift()
  }

  #forge(genuine: Uint8Array, history: readonly Uint8Array[]): Uint8Array {
    const forged = genuine.slice()
    const choice = this.#below(8)
    const earlier = history.length === 0 ? null : history[this.#below(history.length)]!
    switch (choice) {
      case 0:
      case 1:
        flipBit(forged, this.#below(forged.length * 8))
        return forged
      case 2:
        return forged.subarray(0, this.#below(forged.length))
      case 3:
        return Uint8Array.from([...forged, ...this.#random.bytes(1 + this.#below(8))])
      case 4:
        forged.set(this.#random.bytes(10), forged.length - 10)
        return forged
      case 5:
        forged.set(this.#random.bytes(4), 8)
        forged.set(this.#random.bytes(2), 2)
        return forged
      case 6:
        if (earlier === null) return new Uint8Array(0)
        if (this.#below(2) === 0) return earlier.slice()
        forged.set(earlier.subarray(12), 12)
        return forged
      default: {
        const noise = this.#random.bytes(this.#below(200))
        if (noise.length > 1) noise[0] = 0x80
        return noise
      }
    }
  }

  #below(bound: number): number {
    return randomUint32(this.#random) % bound
  }
}

function nextRtp(sender: SrtpSender, sequence: number, random: Random): Uint8Array {
  const packet = new Uint8Array(RTP_BYTES + MAX_OVERHEAD)
  writeRtpHeader(packet, 0, false, sequence & 0xffff, sequence * 160, SSRC)
  packet.set(random.bytes(RTP_BYTES - 12), 12)
  return packet.subarray(0, sender.protect(packet, RTP_BYTES))
}

function nextRtcp(sender: SrtpSender): Uint8Array {
  const packet = new Uint8Array(RTCP_BYTES + MAX_OVERHEAD)
  writeReceiverReport(packet, 0, SSRC, null)
  return packet.subarray(0, sender.protectRtcp(packet, RTCP_BYTES))
}

function unprotect(receiver: Unprotects, packet: Uint8Array, rtcp: boolean): number {
  return rtcp ? receiver.unprotectRtcp(packet, packet.length) : receiver.unprotect(packet, packet.length)
}

function flipBit(bytes: Uint8Array, bit: number): void {
  bytes[bit >>> 3] = bytes[bit >>> 3]! ^ (1 << (bit & 7))
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}
