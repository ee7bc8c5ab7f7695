import type { Ms } from '@parley/kernel'

/**
 * A secure peer that was silent this long at its old address may continue from a new one, because its NAT has dropped
 * the binding.
 */
const SECURE_REBIND_MS: Ms = 500

/**
 * Who may speak in a session, and where our packets go (symmetric RTP, RFC 4961).
 *
 * Plain RTP: only the address that the SDP names. The port may differ (a NAT); the first packet decides it, and from
 * then on only that address, port and SSRC are heard until the next offer/answer. Whoever can forge source addresses
 * is not kept out: plain RTP cannot.
 *
 * SRTP: the tag says who speaks, not the address. Only packets that verified get here; the first one latches where we
 * send, and another source is followed only when the latched one has fallen silent.
 */
export class SourceLatch {
  /** Address to send to; port 0: none. */
  ipv4 = 0
  port = 0
  #secure = false
  #announcedIpv4 = 0
  #announcedPort = 0
  #latched = false
  #ssrc = 0
  #lastMs: Ms = 0

  /**
   * Sets the peer's address and port from offer/answer (port 0: none yet). The next packet may latch again, because the
   * peer may have moved. As long as the description names the same place, sending continues to the latched source.
   */
  announce(ipv4: number, port: number, secure: boolean): void {
    const same =
      this.#latched && ipv4 === this.#announcedIpv4 && port === this.#announcedPort && secure === this.#secure
    this.#secure = secure
    this.#announcedIpv4 = ipv4
    this.#announcedPort = port
    this.#latched = false
    if (same) return
    this.ipv4 = ipv4
    this.port = port
  }

  /** Whether a packet from this address may be processed at all. A cheap check before anything is computed. */
  mayHear(ipv4: number, port: number): boolean {
    if (this.#secure) return true
    if (this.#latched) return ipv4 === this.ipv4 && port === this.port
    return ipv4 === this.#announcedIpv4 && this.#announcedIpv4 !== 0
  }

  /**
   * Registers a well-formed packet, verified if secure. Returns false for a foreign source, whose packet must change
   * nothing.
   */
  hear(nowMs: Ms, ipv4: number, port: number, ssrc: number): boolean {
    if (this.#secure) {
      const same = ipv4 === this.ipv4 && port === this.port
      if (!this.#latched || same || nowMs - this.#lastMs > SECURE_REBIND_MS) {
        this.#latch(ipv4, port, ssrc)
        this.#lastMs = nowMs
      }
      return true
    }
    if (!this.#latched) this.#latch(ipv4, port, ssrc)
    return ssrc === this.#ssrc
  }

  #latch(ipv4: number, port: number, ssrc: number): void {
    this.ipv4 = ipv4
    this.port = port
    this.#ssrc = ssrc
    this.#latched = true
  }
}
