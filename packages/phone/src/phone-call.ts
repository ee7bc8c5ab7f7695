import { type Ms, msToSamples, NARROWBAND, type Samples, samplesToMs, type Time, type Timer } from '@parley/kernel'
import type { LegEnd, LegEvent, SipCallLeg } from '@parley/leg'
import { SPEECH_BAND, type SpeechToText, type TextToSpeech } from '@parley/providers'
import { CallAudio } from './call-audio.ts'
import { CallTranscriber } from './call-transcriber.ts'
import type { LineDamage } from './caller/line-damage.ts'
import { PhoneError } from './errors.ts'
import { EventLog } from './event-log.ts'
import { FarEndVoice } from './far-end-voice.ts'
import { HeardAudio } from './heard-audio.ts'
import { describePattern } from './heard-pattern.ts'
import type { HeardLine, HeardMatch } from './heard-transcript.ts'
import { PhoneVoice } from './phone-voice.ts'
import { type Resemblance, resemblance } from './resemblance.ts'
import { Waits } from './waits.ts'

const DRAIN_EVERY_MS = 100
/** Default interval at which audio is read while a recogniser listens or a wait is pending. */
const BUSY_DRAIN_EVERY_MS: Ms = 20
const MAX_EVENTS = 20_000
const DEFAULT_WAIT_MS: Ms = 30_000

/** When sent audio was on the line, on the call's sample clock. */
interface Spoken {
  readonly startMs: Ms
  readonly endMs: Ms
}

export interface PhoneCallOptions {
  /** How much of the newest received audio is stored; default 20 minutes. */
  readonly memoryMs?: Ms | undefined
  /** How often audio is read while a recogniser listens or a wait is pending; default 20 ms. */
  readonly readEveryMs?: Ms | undefined
  /** Damage to the audio that this phone sends; default none. */
  readonly damage?: LineDamage | undefined
}

const MEMORY_MS: Ms = 20 * 60_000

/**
 * The phone's side of a call: it speaks, presses keys, hangs up, and stores the audio that it receives; with a recogniser it also
 * transcribes that audio.
 */
export class PhoneCall {
  readonly leg: SipCallLeg
  /** Resolves with the end of the call; never rejects. */
  readonly ended: Promise<LegEnd>
  readonly #time: Time
  readonly #log = new EventLog<LegEvent>(MAX_EVENTS)
  readonly #waits: Waits
  readonly #heard: HeardAudio
  readonly #audio: CallAudio
  readonly #watchers = new Set<() => void>()
  readonly #listeners: ((audio: Int16Array, atSample: Samples) => void)[] = []
  readonly #readEveryMs: Ms
  #drainTimer: Timer | undefined
  #voice: PhoneVoice | null = null
  #transcriber: CallTranscriber | null = null
  readonly #farVoice = new FarEndVoice()

  constructor(
    leg: SipCallLeg,
    time: Time,
    { memoryMs = MEMORY_MS, readEveryMs = BUSY_DRAIN_EVERY_MS, damage }: PhoneCallOptions = {},
  ) {
    this.leg = leg
    this.#time = time
    this.#readEveryMs = readEveryMs
    this.#waits = new Waits(time)
    this.#heard = new HeardAudio(msToSamples(memoryMs, NARROWBAND))
    this.#audio = new CallAudio(leg, time, damage ?? null)
    const end = Promise.withResolvers<LegEnd>()
    this.ended = end.promise
    // Data tones, which simulated voices send also in pauses, are no voice.
    leg.detectVoice({ band: SPEECH_BAND })
    this.#drainLater()
    leg.onEvent(event => {
      this.#log.push(event)
      this.#changed()
      if (event.type !== 'ended') return
      this.#onEnded(event.end)
      end.resolve(event.end)
    })
  }

  /** Events so far, oldest first; at least the newest 20,000. */
  get events(): readonly LegEvent[] {
    return this.#log.events
  }

  /** DTMF digits received so far. */
  get digits(): string {
    return this.events.map(event => (event.type === 'digit' ? event.digit : '')).join('')
  }

  /** All stored audio, 8 kHz, from the far end's first packet on. */
  heard(): Int16Array {
    this.#drain()
    return this.#heard.samples()
  }

  /** How well `speech` (8 kHz) matches part of the received audio. */
  hears(speech: Int16Array): Resemblance {
    return resemblance(speech, this.heard())
  }

  /** Speaks with this voice from now on. `language`: BCP 47. */
  setVoice(voice: TextToSpeech, language: string): void {
    this.#voice = new PhoneVoice(voice, language, this.#time)
  }

  /**
   * Transcribes the received audio from now on. `language`: BCP 47. Throws what `recogniser.open` throws, and
   * "already_listening" on a second call.
   */
  setRecogniser(recogniser: SpeechToText, language: string): void {
    if (this.#transcriber !== null)
      throw new PhoneError('already_listening', 'this call already has a recogniser: call setRecogniser() once')
    this.#drain()
    this.#transcriber = new CallTranscriber(recogniser, language, this.#time, () => this.#changed())
  }

  /** Recognised speech of the far end since `setRecogniser`; empty without it. */
  get heardLines(): readonly HeardLine[] {
    return this.#transcriber?.transcript.lines ?? []
  }

  /** Resolves with the first matching event, past or future. Throws "call_ended" when the call ends first, "wait_timeout" after `timeoutMs`. */
  waitFor<Type extends LegEvent['type']>(
    type: Type,
    timeoutMs: Ms,
    fits: (event: LegEvent & { type: Type }) => boolean = () => true,
  ): Promise<LegEvent & { type: Type }> {
    return this.#nextEvent<Type>(type, 0, timeoutMs, fits)
  }

  /**
   * Waits until the far end speaks (from now on) and then pauses for `pauseMs`. Throws "call_ended" and "wait_timeout"
   * like `waitFor`.
   */
  async untilPause(pauseMs: Ms, timeoutMs: Ms): Promise<void> {
    const voice = this.farVoice()
    const before = voice.pauses
    const paused = () => (voice.pauses > before && voice.quiet >= msToSamples(pauseMs, NARROWBAND) ? true : null)
    await this.#waits.until(paused, timeoutMs, () => `no pause of ${pauseMs} ms after speech`)
  }

  /** Waits until the far end has been silent for `ms`; silence before this call counts. Throws like `waitFor`. */
  async untilAgentQuiet(ms: Ms, timeoutMs: Ms = DEFAULT_WAIT_MS): Promise<void> {
    const voice = this.farVoice()
    const quiet = () => (voice.quiet >= msToSamples(ms, NARROWBAND) ? true : null)
    await this.#waits.until(quiet, timeoutMs, () => `no silence of ${ms} ms`)
  }

  /**
   * Waits until the far end has been talking for `ms`; talk before this call and pauses up to 500 ms count. Throws like
   * `waitFor`.
   */
  async untilAgentTalks(ms: Ms, timeoutMs: Ms = DEFAULT_WAIT_MS): Promise<void> {
    const voice = this.farVoice()
    const talking = () => (voice.talking >= Math.max(1, msToSamples(ms, NARROWBAND)) ? true : null)
    await this.#waits.until(talking, timeoutMs, () => `no speech of ${ms} ms`)
  }

  /**
   * The first match for `pattern` in the far end's speech after `afterMs` of the call's clock, past or future. A string
   * matches whole words, ignoring case and punctuation; a regular expression matches in the text of all lines joined.
   * Throws like `waitFor`; also "not_listening" without `setRecogniser`, "bad_pattern", and the recogniser's own error when
   * it fails.
   */
  async untilHears(pattern: string | RegExp, timeoutMs: Ms, afterMs: Ms = 0): Promise<HeardMatch> {
    return this.#waits.until(
      () => this.find(pattern, afterMs),
      timeoutMs,
      () => `did not hear ${describePattern(pattern)}`,
    )
  }

  /**
   * The first match for `pattern` in the far end's speech so far (see `untilHears`); null: none. Throws "not_listening" without
   * `setRecogniser`, "bad_pattern", and the recogniser's own error when it failed.
   */
  find(pattern: string | RegExp, afterMs: Ms = 0): HeardMatch | null {
    const transcriber = this.#transcriber
    if (transcriber === null)
      throw new PhoneError('not_listening', 'this call has no recogniser: call setRecogniser() first')
    if (transcriber.failure !== null) throw transcriber.failure
    return transcriber.transcript.find(pattern, afterMs)
  }

  /** Calls `listener` with the received audio, 8 kHz, in order. The array is valid during the call only. */
  listen(listener: (audio: Int16Array, atSample: Samples) => void): void {
    this.#listeners.push(listener)
  }

  /**
   * Calls `listener` when audio, words or an event arrived, and at the end of the call. While there is a listener, audio is
   * read at the interval of a call with a recogniser (`readEveryMs`). Returns a function that removes the listener.
   */
  watch(listener: () => void): () => void {
    this.#watchers.add(listener)
    return () => this.#watchers.delete(listener)
  }

  /** Why the call ended, once its last words are transcribed; null until then. */
  get over(): string | null {
    return this.#waits.endReason
  }

  /** Position of the newest received audio on the call's clock. */
  get positionMs(): Ms {
    return samplesToMs(this.#audio.heardPosition(), NARROWBAND)
  }

  get time(): Time {
    return this.#time
  }

  /** Resolves after `ms`. Throws "call_ended" when the call ends first. */
  async wait(ms: Ms): Promise<void> {
    const until = this.#time.now() + ms
    const timer = this.#time.at(until, () => this.#waits.check())
    const passed = () => (this.#time.now() >= until ? true : null)
    await this.#waits.until(passed, 2 * ms + 1000, () => `${ms} ms`).finally(() => timer.cancel())
  }

  /** `text` in the voice of `setVoice`, 8 kHz. Throws "no_voice" without one, and what the voice throws. */
  async render(text: string): Promise<Int16Array> {
    if (this.#voice === null) throw new PhoneError('no_voice', 'this phone has no voice: call setVoice() first')
    return this.#voice.render(text)
  }

  /** Synthesises and sends `text`, and waits until all of it is sent. Throws like `render` and `speak`. */
  async say(text: string): Promise<Spoken> {
    return this.speak(await this.render(text))
  }

  /** Queues `audio` and waits until all of it is sent. Throws "call_ended" when the call ends first. */
  async speak(audio: Int16Array): Promise<Spoken> {
    if (this.leg.state === 'ending' || this.leg.state === 'ended')
      throw new PhoneError('call_ended', 'the call has ended: audio can no longer be sent')
    const position = this.#audio.play(audio)
    const budgetMs = samplesToMs(position - this.#audio.played(), NARROWBAND) + 10_000
    const reached = (event: LegEvent & { type: 'play-progress' }) => this.#audio.position(event.position) >= position
    const left = await this.waitFor('play-progress', budgetMs, reached)
    const end: Samples = this.#audio.position(left.atSample) - (this.#audio.position(left.position) - position)
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

  /** Voice activity of the far end, from its first sound on. */
  farVoice(): FarEndVoice {
    this.#read()
    return this.#farVoice
  }

  #onEnded(end: LegEnd): void {
    this.#drainTimer?.cancel()
    this.#audio.stop()
    this.#drain()
    const endWaits = () => {
      this.#waits.end(end.detail || end.cause)
      this.#changed()
    }
    if (this.#transcriber === null) endWaits()
    else this.#transcriber.end(endWaits)
  }

  #drainLater(): void {
    const isBusy = this.#waits.any || this.#watchers.size > 0 || this.#transcriber !== null
    const every = isBusy ? this.#readEveryMs : DRAIN_EVERY_MS
    this.#drainTimer = this.#time.at(this.#time.now() + every, () => {
      this.#drain()
      if (this.leg.state !== 'ended') this.#drainLater()
    })
  }

  #drain(): void {
    this.#read()
    this.#changed()
  }

  /** Reads the audio that arrived, without a check of waits and watchers: one of them may be asking. */
  #read(): void {
    this.#audio.drain((audio, atSample) => {
      this.#heard.append(audio, atSample)
      for (let edge = this.leg.nextVoiceEdge(); edge !== null; edge = this.leg.nextVoiceEdge()) {
        const at = this.#audio.position(edge.atSample)
        this.#farVoice.noteEdge(edge.type, at)
        this.#transcriber?.noteVoice(edge.type, at)
      }
      this.#farVoice.heard(atSample, audio.length)
      this.#transcriber?.hear(audio, atSample)
      for (const listener of this.#listeners) listener(audio, atSample)
    })
  }

  #changed(): void {
    this.#waits.check()
    for (const watcher of [...this.#watchers]) watcher()
  }
}
