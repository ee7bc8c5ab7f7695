import type { Quantiles } from './messages.ts'

const PACKET_MS = 20

/**
 * How late one call's packets arrive against the call's own 20 ms grid. The grid is what the RTP timestamps say, laid
 * through the packet that came earliest. A grid point without a packet is as late as the packet that ended the gap; where sequence
 * numbers are given, it is a gap only if they show a loss, and otherwise silence for which nothing was sent.
 */
export class CallLateness {
  readonly #offset: Float64Array
  readonly #ticks: Float64Array
  readonly #sequence: Int32Array
  readonly #ticksPerMs: number
  #count = 0
  #first = -1

  /** `clockRate`: of the RTP timestamps, Hz. */
  constructor(mostPackets: number, clockRate = 8000) {
    this.#ticksPerMs = clockRate / 1000
    this.#offset = new Float64Array(mostPackets)
    this.#ticks = new Float64Array(mostPackets)
    this.#sequence = new Int32Array(mostPackets)
  }

  get count(): number {
    return this.#count
  }

  add(timestamp: number, arrivedAt: number, sequence = -1): void {
    if (this.#count === this.#offset.length) return
    if (this.#first < 0) this.#first = timestamp
    const ticks = (timestamp - this.#first) | 0
    this.#ticks[this.#count] = ticks
    this.#sequence[this.#count] = sequence
    this.#offset[this.#count++] = arrivedAt - ticks / this.#ticksPerMs
  }

  /** Appends one lateness per grid point, in ms; returns how many points had no packet. */
  collect(into: number[]): number {
    const offsets = this.#offset.subarray(0, this.#count)
    const earliest = offsets.reduce((least, offset) => Math.min(least, offset), Number.POSITIVE_INFINITY)
    let missing = 0
    for (let i = 0; i < this.#count; i++) {
      const late = offsets[i]! - earliest
      into.push(late)
      const gap = i === 0 ? 0 : this.#gapBefore(i)
      for (let k = 1; k <= gap; k++) into.push(late + k * PACKET_MS)
      missing += Math.max(0, gap)
    }
    return missing
  }

  #gapBefore(i: number): number {
    const sequence = this.#sequence[i]!
    if (sequence >= 0) return ((sequence - this.#sequence[i - 1]!) & 0xffff) - 1
    return Math.round((this.#ticks[i]! - this.#ticks[i - 1]!) / (PACKET_MS * this.#ticksPerMs)) - 1
  }
}

export function quantiles(values: readonly number[]): Quantiles {
  const sorted = Float64Array.from(values).sort()
  const at = (share: number) => {
    const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
    return Math.round(value * 1000) / 1000
  }
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) }
}
