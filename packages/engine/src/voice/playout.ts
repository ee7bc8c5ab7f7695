import { type AudioFormat, type Ms, msToSamples, type Samples } from '@parley/kernel'
import type { CallLeg, LegEvent } from '@parley/leg'

/** Volume changes gradually, without a click. */
const RAMP_MS: Ms = 20

type PlayoutLeg = Pick<CallLeg, 'format' | 'play' | 'flush' | 'played'>

interface Piece {
  readonly audio: Int16Array
  /** Position in the stream of all audio ever enqueued; pauses do not change it. */
  readonly from: Samples
}

/**
 * Playout queue of the agent's audio, in the format of the call. Positions count samples of the enqueued
 * stream. `pause` flushes what the leg has not sent and `resume` sends it again from exactly that sample; ducking sends
 * it again at another volume.
 */
export class Playout {
  readonly #leg: PlayoutLeg
  readonly #ramp: Samples
  readonly #pieces: Piece[] = []
  #end: Samples = 0
  /** Position in the stream that corresponds to playout position 0 of the leg. */
  #base: Samples = 0
  #paused = false
  #pausedAt: Samples = 0
  #gain = 1
  #volume: number
  /** A position and its place on the sample clock, from the leg's last progress event. */
  #anchor: { readonly position: Samples; readonly atSample: Samples } | null = null

  /** `volume` 0 to 2. */
  constructor(leg: PlayoutLeg, volume = 1) {
    this.#leg = leg
    this.#ramp = msToSamples(RAMP_MS, leg.format)
    this.#volume = volume
    this.#base = -leg.played()
  }

  /** Format of the enqueued audio and of the call's sample clock, to which `sampleOf` refers. */
  get format(): AudioFormat {
    return this.#leg.format
  }

  get paused(): boolean {
    return this.#paused
  }

  /** Position of the end of the stream. */
  get end(): Samples {
    return this.#end
  }

  /** Position up to which the stream was sent. */
  played(): Samples {
    if (this.#paused) return this.#pausedAt
    return Math.min(this.#end, this.#leg.played() + this.#base)
  }

  /**
   * Position up to which the leg's reports place the stream on the sample clock. A report may come late: `played` is ahead of it, and
   * `sampleOf` knows of no pause in between.
   */
  get reported(): Samples {
    return this.#anchor?.position ?? 0
  }

  /** Appends audio; returns the position at which it begins. */
  enqueue(audio: Int16Array): Samples {
    const from = this.#end
    this.#end += audio.length
    const piece = { audio, from }
    this.#pieces.push(piece)
    if (!this.#paused) this.#send(piece, 0, false)
    this.#dropPlayed()
    return from
  }

  pause(): void {
    if (this.#paused) return
    this.#flushUnsent()
    this.#paused = true
  }

  /** Continues at the first sample that was not played. */
  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#resend(false)
  }

  /** Volume of audio that is not sent yet; 1 is full. */
  setGain(gain: number): void {
    if (gain === this.#gain) return
    const before = this.#gain
    this.#gain = gain
    if (this.#paused || this.played() >= this.#end) return
    this.#flushUnsent()
    this.#resend(true, before)
  }

  /** Drops audio that was not sent; returns the position up to which it was. */
  drop(): Samples {
    if (!this.#paused) this.#flushUnsent()
    const position = this.#pausedAt
    this.#paused = false
    this.#gain = 1
    this.#pieces.length = 0
    this.#end = position
    this.#base = position - this.#leg.played()
    return position
  }

  onProgress(event: LegEvent & { type: 'play-progress' }): void {
    if (this.#paused) return
    const position = Math.min(event.position + this.#base, this.#end)
    const expected = this.#anchor === null ? Infinity : this.sampleOf(position)
    // The event of an empty queue comes one packet after the end of its audio.
    const atSample = event.idle ? Math.min(event.atSample, expected) : event.atSample
    this.#anchor = { position, atSample }
    this.#dropPlayed()
  }

  /** Place on the call's sample clock of a played position, extrapolated from the last progress event. */
  sampleOf(position: Samples): Samples {
    const { position: known, atSample } = this.#anchor ?? { position: 0, atSample: 0 }
    return Math.max(0, atSample + position - known)
  }

  #flushUnsent(): void {
    this.#pausedAt = Math.min(this.#leg.flush() + this.#base, this.#end)
  }

  #resend(ramp: boolean, fromGain = this.#gain): void {
    this.#base = this.#pausedAt - this.#leg.played()
    let first = ramp
    for (const piece of this.#pieces) {
      const skip = Math.max(0, this.#pausedAt - piece.from)
      if (skip >= piece.audio.length) continue
      this.#send(piece, skip, first, fromGain)
      first = false
    }
    this.#dropPlayed()
  }

  #send(piece: Piece, skip: Samples, ramp: boolean, fromGain = this.#gain): void {
    const audio = piece.audio.subarray(skip)
    const gain = this.#gain * this.#volume
    if (gain === 1 && !ramp) return void this.#leg.play(audio)
    const scaled = new Int16Array(audio.length)
    const before = fromGain * this.#volume
    const length = this.#ramp
    for (let i = 0; i < audio.length; i++) {
      const now = ramp && i < length ? before + ((gain - before) * i) / length : gain
      scaled[i] = Math.max(-32_768, Math.min(32_767, Math.round(audio[i]! * now)))
    }
    this.#leg.play(scaled)
  }

  #dropPlayed(): void {
    const played = this.played()
    while (this.#pieces.length > 0 && this.#pieces[0]!.from + this.#pieces[0]!.audio.length <= played)
      this.#pieces.shift()
  }
}
