import { type Ms, msToSamples, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'

const BLOCK: Samples = msToSamples(5, NARROWBAND)
/** At most this peak is no sound at all: comfort noise and the quietest speech are above it after G.711. */
const DEAD_PEAK = 16
/** Root mean square of speech next to a gap: -42 dBov. */
const LOUD = 260
/** Speech that ends or begins by itself is quiet for this many blocks; beside a gap it is loud at once. */
const EDGE_BLOCKS = 2
/** A longer silence is a pause, even if it begins abruptly. */
const LONGEST_MS: Ms = 1000
const MAX_GAPS = 1000

/** Audio that is missing inside speech. */
export interface AudioGap {
  readonly startMs: Ms
  readonly durationMs: Ms
}

/** Finds places where loud speech breaks off, nothing at all is heard, and loud speech goes on. Audio is mono of 8 kHz. */
export class GapDetector {
  /** At most the first thousand. */
  readonly gaps: AudioGap[] = []
  readonly #leastMs: Ms
  #filled = 0
  #energy = 0
  #peak = 0
  #position: Samples = 0
  /** Number of loud blocks directly before the current silence, and after it. */
  #loudBefore = 0
  #loudAfter = 0
  #silentSince: Samples | null = null
  #silentUntil: Samples = 0

  /** `leastMs`: the shortest gap that is reported. */
  constructor(leastMs: Ms) {
    this.#leastMs = leastMs
  }

  hear(audio: Int16Array, atSample: Samples): void {
    this.#position = atSample - this.#filled
    for (let from = 0; from < audio.length; ) {
      const until = Math.min(from + BLOCK - this.#filled, audio.length)
      let energy = 0
      let peak = this.#peak
      for (let i = from; i < until; i++) {
        const sample = audio[i]!
        energy += sample * sample
        const size = sample < 0 ? -sample : sample
        if (size > peak) peak = size
      }
      this.#energy += energy
      this.#peak = peak
      this.#filled += until - from
      from = until
      if (this.#filled === BLOCK) this.#onBlock()
    }
  }

  #onBlock(): void {
    const isDead = this.#peak <= DEAD_PEAK
    const isLoud = Math.sqrt(this.#energy / BLOCK) >= LOUD
    const start = this.#position
    this.#position += BLOCK
    this.#filled = 0
    this.#energy = 0
    this.#peak = 0
    if (isDead) return this.#onSilence(start)
    if (this.#silentSince === null) {
      this.#loudBefore = isLoud ? this.#loudBefore + 1 : 0
      return
    }
    this.#loudAfter = isLoud ? this.#loudAfter + 1 : 0
    if (isLoud && this.#loudAfter < EDGE_BLOCKS) return
    if (isLoud) this.#report(this.#silentSince)
    this.#silentSince = null
    this.#loudBefore = this.#loudAfter
  }

  #onSilence(start: Samples): void {
    if (this.#silentSince === null) {
      // A block that is part speech, part silence is not loud: the silence begins before the first dead block.
      this.#silentSince = this.#loudBefore >= EDGE_BLOCKS ? start : null
      this.#loudBefore = 0
    }
    this.#loudAfter = 0
    this.#silentUntil = start + BLOCK
  }

  #report(since: Samples): void {
    const durationMs = samplesToMs(this.#silentUntil - since, NARROWBAND)
    if (durationMs < this.#leastMs || durationMs > LONGEST_MS || this.gaps.length >= MAX_GAPS) return
    this.gaps.push({ startMs: samplesToMs(since, NARROWBAND), durationMs })
  }
}
