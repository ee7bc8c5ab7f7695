import { msToSamples, NARROWBAND, type Samples } from '@parley/kernel'
import { PITCH_WINDOW, pitchOf } from './pitch.ts'
import type { Prosody } from './protocol.ts'

/** History of about a second: edges become known up to 0.3 s late, and the last 0.6 s are examined. */
const HISTORY: Samples = 8192
const MASK = HISTORY - 1
/** 20 ms. */
const FRAME: Samples = 160
const FRAMES = Math.floor(HISTORY / FRAME)
/** Length of the end that is compared with the whole stretch. */
const END: Samples = msToSamples(200, NARROWBAND)
/** How far before the end voiced sound is searched. */
const MAX_LOOKBACK: Samples = msToSamples(600, NARROWBAND)
/** Shortest stretch that is measured. */
const MIN_STRETCH: Samples = msToSamples(300, NARROWBAND)
/** For the median of the stretch the pitch is estimated once in this many frames; the newest `MAX_PITCHES` count. */
const PITCH_EVERY_FRAMES = 10
const MAX_PITCHES = 64
const MIN_PITCHES = 3
/** A frame below this share of the stretch's mean power is too faint for an estimate of its pitch. */
const FAINT = 0.03
const MIN_POWER = 1

/**
 * Measures how level and pitch fall at the end of each stretch of voice. Input: speech at 8 kHz and the edges that voice activity
 * detects in it; all positions are on one sample clock. The cost of a 20 ms frame is its energy and sometimes one estimate of
 * the pitch.
 */
export class SpeechProsody {
  readonly #samples = new Int16Array(HISTORY)
  readonly #window = new Int16Array(PITCH_WINDOW)
  /** Mean power of the frames in the history, by frame number. */
  readonly #powers = new Float64Array(FRAMES)
  /** The next sample's position, and from where on the history has no gap. */
  #position: Samples = 0
  #validFrom: Samples = 0
  #frameEnergy = 0
  /** The current stretch: its onset, the sum and count of its frames' powers, its pitches with their positions. */
  #onset: Samples | null = null
  #sum = 0
  #count = 0
  #pitches: { readonly hz: number; readonly at: Samples }[] = []

  /** `position`: that of `audio[offset]` on the sample clock; a gap resets the history. */
  push(position: Samples, audio: Int16Array, offset: number, count: Samples): void {
    if (position !== this.#position) this.#restart(position)
    for (let done = 0; done < count; ) {
      const taken = Math.min(count - done, FRAME - (this.#position % FRAME))
      this.#store(audio, offset + done, taken)
      done += taken
      if (this.#position % FRAME === 0) this.#endFrame()
    }
  }

  /** Voice began at `onset`, a little in the past. */
  voiceStarted(onset: Samples): void {
    this.#onset = onset
    this.#sum = 0
    this.#count = 0
    this.#pitches = []
    for (let frame = this.#frameAt(onset); frame < this.#frameAt(this.#position); frame++) this.#add(frame)
  }

  /** Voice ended at `end`, a little in the past. Returns null if the stretch is too short or has a gap. */
  voiceStopped(end: Samples): Prosody | null {
    const onset = this.#onset
    this.#onset = null
    if (onset === null || end - onset < MIN_STRETCH || end - END < this.#validFrom) return null
    for (let frame = this.#frameAt(end); frame < this.#frameAt(this.#position); frame++) this.#subtract(frame)
    const mean = this.#mean()
    let last = 0
    const from = this.#frameAt(end - END)
    const until = Math.max(from + 1, this.#frameAt(end))
    for (let frame = from; frame < until; frame++) last += this.#powerOf(frame)
    const energyFallDb = decibels(mean) - decibels(last / (until - from))
    return { energyFallDb, pitchFallSemitones: this.#pitchFall(onset, end, mean) }
  }

  #pitchFall(onset: Samples, end: Samples, mean: number): number | null {
    const back = Math.max(onset, end - MAX_LOOKBACK, this.#validFrom)
    const last: number[] = []
    for (let at = end; at - PITCH_WINDOW >= back && last.length * FRAME < END; at -= FRAME) {
      const hz = this.#pitchBefore(at, mean)
      if (hz !== null) last.push(hz)
    }
    const all = this.#pitches.filter(({ at }) => at <= end).map(({ hz }) => hz)
    if (last.length < MIN_PITCHES || all.length < MIN_PITCHES) return null
    return 12 * Math.log2(median(all) / median(last))
  }

  #store(audio: Int16Array, offset: number, count: Samples): void {
    const samples = this.#samples
    const first = this.#position & MASK
    let energy = 0
    for (let i = 0; i < count; i++) {
      const sample = audio[offset + i]!
      samples[(first + i) & MASK] = sample
      energy += sample * sample
    }
    this.#frameEnergy += energy
    this.#position += count
  }

  #endFrame(): void {
    const frame = this.#position / FRAME - 1
    this.#powers[frame % FRAMES] = this.#frameEnergy / FRAME
    this.#frameEnergy = 0
    if (this.#onset === null) return
    this.#add(frame)
    if (frame % PITCH_EVERY_FRAMES !== 0) return
    const hz = this.#pitchBefore(this.#position, this.#mean())
    if (hz === null) return
    if (this.#pitches.length >= MAX_PITCHES) this.#pitches.shift()
    this.#pitches.push({ hz, at: this.#position })
  }

  #pitchBefore(end: Samples, mean: number): number | null {
    const from = end - PITCH_WINDOW
    if (from < Math.max(this.#validFrom, this.#position - HISTORY) || end > this.#position) return null
    if (this.#powerOf(this.#frameAt(end - 1)) < mean * FAINT) return null
    for (let i = 0; i < PITCH_WINDOW; i++) this.#window[i] = this.#samples[(from + i) & MASK]!
    return pitchOf(this.#window)
  }

  #restart(position: Samples): void {
    this.#position = position
    this.#validFrom = position
    this.#frameEnergy = 0
    this.#powers.fill(0)
    this.#onset = null
  }

  #add(frame: number): void {
    this.#sum += this.#powerOf(frame)
    this.#count++
  }

  #subtract(frame: number): void {
    this.#sum -= this.#powerOf(frame)
    this.#count--
  }

  #mean(): number {
    return this.#sum / Math.max(1, this.#count)
  }

  /** Power of a frame in the history; 0 for any other. */
  #powerOf(frame: number): number {
    const newest = this.#frameAt(this.#position) - 1
    return frame > newest || frame <= newest - FRAMES ? 0 : this.#powers[frame % FRAMES]!
  }

  #frameAt(position: Samples): number {
    return Math.max(0, Math.floor(position / FRAME))
  }
}

function decibels(power: number): number {
  return 10 * Math.log10(Math.max(power, MIN_POWER))
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
