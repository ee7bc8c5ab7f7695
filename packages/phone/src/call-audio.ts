import { type AudioFormat, type Ms, msToSamples, NARROWBAND, type Samples, type Time, type Timer } from '@parley/kernel'
import type { SipCallLeg } from '@parley/leg'
import { FormatConverter, Resampler, resample } from '@parley/media'
import { DAMAGE_FRAME, type LineDamage } from './caller/line-damage.ts'

const PUMP_EVERY_MS: Ms = 20
/** Damaged audio that waits in the leg: as much as a late timer may need. */
const AHEAD: Samples = 3 * DAMAGE_FRAME
/** Most audio of one conversion. */
const CONVERTED_MS: Ms = 60

/**
 * The audio of a call in both directions, always mono of 8 kHz and with positions on a clock of that rate, whatever the format of
 * the leg. With `damage` the line is never silent: every 20 ms a frame passes through the damage.
 */
export class CallAudio {
  readonly #leg: SipCallLeg
  readonly #time: Time
  readonly #ratio: number
  readonly #converter: FormatConverter
  readonly #scratch: Int16Array
  readonly #pump: DamagePump | null
  #pumpTimer: Timer | undefined

  constructor(leg: SipCallLeg, time: Time, damage: LineDamage | null) {
    this.#leg = leg
    this.#time = time
    this.#ratio = leg.format.sampleRateHz / NARROWBAND.sampleRateHz
    this.#converter = new FormatConverter(leg.format, NARROWBAND)
    this.#scratch = new Int16Array(msToSamples(this.#ratio === 1 ? 1000 : CONVERTED_MS, leg.format))
    this.#pump = damage === null ? null : new DamagePump(leg, damage, leg.format)
    if (this.#pump !== null) this.#pumpLater(this.#pump)
  }

  /** Queues audio; returns the playout position at which it ends. */
  play(audio: Int16Array): Samples {
    if (this.#pump !== null) return this.#pump.play(audio)
    if (this.#ratio === 1) return this.#leg.play(audio)
    const { sampleRateHz } = this.#leg.format
    return this.#leg.play(resample(audio, NARROWBAND.sampleRateHz, sampleRateHz)) / this.#ratio
  }

  /** Playout position so far. */
  played(): Samples {
    return this.#leg.played() / this.#ratio
  }

  /** A position of the leg's events on the clock of 8 kHz. */
  position(ofLeg: Samples): Samples {
    return Math.round(ofLeg / this.#ratio)
  }

  /** Position of the next sample that `drain` delivers. */
  heardPosition(): Samples {
    return this.position(this.#leg.heardPosition())
  }

  /** Delivers the audio that arrived since the last call. The array is valid during the callback only. */
  drain(deliver: (audio: Int16Array, atSample: Samples) => void): void {
    for (let count = this.#scratch.length; count === this.#scratch.length; ) {
      count = this.#leg.readHeard(this.#scratch)
      if (count === 0) return
      this.#converted(this.#leg.heardPosition() - count, count, deliver)
    }
  }

  stop(): void {
    this.#pumpTimer?.cancel()
  }

  #converted(atSample: Samples, count: Samples, deliver: (audio: Int16Array, atSample: Samples) => void): void {
    let heard = this.#scratch.subarray(0, count)
    let at = atSample
    if (this.#ratio !== 1) {
      this.#converter.push(atSample, this.#scratch, count)
      heard = this.#converter.samples.subarray(0, this.#converter.count)
      at = this.#converter.position
    }
    this.#pump?.hear(heard)
    deliver(heard, at)
  }

  #pumpLater(pump: DamagePump): void {
    this.#pumpTimer = this.#time.at(this.#time.now() + PUMP_EVERY_MS, () => {
      pump.feed()
      if (this.#leg.state !== 'ended') this.#pumpLater(pump)
    })
  }
}

/** Feeds a leg with damaged frames, a few ahead of its playout. */
class DamagePump {
  readonly #leg: SipCallLeg
  readonly #damage: LineDamage
  readonly #resampler: Resampler | null
  readonly #ratio: number
  readonly #frame = new Int16Array(DAMAGE_FRAME)
  readonly #heard = new Int16Array(DAMAGE_FRAME)
  readonly #wide: Int16Array
  #waiting: Int16Array[] = []
  #waitingSamples: Samples = 0
  /** Received audio that has not passed yet, for the echo. */
  #received: Int16Array[] = []
  #fed: Samples = 0

  constructor(leg: SipCallLeg, damage: LineDamage, format: AudioFormat) {
    this.#leg = leg
    this.#damage = damage
    this.#ratio = format.sampleRateHz / NARROWBAND.sampleRateHz
    this.#resampler =
      this.#ratio === 1 ? null : new Resampler(NARROWBAND.sampleRateHz, format.sampleRateHz, DAMAGE_FRAME)
    this.#wide = new Int16Array(DAMAGE_FRAME * this.#ratio + 1)
  }

  play(audio: Int16Array): Samples {
    this.#waiting.push(audio)
    this.#waitingSamples += audio.length
    return this.#fed + this.#waitingSamples
  }

  hear(audio: Int16Array): void {
    this.#received.push(audio.slice())
    // Reading pauses while the timers are late; the echo needs the newest second only.
    if (this.#received.length > 50) this.#received.shift()
  }

  feed(): void {
    if (this.#leg.state !== 'active') return
    while (this.#fed - this.#leg.played() / this.#ratio < AHEAD) {
      this.#waitingSamples -= take(this.#waiting, this.#frame)
      take(this.#received, this.#heard)
      const out = this.#damage.pass(this.#frame, this.#heard)
      this.#fed += DAMAGE_FRAME
      if (this.#resampler === null) this.#leg.play(out)
      else this.#leg.play(this.#wide.slice(0, this.#resampler.process(out, 0, out.length, this.#wide, 0)))
    }
  }
}

/** Fills `into` from the beginning of `chunks`, then with silence; returns how many samples it took. */
function take(chunks: Int16Array[], into: Int16Array): Samples {
  let filled = 0
  while (filled < into.length) {
    const first = chunks[0]
    if (first === undefined) break
    const count = Math.min(first.length, into.length - filled)
    into.set(first.subarray(0, count), filled)
    filled += count
    if (count === first.length) chunks.shift()
    else chunks[0] = first.subarray(count)
  }
  into.fill(0, filled)
  return filled
}
