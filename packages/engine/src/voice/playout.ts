import type { Samples } from '@parley/kernel'
import type { CallLeg, LegEvent } from '@parley/leg'

/** 20 ms: a change of volume is a slope, not a click. */
const RAMP: Samples = 160

interface Piece {
  readonly audio: Int16Array
  /** Place in the stream of everything ever laid, whatever was paused or replayed since. */
  readonly from: Samples
}

/**
 * The agent's audio on its way to the line. Counts positions in the stream of what was laid: a pause takes back what
 * was not sent, and `resume` lays it again from exactly that sample. Ducking lays it again at another volume.
 */
export class Playout {
  readonly #leg: Pick<CallLeg, 'play' | 'flush' | 'played'>
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
  constructor(leg: Pick<CallLeg, 'play' | 'flush' | 'played'>, volume = 1) {
    this.#leg = leg
    this.#volume = volume
    this.#base = -leg.played()
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
    return Math.min(this.#end, this.#leg.played() + this.#base)
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
    this.#base = stood - this.#leg.played()
    return stood
  }

  onProgress(event: LegEvent & { type: 'play-progress' }): void {
    if (this.#paused) return
    const position = Math.min(event.position + this.#base, this.#end)
    const expected = this.#anchor === null ? Infinity : this.sampleOf(position)
    // An event of an empty queue comes a packet later than its audio ended.
    const atSample = event.idle ? Math.min(event.atSample, expected) : event.atSample
    this.#anchor = { position, atSample }
    this.#forgetPlayed()
  }

  /** Place on the call's sample clock of a position that was played, as far as is known. */
  sampleOf(position: Samples): Samples {
    const { position: known, atSample } = this.#anchor ?? { position: 0, atSample: 0 }
    return Math.max(0, atSample + (position - known))
  }

  #takeBack(): void {
    const stood = this.#leg.flush() + this.#base
    this.#pausedAt = Math.min(stood, this.#end)
  }

  #layAgain(ramp: boolean, fromGain = this.#gain): void {
    this.#base = this.#pausedAt - this.#leg.played()
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
    if (gain === 1 && !ramp) return void this.#leg.play(audio)
    const scaled = new Int16Array(audio.length)
    const before = fromGain * this.#volume
    for (let i = 0; i < audio.length; i++) {
      const now = ramp && i < RAMP ? before + ((gain - before) * i) / RAMP : gain
      scaled[i] = Math.max(-32_768, Math.min(32_767, Math.round(audio[i]! * now)))
    }
    this.#leg.play(scaled)
  }

  #forgetPlayed(): void {
    const played = this.played()
    while (this.#pieces.length > 0 && this.#pieces[0]!.from + this.#pieces[0]!.audio.length <= played)
      this.#pieces.shift()
  }
}
