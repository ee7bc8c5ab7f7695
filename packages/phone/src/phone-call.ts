import {
  type Ms,
  msToSamples,
  NARROWBAND,
  ParleyError,
  type Samples,
  samplesToMs,
  type Time,
  type Timer,
} from '@parley/kernel'
import type { CallLeg, LegEnd, LegEvent } from '@parley/leg'
import type { SpeechToText, TextToSpeech } from '@parley/providers'
import { Ear } from './ear.ts'
import { EventLog } from './event-log.ts'
import { FarEndVoice } from './far-end-voice.ts'
import { HeardAudio } from './heard-audio.ts'
import { describePattern } from './heard-pattern.ts'
import type { HeardLine, HeardMatch } from './heard-transcript.ts'
import { PhoneVoice } from './phone-voice.ts'
import { type Resemblance, resemblance } from './resemblance.ts'
import { Waits } from './waits.ts'

const DRAIN_EVERY_MS = 100
/** While somebody listens for words or waits for silence. */
const ATTENTIVE_MS = 20
const MOST_EVENTS = 20_000
const PATIENCE_MS: Ms = 30_000
const RECENT = msToSamples(5000, NARROWBAND)

/** When something was on the line, on the call's sample clock. */
interface Spoken {
  readonly startMs: Ms
  readonly endMs: Ms
}

/**
 * A call as the person on the phone has it: talks, presses keys, holds, hangs up, and remembers everything it heard; with
 * a recogniser it also understands it.
 */
export class PhoneCall {
  readonly leg: CallLeg
  /** Resolves with the end of the call; never rejects. */
  readonly ended: Promise<LegEnd>
  readonly #time: Time
  readonly #log = new EventLog<LegEvent>(MOST_EVENTS)
  readonly #waits: Waits
  readonly #heard: HeardAudio
  readonly #scratch = new Int16Array(msToSamples(1000, NARROWBAND))
  #drainTimer: Timer | undefined
  #voice: PhoneVoice | null = null
  #ear: Ear | null = null
  /** Only where somebody wants to know: judging it costs more than hearing it. */
  #farVoice: FarEndVoice | null = null

  /** `memoryMs` of heard audio are kept at most; default 20 minutes. */
  constructor(leg: CallLeg, time: Time, memoryMs: Ms = 20 * 60_000) {
    this.leg = leg
    this.#time = time
    this.#waits = new Waits(time)
    this.#heard = new HeardAudio(msToSamples(memoryMs, NARROWBAND))
    const end = Promise.withResolvers<LegEnd>()
    this.ended = end.promise
    this.#drainLater()
    leg.onEvent(event => {
      this.#log.push(event)
      this.#waits.check()
      if (event.type !== 'ended') return
      this.#onEnded(event.end)
      end.resolve(event.end)
    })
  }

  /** What happened so far; of very many the newest 20,000. */
  get events(): readonly LegEvent[] {
    return this.#log.events
  }

  /** Digits of the far end so far. */
  get digits(): string {
    return this.events.map(event => (event.type === 'digit' ? event.digit : '')).join('')
  }

  /** Everything heard so far, 8 kHz, from the far end's first packet on. */
  heard(): Int16Array {
    this.#drain()
    return this.#heard.samples()
  }

  /** How surely `said` is in what was heard. */
  hears(said: Int16Array): Resemblance {
    return resemblance(said, this.heard())
  }

  /** Speaks with this voice from now on. `language`: BCP 47. */
  talk(voice: TextToSpeech, language: string): void {
    this.#voice = new PhoneVoice(voice, language, this.#time)
  }

  /**
   * Understands the far end from now on, by what comes down the line alone. `language`: BCP 47. Throws what
   * `recogniser.open` throws, and "already_listening".
   */
  understand(recogniser: SpeechToText, language: string): void {
    if (this.#ear !== null) throw new ParleyError('already_listening', 'a recogniser listens to this call already')
    this.#drain()
    this.#ear = new Ear(recogniser, language, this.#time, () => this.#waits.check())
  }

  /** What the far end said since `understand`; empty without it. */
  get heardLines(): readonly HeardLine[] {
    return this.#ear?.transcript.lines ?? []
  }

  /** The first event that fits, past or to come. Throws "call_ended" when the call ends first, "wait_timeout" after `timeoutMs`. */
  waitFor<Type extends LegEvent['type']>(
    type: Type,
    timeoutMs: Ms,
    fits: (event: LegEvent & { type: Type }) => boolean = () => true,
  ): Promise<LegEvent & { type: Type }> {
    return this.#nextEvent<Type>(type, 0, timeoutMs, fits)
  }

  /**
   * Waits for the far end to speak (from now on) and then to pause for `pauseMs`: the caller's turn. Throws
   * "call_ended" and "wait_timeout" like `waitFor`.
   */
  async untilPause(pauseMs: Ms, timeoutMs: Ms): Promise<void> {
    const voice = this.#listenForVoice()
    const before = voice.pauses
    const paused = () => (voice.pauses > before && voice.quiet >= msToSamples(pauseMs, NARROWBAND) ? true : null)
    await this.#waits.until(paused, timeoutMs, () => `no pause of ${pauseMs} ms behind speech`)
  }

  /** Waits until the far end has been silent for `ms`, what has passed of it counted. Throws like `waitFor`. */
  async untilAgentQuiet(ms: Ms, timeoutMs: Ms = PATIENCE_MS): Promise<void> {
    const voice = this.#listenForVoice()
    const quiet = () => (voice.quiet >= msToSamples(ms, NARROWBAND) ? true : null)
    await this.#waits.until(quiet, timeoutMs, () => `no silence of ${ms} ms`)
  }

  /**
   * Waits until the far end has been talking for `ms`, what has passed of it and pauses up to 500 ms counted. Throws like
   * `waitFor`.
   */
  async untilAgentTalks(ms: Ms, timeoutMs: Ms = PATIENCE_MS): Promise<void> {
    const voice = this.#listenForVoice()
    const talking = () => (voice.talking >= Math.max(1, msToSamples(ms, NARROWBAND)) ? true : null)
    await this.#waits.until(talking, timeoutMs, () => `no talk of ${ms} ms`)
  }

  /**
   * The first place behind `afterMs` of the call's clock where the far end says what fits, past or to come, as soon as it
   * is understood: a string as whole words, whatever their capitals and marks; an expression in the text of all lines
   * together. Throws like `waitFor`; "not_listening" without `understand`, "bad_pattern", and the recogniser's own error
   * when it fails.
   */
  async untilHears(pattern: string | RegExp, timeoutMs: Ms, afterMs: Ms = 0): Promise<HeardMatch> {
    const ear = this.#ear
    if (ear === null)
      throw new ParleyError('not_listening', 'no recogniser listens to this call: understand() comes first')
    let seen = -1
    const find = () => {
      if (ear.failure !== null) throw ear.failure
      if (ear.transcript.revision === seen) return null
      seen = ear.transcript.revision
      return ear.transcript.find(pattern, afterMs)
    }
    return this.#waits.until(find, timeoutMs, () => `did not hear ${describePattern(pattern)}`)
  }

  /** Lets `ms` pass. Throws "call_ended" when the call ends first. */
  async wait(ms: Ms): Promise<void> {
    const until = this.#time.now() + ms
    const timer = this.#time.at(until, () => this.#waits.check())
    const passed = () => (this.#time.now() >= until ? true : null)
    await this.#waits.until(passed, 2 * ms + 1000, () => `${ms} ms`).finally(() => timer.cancel())
  }

  /** `text` in the voice of `talk`, 8 kHz. Throws "no_voice" without one, and what the voice throws. */
  async render(text: string): Promise<Int16Array> {
    if (this.#voice === null) throw new ParleyError('no_voice', 'this phone has no voice: talk() comes first')
    return this.#voice.render(text)
  }

  /** Says `text` and waits until it has left. Throws like `render` and `speak`. */
  async say(text: string): Promise<Spoken> {
    return this.speak(await this.render(text))
  }

  /** Queues `audio` and waits until it has left. Throws "call_ended" when the call ends first. */
  async speak(audio: Int16Array): Promise<Spoken> {
    if (this.leg.state === 'ending' || this.leg.state === 'ended')
      throw new ParleyError('call_ended', 'the call is over: nobody hears it')
    const position = this.leg.play(audio)
    const budgetMs = samplesToMs(position - this.leg.played(), NARROWBAND) + 10_000
    const left = await this.waitFor('play-progress', budgetMs, event => event.position >= position)
    const end: Samples = left.atSample - (left.position - position)
    return { startMs: samplesToMs(end - audio.length, NARROWBAND), endMs: samplesToMs(end, NARROWBAND) }
  }

  async press(digits: string): Promise<void> {
    const before = this.#log.next
    this.leg.sendDigits(digits)
    await this.#nextEvent('digits-sent', before, digits.length * 500 + 5000)
  }

  async hangUp(): Promise<LegEnd> {
    this.leg.hangUp()
    return this.ended
  }

  #nextEvent<Type extends LegEvent['type']>(
    type: Type,
    from: number,
    timeoutMs: Ms,
    fits: (event: LegEvent & { type: Type }) => boolean = () => true,
  ): Promise<LegEvent & { type: Type }> {
    const matches = (event: LegEvent): event is LegEvent & { type: Type } =>
      event.type === type && fits(event as LegEvent & { type: Type })
    let seen = from
    const find = () => {
      const fresh = this.#log.since(seen)
      seen = this.#log.next
      return fresh.find(matches) ?? null
    }
    return this.#waits.until(find, timeoutMs, () => `no "${type}"`)
  }

  /** What the far end did just now counts, whenever somebody begins to ask. */
  #listenForVoice(): FarEndVoice {
    this.#drain()
    if (this.#farVoice === null) {
      const audio = this.#heard.samples(RECENT)
      this.#farVoice = new FarEndVoice()
      this.#farVoice.hear(audio, this.#heard.end - audio.length)
    }
    return this.#farVoice
  }

  #onEnded(end: LegEnd): void {
    this.#drainTimer?.cancel()
    this.#drain()
    const over = () => this.#waits.end(end.detail || end.cause)
    if (this.#ear === null) over()
    else this.#ear.end(over)
  }

  #drainLater(): void {
    const every = this.#waits.any || this.#ear !== null ? ATTENTIVE_MS : DRAIN_EVERY_MS
    this.#drainTimer = this.#time.at(this.#time.now() + every, () => {
      this.#drain()
      if (this.leg.state !== 'ended') this.#drainLater()
    })
  }

  #drain(): void {
    for (let count = this.#scratch.length; count === this.#scratch.length; ) {
      count = this.leg.readHeard(this.#scratch)
      if (count === 0) break
      const audio = this.#scratch.subarray(0, count)
      const atSample = this.leg.heardPosition() - count
      this.#heard.append(audio, atSample)
      this.#farVoice?.hear(audio, atSample)
      this.#ear?.hear(audio, atSample)
    }
    this.#waits.check()
  }
}
