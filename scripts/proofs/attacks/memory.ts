import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const MEGABYTE = 1 << 20

/** Measures the resident memory of this process. */
export class Memory {
  readonly #before: number
  #peak: number
  #after = 0
  readonly #timer: NodeJS.Timeout

  constructor() {
    collectGarbage()
    this.#before = process.memoryUsage.rss()
    this.#peak = this.#before
    this.#timer = setInterval(() => this.#sample(), 50)
  }

  /** Stops measuring. Returns the growth at its peak and now, bytes. */
  stop(): { readonly peakGrowth: number; readonly endGrowth: number } {
    clearInterval(this.#timer)
    this.#sample()
    collectGarbage()
    this.#after = process.memoryUsage.rss()
    return { peakGrowth: this.#peak - this.#before, endGrowth: this.#after - this.#before }
  }

  figures(): { readonly rss_before_mb: number; readonly rss_peak_mb: number; readonly rss_after_mb: number } {
    const megabytes = (bytes: number) => Math.round(bytes / MEGABYTE)
    return {
      rss_before_mb: megabytes(this.#before),
      rss_peak_mb: megabytes(this.#peak),
      rss_after_mb: megabytes(this.#after),
    }
  }

  #sample(): void {
    this.#peak = Math.max(this.#peak, process.memoryUsage.rss())
  }
}

/** Runs the garbage collector, also if the process was not started with --expose-gc. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}
