import { ReplayWindow } from './replay-window.ts'

/**
 * Sources known under one master key. None is ever evicted: forgetting one's replay window would let its packets in a
 * second time, so the source after the last is refused instead.
 */
export const MAX_STREAMS = 64

/** What RFC 3711 section 3.2.3 keeps per SSRC: RTP and RTCP count apart. */
export class SrtpStream {
  readonly ssrc: number
  /** Its `highest` holds the rollover counter and the highest sequence number. */
  readonly rtp = new ReplayWindow()
  readonly rtcp = new ReplayWindow()

  constructor(ssrc: number) {
    this.ssrc = ssrc
  }
}

export class StreamTable {
  readonly #streams: SrtpStream[] = []
  #last: SrtpStream | null = null

  /** The stream that was found or added last. */
  get last(): SrtpStream | null {
    return this.#last
  }

  get size(): number {
    return this.#streams.length
  }

  /** Calls `visit` with each source's SSRC and highest packet index; sources that sent RTCP only have none. */
  forEachRtp(visit: (ssrc: number, highest: number) => void): void {
    for (const { ssrc, rtp } of this.#streams) if (rtp.highest >= 0) visit(ssrc, rtp.highest)
  }

  find(ssrc: number): SrtpStream | null {
    if (this.#last !== null && this.#last.ssrc === ssrc) return this.#last
    for (let i = 0; i < this.#streams.length; i++) {
      if (this.#streams[i]!.ssrc === ssrc) {
        this.#last = this.#streams[i]!
        return this.#last
      }
    }
    return null
  }

  /** A new stream, or null when the table is full. */
  add(ssrc: number): SrtpStream | null {
    if (this.#streams.length >= MAX_STREAMS) return null
    this.#last = new SrtpStream(ssrc)
    this.#streams.push(this.#last)
    return this.#last
  }
}
