import { type AudioFormat, NARROWBAND, type Samples } from '@parley/kernel'
import type { CallLeg, LegEvent } from '@parley/leg'
import { Resampler } from '@parley/media'

/** 20 ms: a change of volume is a slope, not a click. */
const RAMP: Samples = 160

/** What is resampled at once. */
const BLOCK: Samples = 1600

type PlayoutLeg = Pick<CallLeg, 'format' | 'play' | 'flush' | 'played'>

interface Piece {
  readonly audio: Int16Array
  /** Place in the stream of everything ever laid, whatever was paused or replayed since. */
  readonly from: Samples
}

/**
 * The agent's audio of 8 kHz on its way to the line, whatever the format of that is. Counts positions in the stream of what was laid: a pause takes back what
 * was not sent, and `resume` lays it again from exactly that sample. Ducking lays it again at another volume.
 */
export class Playout {
  readonly #leg: PlayoutLeg
  /** Samples of the leg for each sample of the voice. */
  readonly #ratio: number
  readonly #resampler: Resampler | null
  readonly #pieces: Piece[] = []
  #end: Samples = 0
  /** Position of the stream that stands at playout position 0 of the leg, while something is on the leg. */
  #base: Samples = 0
  #paused = false
  #pausedAt: Samples = 0
  #gain = 1
  #volume: number
  /** Last known place on the sample clock of a position, from progress of the leg. */
  #anchor: { readonly position: Samples; readonly atSample: Samples } | null = null

  /** `volume` 0 to 2. */
  constructor(leg: PlayoutLeg, volume = 1) {
    const { sampleRateHz } = leg.format
    this.#leg = leg
    this.#ratio = sampleRateHz / NARROWBAND.sampleRateHz
    this.#resampler = this.#ratio === 1 ? null : new Resampler(NARROWBAND.sampleRateHz, sampleRateHz, BLOCK)
    this.#volume = volume
    this.#base = -this.#legPlayed()
  }

  /** Of the call's sample clock, on which `sampleOf` places what was played. */
  get format(): AudioFormat {
    return this.#leg.format
  }

  get paused(): boolean {
    return this.#paused
  }

  /** Where the stream ends. */
  get end(): Samples {
    return this.#end
  }

  /** How far it was sent. */
  played(): Samples {
    if (this.#paused) return this.#pausedAt
    return Math.min(this.#end, this.#legPlayed() + this.#base)
  }

  /** Lays audio behind what is there; returns the position at which it begins. */
  lay(audio: Int16Array): Samples {
    const from = this.#end
    this.#end += audio.length
    const piece = { audio, from }
    this.#pieces.push(piece)
    if (!this.#paused) this.#send(piece, 0, false)
    this.#forgetPlayed()
    return from
  }

  pause(): void {
    if (this.#paused) return
    this.#takeBack()
    this.#paused = true
  }

  /** Goes on at the sample that was not yet played. */
  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#layAgain(false)
  }

  /** Volume of what is not yet sent, 1 is full. */
  setGain(gain: number): void {
    if (gain === this.#gain) return
    const before = this.#gain
    this.#gain = gain
    if (this.#paused || this.played() >= this.#end) return
    this.#takeBack()
    this.#layAgain(true, before)
  }

  /** Drops what was not sent; returns how far it was. */
  drop(): Samples {
    if (!this.#paused) this.#takeBack()
    const stood = this.#pausedAt
    this.#paused = false
    this.#gain = 1
    this.#pieces.length = 0
    this.#end = stood
    this.#base = stood - this.#legPlayed()
    return stood
  }

  onProgress(event: LegEvent & { type: 'play-progress' }): void {
    if (this.#paused) return
    const position = Math.min(Math.floor(event.position / this.#ratio) + this.#base, this.#end)
    const expected = this.#anchor === null ? Infinity : this.sampleOf(position)
    // An event of an empty queue comes a packet later than its audio ended.
    const atSample = event.idle ? Math.min(event.atSample, expected) : event.atSample
    this.#anchor = { position, atSample }
    this.#forgetPlayed()
  }

  /** Place on the call's sample clock of a position that was played, as far as is known. */
  sampleOf(position: Samples): Samples {
    const { position: known, atSample } = this.#anchor ?? { position: 0, atSample: 0 }
    return Math.max(0, atSample + (position - known) * this.#ratio)
  }

  #takeBack(): void {
    const stood = Math.floor(this.#leg.flush() / this.#ratio) + this.#base
    this.#resampler?.reset()
    this.#pausedAt = Math.min(stood, this.#end)
  }

  #layAgain(ramp: boolean, fromGain = this.#gain): void {
    this.#base = this.#pausedAt - this.#legPlayed()
    let first = ramp
    for (const piece of this.#pieces) {
      const skip = Math.max(0, this.#pausedAt - piece.from)
      if (skip >= piece.audio.length) continue
      this.#send(piece, skip, first, fromGain)
      first = false
    }
    this.#forgetPlayed()
  }

  #send(piece: Piece, skip: Samples, ramp: boolean, fromGain = this.#gain): void {
    const audio = piece.audio.subarray(skip)
    const gain = this.#gain * this.#volume
    if (gain === 1 && !ramp) return this.#play(audio)
    const scaled = new Int16Array(audio.length)
    const before = fromGain * this.#volume
    for (let i = 0; i < audio.length; i++) {
      const now = ramp && i < RAMP ? before + ((gain - before) * i) / RAMP : gain
      scaled[i] = Math.max(-32_768, Math.min(32_767, Math.round(audio[i]! * now)))
    }
    this.#play(scaled)
  }

  #play(audio: Int16Array): void {
    if (this.#resampler === null) return void this.#leg.play(audio)
    const resampled = new Int16Array(audio.length * this.#ratio)
    for (let at = 0; at < audio.length; at += BLOCK)
      this.#resampler.process(audio, at, Math.min(BLOCK, audio.length - at), resampled, at * this.#ratio)
    this.#leg.play(resampled)
  }

  #legPlayed(): Samples {
    return Math.floor(this.#leg.played() / this.#ratio)
  }

  #forgetPlayed(): void {
    const played = this.played()
    while (this.#pieces.length > 0 && this.#pieces[0]!.from + this.#pieces[0]!.audio.length <= played)
      this.#pieces.shift()
  }
}
