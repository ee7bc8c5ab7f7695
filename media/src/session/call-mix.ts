import { type AudioFormat, type Ms, msToSamples, type Samples } from '@parley/kernel'
import type { SessionRecorder } from './session-recorder.ts'
import type { SessionRings } from './session-rings.ts'

/** Audio is mixed this long after its position on the clock, when both directions have arrived. */
const DELAY_MS: Ms = 200
const FRAME_MS: Ms = 20
/** Positions that the mix holds; at least a second. */
const MIX_MS: Ms = 1000

/** Mixes both directions of a session into the outbound ring of a listener's session. */
export class CallMix {
  readonly #rings: SessionRings
  readonly #mix: Int16Array
  readonly #frame: Int16Array
  readonly #delay: Samples
  /** Position on the session's clock up to which the mix was passed on; null: nothing was written yet. */
  #passed: Samples | null = null
  #newest: Samples = 0

  /** `rings`: of the session that plays the mix; nothing else may write to them. */
  constructor(rings: SessionRings) {
    const format: AudioFormat = rings.format
    this.#rings = rings
    this.#mix = new Int16Array(2 ** Math.ceil(Math.log2(msToSamples(MIX_MS, format))))
    this.#frame = new Int16Array(msToSamples(FRAME_MS, format))
    this.#delay = msToSamples(DELAY_MS, format)
  }

  /** Adds audio of one direction. Audio that comes later than the delay is left out. */
  write(position: Samples, samples: Int16Array, offset: number, count: Samples): void {
    this.#passed ??= position
    // A jump of the clock, such as after a stall: what was not passed on is dropped.
    if (position + count - this.#passed > this.#mix.length) {
      this.#mix.fill(0)
      this.#passed = position
    }
    const mask = this.#mix.length - 1
    for (let i = Math.max(0, this.#passed - position); i < count; i++) {
      const at = (position + i) & mask
      this.#mix[at] = Math.max(-32_768, Math.min(32_767, this.#mix[at]! + samples[offset + i]!))
    }
    this.#newest = Math.max(this.#newest, position + count)
    this.#passOn()
  }

  #passOn(): void {
    const mask = this.#mix.length - 1
    const frame = this.#frame
    while (this.#passed! + frame.length <= this.#newest - this.#delay) {
      for (let i = 0; i < frame.length; i++) {
        const at = (this.#passed! + i) & mask
        frame[i] = this.#mix[at]!
        this.#mix[at] = 0
      }
      this.#passed = this.#passed! + frame.length
      this.#rings.writeOutbound(frame, 0)
    }
  }
}

/** Passes both directions of a session to its recorder and its listeners. */
export class AudioTaps implements SessionRecorder {
  readonly #recorder: SessionRecorder | null
  readonly #mixes = new Map<number, CallMix>()

  constructor(recorder: SessionRecorder | null) {
    this.#recorder = recorder
  }

  /** Whether anybody listens. */
  get isHeard(): boolean {
    return this.#mixes.size > 0
  }

  /** `rings`: of session `listener`; null: it listens no more. */
  listen(listener: number, rings: SessionRings | null): void {
    if (rings === null) this.#mixes.delete(listener)
    else this.#mixes.set(listener, new CallMix(rings))
  }

  writeLeft(position: Samples, samples: Int16Array, offset: number, count: Samples): void {
    this.#recorder?.writeLeft(position, samples, offset, count)
    this.#mixIn(position, samples, offset, count)
  }

  writeRight(position: Samples, samples: Int16Array, offset: number, count: Samples): void {
    this.#recorder?.writeRight(position, samples, offset, count)
    this.#mixIn(position, samples, offset, count)
  }

  end(position: Samples): void {
    this.#recorder?.end(position)
    this.#mixes.clear()
  }

  #mixIn(position: Samples, samples: Int16Array, offset: number, count: Samples): void {
    if (this.#mixes.size === 0) return
    for (const mix of this.#mixes.values()) mix.write(position, samples, offset, count)
  }
}
