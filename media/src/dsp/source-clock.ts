import { type AudioFormat, type Ms, msToSamples, NARROWBAND, type RtpTicks, type Samples } from '@parley/kernel'
import { wordsClass } from '../page/words.ts'
import { ClockSkew } from './clock-skew.ts'

/** Result of `admit` for a packet whose place has been filled already. */
export const TOO_LATE = -0x4000_0000
/** Result of `admit` for a packet that lies too far ahead of its time. */
export const TOO_EARLY = -0x4000_0001

/** Audio may run ahead of its time by this (a first packet that was delayed sets the clock late). */
const MAX_AHEAD_MS: Ms = 200
/** A step back in the timestamps of later packets that no sender makes on one clock. */
const STEP_BACK_MS: Ms = 60
/** When everything has come too late for this long, the sender's clock has moved. */
const LATE_RUN_MS = 100
/** Skew is corrected in quiet packets; from this on in any. */
const SKEW_FORCED_MS: Ms = 12
const MAX_INSERTED_MS: Ms = 60
/** -41 dBFS. */
const QUIET_PEAK = 300

/** Audio with the timestamp `timestamp` has the position `position`. `lateSince`: NaN while packets come in time. */
export const ClockWords = wordsClass(
  'anchored',
  'clockRate',
  'timestamp',
  'position',
  'lateSince',
  'anchors',
  'skewCorrection',
)

/**
 * Where one source's timestamps lie on the session's sample clock: the first packet at the moment it arrived, the others by
 * their timestamps, with skew corrected in small steps and a new start where the source's clock moved.
 */
export class SourceClock {
  readonly #skew: ClockSkew
  readonly #sampleRateHz: number
  readonly #state: InstanceType<typeof ClockWords>
  readonly #maxAhead: Samples
  readonly #stepBack: Samples
  readonly #skewForced: Samples
  readonly #maxInserted: Samples

  /** The RTP clock rate is 8000 Hz until `use`. */
  constructor(format: AudioFormat = NARROWBAND, memory?: Float64Array, skewMemory?: Float64Array) {
    this.#sampleRateHz = format.sampleRateHz
    this.#state = new ClockWords(memory)
    this.#state.clockRate = 8000
    this.#state.lateSince = Number.NaN
    this.#maxAhead = msToSamples(MAX_AHEAD_MS, format)
    this.#stepBack = msToSamples(STEP_BACK_MS, format)
    this.#skewForced = msToSamples(SKEW_FORCED_MS, format)
    this.#maxInserted = msToSamples(MAX_INSERTED_MS, format)
    this.#skew = new ClockSkew(format, skewMemory)
  }

  /** How often a packet was placed by its time of arrival: first packets, and jumps of the sender's clock. */
  get anchors(): number {
    return this.#state.anchors
  }

  /** Samples inserted less samples removed. */
  get skewCorrection(): Samples {
    return this.#state.skewCorrection
  }

  get anchored(): boolean {
    return this.#state.anchored !== 0
  }

  /** Position of `timestamp`; defined only once `anchored`. */
  place(timestamp: RtpTicks): Samples {
    return this.#state.position + this.#samplesSince(timestamp)
  }

  /** The next packets count at this RTP clock rate, Hz. A change ends the relation of timestamps to positions. */
  use(clockRate: number): void {
    if (clockRate === this.#state.clockRate) return
    this.#state.clockRate = clockRate
    this.#state.anchored = 0
  }

  /** The next packet is the first of another source. */
  forget(): void {
    this.#state.anchored = 0
  }

  /**
   * Position of the next packet in sequence, or TOO_LATE or TOO_EARLY. `arrival`: the sample-clock position at which it
   * arrived; `filledTo`: the position up to which the stream is filled.
   */
  admit(
    timestamp: RtpTicks,
    audio: Int16Array,
    count: Samples,
    arrival: Samples,
    arrivedAt: Ms,
    filledTo: Samples,
  ): Samples {
    if (!this.anchored || this.#samplesSince(timestamp) < -this.#stepBack) this.#anchor(timestamp, arrival, filledTo)
    let place = this.place(timestamp)
    if (place + count <= filledTo) {
      if (Number.isNaN(this.#state.lateSince)) this.#state.lateSince = arrivedAt
      if (arrivedAt - this.#state.lateSince < LATE_RUN_MS) return TOO_LATE
      place = this.#anchor(timestamp, arrival, filledTo)
    }
    if (place - arrival > this.#maxAhead) {
      if (filledTo - arrival > this.#maxAhead) return TOO_EARLY
      place = this.#anchor(timestamp, arrival, filledTo)
    }
    this.#state.lateSince = Number.NaN
    this.#skew.observe(arrival - place, arrivedAt)
    if (this.#skew.due !== 0) place += this.#correction(audio, count)
    this.#state.timestamp = timestamp
    this.#state.position = place
    return place
  }

  #samplesSince(timestamp: RtpTicks): Samples {
    return Math.round((((timestamp - this.#state.timestamp) | 0) * this.#sampleRateHz) / this.#state.clockRate)
  }

  #anchor(timestamp: RtpTicks, arrival: Samples, filledTo: Samples): Samples {
    this.#state.anchored = 1
    this.#state.anchors++
    this.#state.timestamp = timestamp
    this.#state.position = Math.max(arrival, filledTo)
    this.#state.lateSince = Number.NaN
    this.#skew.restart()
    return this.#state.position
  }

  #correction(audio: Int16Array, count: Samples): Samples {
    const { due } = this.#skew
    if (Math.abs(due) < this.#skewForced && !isQuiet(audio, count)) return 0
    const step = due > 0 ? Math.min(due, this.#maxInserted) : Math.max(due, -(count >> 1))
    this.#skew.corrected(step)
    this.#state.skewCorrection += step
    return step
  }
}

function isQuiet(audio: Int16Array, count: Samples): boolean {
  for (let i = 0; i < count; i++) if (audio[i]! > QUIET_PEAK || audio[i]! < -QUIET_PEAK) return false
  return true
}
