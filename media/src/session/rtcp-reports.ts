import { type Ms, type Random, randomToken, type UnixMs } from '@parley/kernel'
import { parseIpv4 } from '../packet-io/ipv4.ts'
import { LOWEST_PEER_PORT } from '../ports/peer-ports.ts'
import {
  ReportBlock,
  RtcpCompound,
  readRtcp,
  toReportDelay,
  writeBye,
  writeReceiverReport,
  writeSdesCname,
  writeSenderReport,
} from '../rtp/rtcp.ts'
import { RtcpScheduler } from '../rtp/rtcp-scheduler.ts'
import { SRTP_CLEAR_RTCP } from '../srtp/srtp-result.ts'
import { FarEndReports } from './far-end-reports.ts'
import { FollowedSources } from './followed-sources.ts'
import type { InboundChain } from './inbound-chain.ts'
import type { OutboundChain } from './outbound-chain.ts'
import type { AppliedParameters } from './session-protocol.ts'
import type { SessionCounters } from './session-statistics.ts'

/** The compound packet that is being read; none is kept from one packet to the next. */
const received = new RtcpCompound()

interface RtcpReportsOptions {
  readonly openedAtMs: Ms
  /** Wall clock at open: reports name absolute times. */
  readonly openedAtUnixMs: UnixMs
  readonly random: Random
  readonly inbound: InboundChain
  readonly outbound: OutboundChain
  readonly counters: SessionCounters
  /** Memory of `ReportWords`, where the native path sees when the next report is due. */
  readonly schedule: Float64Array
}

/**
 * A session's RTCP (RFC 3550 section 6): SR or RR with one report block and a random CNAME (RFC 7022) about every
 * 5 s, BYE at the end. It runs on the port above RTP's or the one that the peer named (RFC 3605), or on the RTP port where
 * that was negotiated (RFC 5761); packets that a peer multiplexes onto the RTP port are always read.
 */
export class RtcpReports {
  /** Whether reports go over the RTP port. */
  isMuxed = false
  readonly farEnd = new FarEndReports()
  readonly #followed = new FollowedSources()
  readonly #options: RtcpReportsOptions
  readonly #cname: Uint8Array
  readonly #block = new ReportBlock()
  #schedule: RtcpScheduler | null = null
  #announcedIpv4 = 0
  #announcedPort = 0
  #reachable = true
  /** Source of the last report on the RTCP port; port 0: none came yet. */
  #heardIpv4 = 0
  #heardPort = 0
  #secure = false
  #packetsReported = 0
  #lastSenderReport = 0
  #lastSenderReportAtMs: Ms = 0

  constructor(options: RtcpReportsOptions) {
    this.#options = options
    this.#cname = new TextEncoder().encode(randomToken(options.random, 20))
  }

  /** Sets the peer's address from offer/answer. */
  apply(nowMs: Ms, parameters: AppliedParameters): void {
    const { remote, remoteRtcp, rtcpMux = false, remoteReachable = true, sourceRules = null, srtp } = parameters
    const above = remote === null || remote.port === 0 ? null : { ...remote, port: remote.port + 1 }
    const rtcp = remoteRtcp === undefined ? above : remoteRtcp
    this.#secure = srtp !== null
    this.isMuxed = rtcpMux
    this.#reachable = remoteReachable
    this.#announcedIpv4 = (rtcp === null ? null : parseIpv4(rtcp.address)) ?? 0
    this.#announcedPort = rtcp === null || this.#announcedIpv4 === 0 ? 0 : rtcp.port
    this.#heardPort = 0
    this.#followed.apply(sourceRules)
    this.#schedule ??= new RtcpScheduler(this.#options.random, nowMs, this.#options.schedule)
  }

  /** How often reports began to come from another source that nothing may be sent to. */
  get sourcesRefused(): number {
    return this.#followed.refused
  }

  /** Address to which reports are sent. */
  get ipv4(): number {
    if (this.isMuxed || this.#followsRtp) return this.#options.inbound.latch.ipv4
    return this.#heardPort === 0 ? this.#announcedIpv4 : this.#heardIpv4
  }

  /** Port to which reports are sent; 0: none. */
  get port(): number {
    const { latch } = this.#options.inbound
    if (this.isMuxed) return latch.port
    if (this.#followsRtp)
      return latch.port === 0 || !this.#followed.allows(latch.ipv4, latch.port + 1) ? 0 : latch.port + 1
    return this.#heardPort === 0 ? this.#announcedPort : this.#heardPort
  }

  /** Nothing may be sent to the announced address: reports go beside the RTP of the source that was heard. */
  get #followsRtp(): boolean {
    return this.#heardPort === 0 && !this.#reachable
  }

  receive(nowMs: Ms, packet: Uint8Array, length: number, ipv4: number, port: number, ownPort: boolean): void {
    const { inbound, outbound, counters } = this.#options
    if (!this.#secure && ipv4 !== this.#announcedIpv4 && !inbound.latch.mayHear(ipv4)) {
      counters.foreign++
      return
    }
    let clear = length
    if (inbound.keys.secure) {
      clear = inbound.keys.unprotectRtcp(nowMs, packet, length)
      if (clear === SRTP_CLEAR_RTCP) {
        counters.clearRtcp++
        return
      }
      if (clear < 0) {
        inbound.countRefused(clear)
        return
      }
    }
    if (!readRtcp(packet, clear, received)) {
      counters.malformed++
      return
    }
    if (!this.#secure && !this.#isOfPeer(port, received.senderSsrc)) {
      counters.foreign++
      return
    }
    inbound.alive(nowMs)
    if (ownPort) this.#follow(ipv4, port)
    const { ssrc, clockRate } = outbound
    if (this.farEnd.read(received, ssrc, this.#wallClock(nowMs), counters.packetsSent, clockRate / 1000))
      outbound.reportLoss(this.farEnd.recentLoss)
    if (received.hasSenderReport && received.senderSsrc === inbound.ssrc) {
      this.#lastSenderReport = received.ntpMiddle
      this.#lastSenderReportAtMs = nowMs
    }
  }

  /** Reports go to the source of the last report from now on. */
  #follow(ipv4: number, port: number): void {
    if (port === this.#heardPort && ipv4 === this.#heardIpv4) return
    if (port < LOWEST_PEER_PORT || !this.#followed.allows(ipv4, port)) return
    this.#heardIpv4 = ipv4
    this.#heardPort = port
  }

  /**
   * On plain RTP the address proves little: accepts the SSRC that sends RTP, or, before its first packet, the announced
   * port. RTCP of other sources must neither redirect our reports nor count as a sign of life.
   */
  #isOfPeer(port: number, ssrc: number): boolean {
    const heard = this.#options.inbound.ssrc
    return heard >= 0 ? ssrc === heard : port === this.#announcedPort || port === this.#announcedPort - 1
  }

  /** Writes the report that is due to `dst`; returns its length, or 0. */
  tick(nowMs: Ms, dst: Uint8Array): number {
    const schedule = this.#schedule
    // The time first: it is asked for at every slot.
    if (schedule === null || nowMs < schedule.nextAt || this.port === 0 || !schedule.due(nowMs)) return 0
    return this.#protect(nowMs, dst, this.#report(nowMs, dst))
  }

  /** Writes the last report, with BYE; returns 0 without an address of the peer, or before the first RTP packet. */
  bye(nowMs: Ms, dst: Uint8Array): number {
    if (this.port === 0 || this.#options.counters.packetsSent === 0) return 0
    return this.#protect(nowMs, dst, writeBye(dst, this.#report(nowMs, dst), this.#options.outbound.ssrc))
  }

  #report(nowMs: Ms, dst: Uint8Array): number {
    const { outbound, counters } = this.#options
    const block = this.#fillBlock(nowMs)
    const sent = counters.packetsSent
    const end =
      sent === this.#packetsReported
        ? writeReceiverReport(dst, 0, outbound.ssrc, block)
        : writeSenderReport(
            dst,
            0,
            outbound.ssrc,
            this.#wallClock(nowMs),
            outbound.timestampAt(nowMs),
            sent >>> 0,
            counters.octetsSent >>> 0,
            block,
          )
    this.#packetsReported = sent
    return writeSdesCname(dst, end, outbound.ssrc, this.#cname)
  }

  #fillBlock(nowMs: Ms): ReportBlock | null {
    const { inbound } = this.#options
    if (inbound.ssrc < 0) return null
    const block = this.#block
    block.ssrc = inbound.ssrc
    block.fractionLost = inbound.reception.takeFractionLost()
    block.cumulativeLost = inbound.reception.lost
    block.extendedHighestSequence = inbound.reception.sequence.highest >>> 0
    block.jitter = inbound.reception.jitterTicks >>> 0
    block.lastSenderReport = this.#lastSenderReport
    block.delaySinceLastSenderReport =
      this.#lastSenderReport === 0 ? 0 : toReportDelay(nowMs - this.#lastSenderReportAtMs)
    return block
  }

  #wallClock(nowMs: Ms): UnixMs {
    return this.#options.openedAtUnixMs + (nowMs - this.#options.openedAtMs)
  }

  #protect(nowMs: Ms, dst: Uint8Array, length: number): number {
    const sender = this.#options.outbound.sender(nowMs)
    return sender === null ? length : Math.max(0, sender.protectRtcp(dst, length))
  }
}
