import type { Ms } from '@parley/kernel'

const BUCKET_MS: Ms = 0.02
const BUCKETS = 5000
const COUNT = 0
const MOST = 1

/** Packets by how late they were. */
export interface LatenessCounts {
  /** By steps of 20 us, from 0 on, up to the last step with a packet; the 5,000th has all that were later. */
  readonly buckets: Uint32Array
  readonly maxMs: Ms
}

/** Counts delays: 20 us resolution up to 100 ms, and the exact maximum. Adding allocates nothing. */
export class LatenessHistogram {
  /** The native path adds as well (`Histogram` in `media/native/turns.cc`): delays by bucket, then their number and the largest. */
  readonly buckets = new Uint32Array(BUCKETS)
  readonly totals = new Float64Array(2)

  get count(): number {
    return this.totals[COUNT]!
  }

  get maxMs(): Ms {
    return this.totals[MOST]!
  }

  add(lateMs: Ms): void {
    const bucket = Math.min(BUCKETS - 1, Math.max(0, Math.floor(lateMs / BUCKET_MS)))
    this.buckets[bucket]!++
    this.totals[COUNT]!++
    if (lateMs > this.maxMs) this.totals[MOST] = lateMs
  }

  merge({ buckets, maxMs }: LatenessCounts): void {
    for (let i = 0; i < buckets.length; i++) {
      this.buckets[i]! += buckets[i]!
      this.totals[COUNT]! += buckets[i]!
    }
    if (maxMs > this.maxMs) this.totals[MOST] = maxMs
  }

  /** A copy. */
  counts(): LatenessCounts {
    const length = 1 + this.buckets.findLastIndex(packets => packets > 0)
    return { buckets: this.buckets.slice(0, length), maxMs: this.maxMs }
  }

  reset(): void {
    this.buckets.fill(0)
    this.totals.fill(0)
  }

  /** Upper edge of the bucket that holds quantile `q` (0 to 1); 0 when nothing was added. */
  quantile(q: number): Ms {
    let left = Math.ceil(this.count * q)
    for (let i = 0; i < BUCKETS && left > 0; i++) {
      left -= this.buckets[i]!
      if (left <= 0) return Math.min(this.maxMs, (i + 1) * BUCKET_MS)
    }
    return 0
  }
}
