import type { Ms, Seq16 } from '@parley/kernel'
import { type Ipv4Network, isInIpv4Networks } from '../packet-io/ipv4.ts'
import { wordsClass } from '../page/words.ts'
import { LOWEST_PEER_PORT } from '../ports/peer-ports.ts'
import { FollowedSources, type SourceRules } from './followed-sources.ts'

/**
 * A secure peer that was silent this long at its old address may continue from a new one, because its NAT has dropped
 * the binding.
 */
const SECURE_REBIND_MS: Ms = 500
/** On plain RTP, a new SSRC or port is taken only when the old source was silent for this long. */
const SUCCESSION_SILENCE_MS: Ms = 200
/** Packets in sequence with a negotiated payload type that a new source must have sent. */
const SUCCESSION_PACKETS = 3
/** A source that sends again within this time after it was replaced is followed again. */
const RETURN_MS: Ms = 2000

/** The RTP address of the peer by an offer/answer, and which other sources are accepted. */
interface AnnouncedSource {
  readonly ipv4: number
  /** 0: none yet. */
  readonly port: number
  readonly secure: boolean
  /** Whether packets may be sent to the announced address; otherwise only to the source that was heard. */
  readonly reachable: boolean
  /** Whether only packets from the announced port are accepted. */
  readonly exact?: boolean
  /** Networks besides the announced address from which a first packet is accepted, for a peer behind a NAT. */
  readonly learnFrom: readonly Ipv4Network[]
  /** Which sources besides the announced address may be sent to; default all. */
  readonly sourceRules?: SourceRules | null
}

export const LatchWords = wordsClass('ipv4', 'port', 'secure', 'latched', 'ssrc', 'lastMs', 'nextPackets')

/**
 * Which source is heard in a session, and where our packets go (symmetric RTP, RFC 4961).
 *
 * Plain RTP: only the address that the SDP names or, for a peer behind a NAT, one of `learnFrom`. The first packet decides
 * address, port and SSRC. Another SSRC or port of the same address (RFC 3550 section 8: gateways change both at transfers
 * and announcements) is taken when the old source is silent and the new one sends a steady stream. If the old source sends
 * again soon, it is followed again, which counts as a conflict. A sender that forges source addresses is not kept out:
 * plain RTP has no means for that.
 *
 * SRTP: the tag identifies the sender, not the address. Only packets that verified get here; the first one latches where
 * we send, and another source is followed only when the latched one has fallen silent.
 *
 * Both: a source that the rules exclude is never sent to.
 */
export class SourceLatch {
  /** How often a source that had been replaced sent again and was followed again. */
  conflicts = 0
  readonly #followed = new FollowedSources()
  #announced: AnnouncedSource = { ipv4: 0, port: 0, secure: false, reachable: true, learnFrom: [] }
  readonly #state: InstanceType<typeof LatchWords>
  /** The source before the last change, until #formerUntilMs. */
  #formerPort = 0
  #formerSsrc = 0
  #formerUntilMs: Ms = Number.NEGATIVE_INFINITY
  /** The newest other source, and the sequence number that its next packet should have. */
  #nextPort = 0
  #nextSsrc = 0
  #nextSequence: Seq16 = 0

  constructor(memory?: Float64Array) {
    this.#state = new LatchWords(memory)
  }

  /** Address to send to. */
  get ipv4(): number {
    return this.#state.ipv4
  }

  /** Port to send to; 0: none. */
  get port(): number {
    return this.#state.port
  }

  /** How often a source was refused because the rules exclude it. */
  get refused(): number {
    return this.#followed.refused
  }

  /**
   * Sets the peer's address from offer/answer. The next packet may latch again, because the peer may have moved. As long
   * as the description names the same place, sending continues to the latched source, unless the new rules exclude it.
   */
  announce(announced: AnnouncedSource): void {
    const { ipv4, port, secure, reachable } = announced
    const before = this.#announced
    const same = this.#isLatched && ipv4 === before.ipv4 && port === before.port && secure === before.secure
    this.#announced = announced
    this.#followed.apply(announced.sourceRules ?? null)
    this.#state.secure = secure ? 1 : 0
    this.#state.latched = 0
    this.#state.nextPackets = 0
    this.#formerUntilMs = Number.NEGATIVE_INFINITY
    if (same && this.#followed.allows(this.#state.ipv4, this.#state.port)) return
    this.#state.ipv4 = ipv4
    this.#state.port = reachable ? port : 0
  }

  /** Whether a packet from this address may be processed at all. A cheap check before anything is computed. */
  mayHear(ipv4: number): boolean {
    const { secure, ipv4: announcedIpv4, learnFrom } = this.#announced
    if (secure) return true
    if (this.#isLatched) return ipv4 === this.#state.ipv4
    return announcedIpv4 !== 0 && (ipv4 === announcedIpv4 || isInIpv4Networks(ipv4, learnFrom))
  }

  /**
   * Registers a well-formed packet from an address that `mayHear`, verified if secure. `isNegotiated`: it has a payload
   * type that offer/answer agreed on for audio. Returns false for a foreign source, whose packet must change nothing.
   */
  hear(nowMs: Ms, ipv4: number, port: number, ssrc: number, sequence: Seq16, isNegotiated: boolean): boolean {
    if (this.#announced.secure) {
      const mayLatch = !this.#isLatched || nowMs - this.#state.lastMs > SECURE_REBIND_MS
      if (port >= LOWEST_PEER_PORT && (this.#isSentTo(ipv4, port) || (mayLatch && this.#followed.allows(ipv4, port)))) {
        this.#latch(ipv4, port, ssrc)
        this.#state.lastMs = nowMs
      }
      return true
    }
    if (port < LOWEST_PEER_PORT || (this.#announced.exact === true && port !== this.#announced.port)) return false
    if (!this.#isLatched) {
      if (!this.#isSentTo(ipv4, port) && !this.#followed.allows(ipv4, port)) return false
      this.#latch(ipv4, port, ssrc)
    } else if (port !== this.#state.port || ssrc !== this.#state.ssrc) {
      const takes = this.#returns(nowMs, port, ssrc) || this.#succeeds(nowMs, port, ssrc, sequence, isNegotiated)
      if (!takes) return false
      this.#latch(ipv4, port, ssrc)
    }
    this.#state.lastMs = nowMs
    this.#state.nextPackets = 0
    return true
  }

  get #isLatched(): boolean {
    return this.#state.latched !== 0
  }

  #isSentTo(ipv4: number, port: number): boolean {
    return ipv4 === this.#state.ipv4 && port === this.#state.port
  }

  #returns(nowMs: Ms, port: number, ssrc: number): boolean {
    if (nowMs > this.#formerUntilMs || port !== this.#formerPort || ssrc !== this.#formerSsrc) return false
    this.conflicts++
    this.#formerUntilMs = Number.NEGATIVE_INFINITY
    return true
  }

  #succeeds(nowMs: Ms, port: number, ssrc: number, sequence: Seq16, isNegotiated: boolean): boolean {
    const continues = port === this.#nextPort && ssrc === this.#nextSsrc && sequence === this.#nextSequence
    this.#state.nextPackets = isNegotiated ? (continues ? this.#state.nextPackets : 0) + 1 : 0
    this.#nextPort = port
    this.#nextSsrc = ssrc
    this.#nextSequence = (sequence + 1) & 0xffff
    if (this.#state.nextPackets < SUCCESSION_PACKETS || nowMs - this.#state.lastMs < SUCCESSION_SILENCE_MS) return false
    if (port !== this.#state.port && !this.#followed.allows(this.#state.ipv4, port)) return false
    this.#formerPort = this.#state.port
    this.#formerSsrc = this.#state.ssrc
    this.#formerUntilMs = nowMs + RETURN_MS
    return true
  }

  #latch(ipv4: number, port: number, ssrc: number): void {
    this.#state.ipv4 = ipv4
    this.#state.port = port
    this.#state.ssrc = ssrc
    this.#state.latched = 1
  }
}
