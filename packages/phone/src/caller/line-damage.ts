import { type Ms, msToSamples, NARROWBAND, type Random, randomUint32, type Samples } from '@parley/kernel'
import { Concealment, decodePcmu, encodePcmu } from '@parley/media'
import { BackgroundNoise, type NoiseKind } from './background-noise.ts'

/** Duration of a packet, and of a frame of `LineDamage`. */
export const DAMAGE_FRAME: Samples = msToSamples(20, NARROWBAND)
const LOWEST_LEVEL_DB = -20

export interface LineDamageOptions {
  /** Noise behind the caller's words, `snrDb` below their level of -20 dBov. */
  readonly background?: { readonly kind: NoiseKind; readonly snrDb: number }
  /** What the caller hears comes back `delayMs` later at `levelDb` (below 0). */
  readonly echo?: { readonly levelDb: number; readonly delayMs: Ms } | null
  /** Share of frames (20 ms) that get lost and are concealed; 0 to 1, default 0. */
  readonly loss?: number
  /** Mean number of frames that are lost together; default 1. */
  readonly lossBurst?: number
  /** Passes the audio through G.711 mu-law once more, as a gateway on the way does; default false. */
  readonly transcoded?: boolean
}

/**
 * Everything that damages a caller's audio on its way: background noise, echo, loss and another codec, in this order. Pure; one
 * frame of 20 ms at 8 kHz at a time.
 */
export class LineDamage {
  readonly #random: Random
  readonly #options: LineDamageOptions
  readonly #noise: BackgroundNoise | null
  readonly #concealment = new Concealment()
  /** The newest audio that the caller heard; a ring. */
  readonly #echo: Int16Array
  #echoAt = 0
  #losing = false
  readonly #out = new Int16Array(DAMAGE_FRAME)
  readonly #bytes = new Uint8Array(DAMAGE_FRAME)

  constructor(options: LineDamageOptions, random: Random) {
    this.#options = options
    this.#random = random
    const { background, echo } = options
    const amplitude = background === undefined ? 0 : 32_768 * decibels(LOWEST_LEVEL_DB - background.snrDb)
    this.#noise = background === undefined ? null : new BackgroundNoise(background.kind, amplitude, random)
    this.#echo = new Int16Array(echo == null ? 0 : msToSamples(echo.delayMs, NARROWBAND))
  }

  /** Whether these options change anything. */
  static changes({ background, echo, loss = 0, transcoded = false }: LineDamageOptions): boolean {
    return background !== undefined || (echo !== undefined && echo !== null) || loss > 0 || transcoded
  }

  /**
   * The frame as it arrives at the far end, valid until the next call. `sent`: what the caller's microphone would pick up without
   * damage; `heard`: what the caller hears meanwhile. Both have 160 samples.
   */
  pass(sent: Int16Array, heard: Int16Array): Int16Array {
    const out = this.#out
    out.set(sent)
    this.#noise?.add(out)
    this.#addEcho(out, heard)
    this.#lose(out)
    if (this.#options.transcoded === true) {
      encodePcmu(out, 0, out.length, this.#bytes, 0)
      decodePcmu(this.#bytes, 0, out.length, out, 0)
    }
    return out
  }

  #addEcho(out: Int16Array, heard: Int16Array): void {
    const { echo } = this.#options
    if (echo == null) return
    const gain = decibels(echo.levelDb)
    for (let i = 0; i < out.length; i++) {
      out[i] = clip(out[i]! + gain * this.#echo[this.#echoAt]!)
      this.#echo[this.#echoAt] = heard[i]!
      this.#echoAt = (this.#echoAt + 1) % this.#echo.length
    }
  }

  /** A Gilbert model: its stay in the lossy state has the mean `lossBurst`. */
  #lose(out: Int16Array): void {
    const { loss = 0, lossBurst = 1 } = this.#options
    if (loss <= 0) return
    const leave = 1 / Math.max(1, lossBurst)
    const enter = Math.min(1, (loss * leave) / Math.max(1e-9, 1 - loss))
    this.#losing = uniform(this.#random) < (this.#losing ? 1 - leave : enter)
    if (this.#losing) this.#concealment.conceal(out, 0, out.length)
    else this.#concealment.good(out, 0, out.length)
  }
}

function decibels(db: number): number {
  return 10 ** (db / 20)
}

/** Uniform in [0, 1). */
function uniform(random: Random): number {
  return randomUint32(random) / 2 ** 32
}

function clip(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)))
}
