import type { SpokenPiece } from '@parley/conversation'
import { type Ms, msToSamples, type ParleyError, type Samples, samplesToMs } from '@parley/kernel'
import type { LegEvent } from '@parley/leg'
import { OWN_SPEECH_WORD_MS, OwnSpeech } from './own-speech.ts'
import type { Playout } from './playout.ts'
import { SentenceStream } from './sentence-stream.ts'
import { heardUpTo, newSentence, type Sentence } from './utterance-audio.ts'
import { type Voices, voiceError } from './voices.ts'

/** Gain while the caller may be interrupting. */
const DUCKED = 0.3
/** Longest audio that is synthesised ahead of playout. */
const RENDER_AHEAD_MS: Ms = 30_000
/** Longest text of one synthesis request, in characters. */
const MAX_SENTENCE = 4096

/** Result of a speech. Times are on the call's sample clock. */
export interface SpeechReport {
  readonly heard: string
  readonly interrupted: boolean
  /** Null if nothing was played. */
  readonly span: { readonly start_ms: Ms; readonly end_ms: Ms } | null
}

export interface SpeechOutputListeners {
  /** True from the first sample of a speech to the last of all queued speeches, pauses included. */
  readonly onSpeaking: (speaking: boolean) => void
  /** Whether there are speeches that were not played to their end, and whether sound is on the line now. */
  readonly onPending?: (pending: boolean) => void
  readonly onSound?: (on: boolean) => void
  /** Called once per speech. */
  readonly onSpoken: (speechId: string, report: SpeechReport) => void
  /** The first sample of a speech was sent. */
  readonly onAudible: (speechId: string, atSample: Samples) => void
  /** A sentence was requested from the voice ("asked"), or its first audio arrived ("answered"). */
  readonly onVoice: (speechId: string, step: 'asked' | 'answered') => void
  /** No voice is left; nothing more is said until the owner begins a new speech. */
  readonly onFailure: (error: ParleyError) => void
}

interface Speech {
  readonly id: string
  /** Sentences for the voice, and what the model speaks itself. */
  readonly waiting: (string | OwnSpeech)[]
  /** What the model speaks itself; null: a voice speaks. */
  own: OwnSpeech | null
  readonly text: SentenceStream
  readonly sentences: Sentence[]
  readonly cancel: AbortController
  /** Its text is complete. */
  ended: boolean
  /** All of its audio is in the playout queue. */
  rendered: boolean
  rendering: boolean
  startSample: Samples | null
  readonly isHolding: boolean
  /** A sentence was sent to the voice, and no audio of it has come. */
  isWaitingForVoice: boolean
}

/** Speaks streamed text, one speech after the other, and reports for each what the caller heard of it. */
export class SpeechOutput {
  readonly #playout: Playout
  readonly #voices: Voices
  readonly #holdingVoices: Voices
  readonly #listeners: SpeechOutputListeners
  #speeches: Speech[] = []
  #speed = 1
  #speaking = false
  #isPending = false
  #isSounding = false
  #room: PromiseWithResolvers<void> | null = null
  /** Resolves when the holding line that is being rendered is complete. */
  #held: PromiseWithResolvers<void> | null = null

  /** `holdingVoices`: speak the holding lines; default `voices`. */
  constructor(playout: Playout, voices: Voices, listeners: SpeechOutputListeners, holdingVoices = voices) {
    this.#playout = playout
    this.#voices = voices
    this.#holdingVoices = holdingVoices
    this.#listeners = listeners
  }

  /** 0.5 to 2; applies to sentences that are not synthesised yet. */
  setSpeed(speed: number): void {
    this.#speed = speed
  }

  /** The caller waits for the voice. */
  get isWaitingForVoice(): boolean {
    return this.#speeches.some(speech => speech.isWaitingForVoice && !speech.isHolding)
  }

  /** Whether a speech is queued or playing. */
  get busy(): boolean {
    return this.#speeches.length > 0
  }

  /** `isHolding`: the speech is a holding line, which is played before the speeches that are not audible yet. */
  begin(id: string, { isHolding = false } = {}): void {
    const speech: Speech = {
      id,
      waiting: [],
      own: null,
      text: new SentenceStream(),
      sentences: [],
      cancel: new AbortController(),
      ended: false,
      rendered: false,
      rendering: false,
      startSample: null,
      isHolding,
      isWaitingForVoice: false,
    }
    // A holding line of which nothing is audible will do.
    if (isHolding && (this.#isSounding || this.#speeches.some(other => other.isHolding))) return this.#skip(id)
    if (isHolding) this.#speeches.unshift(speech)
    else this.#speeches.push(speech)
    this.#notePending()
  }

  say(id: string, delta: string): void {
    const speech = this.#find(id)
    if (speech === undefined) return
    speech.waiting.push(...speech.text.push(delta))
    this.#renderNext()
  }

  /** Plays a piece that the model speaks itself. */
  play(id: string, { delta, samples, speech: own }: SpokenPiece): void {
    const speech = this.#find(id)
    if (speech === undefined) return
    if (speech.own === null) {
      speech.own = new OwnSpeech(own, this.#playout.format)
      speech.waiting.push(speech.own)
    }
    speech.own.push(delta, samples)
    this.#renderNext()
  }

  end(id: string): void {
    const speech = this.#find(id)
    if (speech === undefined) return
    const rest = speech.text.flush()
    if (rest !== null) speech.waiting.push(rest)
    speech.own?.end()
    speech.ended = true
    this.#renderNext()
    this.#settle()
  }

  /** Drops the rest of one speech. If its audio is already queued, all later speeches are dropped with it. */
  withdraw(id: string): void {
    const speech = this.#find(id)
    if (speech === undefined) return
    if (speech.sentences.length > 0) return this.cut()
    this.#speeches = this.#speeches.filter(other => other !== speech)
    speech.cancel.abort()
    speech.own?.heard(0, '')
    this.#listeners.onSpoken(id, { heard: '', interrupted: true, span: null })
    this.#settle()
    this.#notePending()
  }

  /** Stops at once and drops all speeches. */
  cut(): void {
    const position = this.#playout.drop()
    const cut = this.#speeches
    this.#speeches = []
    for (const speech of cut) speech.cancel.abort()
    this.#room?.resolve()
    this.#held?.resolve()
    this.#setSpeaking(false)
    this.#setSounding(false)
    this.#notePending()
    for (const speech of cut) this.#listeners.onSpoken(speech.id, this.#reportAt(speech, position, true))
  }

  /** Says a backchannel word, which is not a speech. Dropped while a speech is queued or playing. */
  interject(text: string): void {
    if (this.busy) return
    void this.#interject(text, new AbortController().signal).catch(() => {})
  }

  duck(on: boolean): void {
    this.#playout.setGain(on ? DUCKED : 1)
  }

  pause(): void {
    this.#playout.pause()
  }

  resume(): void {
    this.#playout.setGain(1)
    this.#playout.resume()
    this.#settle()
  }

  /** Call it with each play-progress event of the leg. */
  onProgress(event: LegEvent & { type: 'play-progress' }): void {
    this.#playout.onProgress(event)
    this.#noteStart()
    // Enqueued audio is no sound yet: a line that does not send it is silent to the caller.
    if (!this.#playout.paused) this.#setSounding(this.#playout.played() < this.#playout.end)
    if (this.#hasRoom) this.#room?.resolve()
    // A speech ends with the report of its end: before that, its place on the sample clock is not known.
    this.#settle(this.#playout.reported)
  }

  /** Notes the start of speeches whose first sample is reported as played. */
  #noteStart(): void {
    const { reported } = this.#playout
    for (const speech of this.#speeches) {
      const from = speech.sentences[0]?.from
      if (from === undefined || speech.startSample !== null || reported <= from) continue
      speech.startSample = this.#playout.sampleOf(from)
      if (!speech.isHolding) this.#listeners.onAudible(speech.id, speech.startSample)
    }
  }

  /** Reports speeches that were played to their end. */
  #settle(played = this.#playout.played()): void {
    for (;;) {
      const speech = this.#speeches[0]
      if (speech === undefined || !speech.rendered || this.#playout.paused) break
      const last = speech.sentences.at(-1)
      if (last !== undefined && last.from + last.samples > played) break
      this.#noteStart()
      this.#speeches.shift()
      if (this.#speeches.length === 0) this.#setSpeaking(false)
      this.#notePending()
      this.#listeners.onSpoken(speech.id, this.#reportAt(speech, played, false))
    }
    this.#renderNext()
  }

  #reportAt(speech: Speech, position: Samples, interrupted: boolean): SpeechReport {
    const heard = heardUpTo(speech.sentences, position, this.#playout.format)
    this.#reportOwn(speech, position, heard)
    const first = speech.sentences[0]
    const last = speech.sentences.at(-1)
    if (first === undefined || last === undefined || position <= first.from) return { heard, interrupted, span: null }
    const end = Math.min(position, last.from + last.samples)
    const start = speech.startSample ?? this.#playout.sampleOf(first.from)
    const span = {
      start_ms: Math.round(samplesToMs(start, this.#playout.format)),
      end_ms: Math.round(samplesToMs(Math.max(start, this.#playout.sampleOf(end)), this.#playout.format)),
    }
    return { heard, interrupted, span }
  }

  /** Tells the model how much of what it spoke itself was played. */
  #reportOwn({ own, sentences }: Speech, position: Samples, heard: string): void {
    if (own === null) return
    const spoken = sentences.find(({ wordMs }) => wordMs !== null)
    const played = spoken === undefined ? 0 : Math.max(0, Math.min(position - spoken.from, spoken.samples))
    own.heard(samplesToMs(played, this.#playout.format), heard)
  }

  /** One sentence is synthesised at a time, in order, ahead of playout. */
  #renderNext(): void {
    for (const speech of this.#speeches) {
      if (speech.rendered) continue
      if (speech.rendering) return
      const next = speech.waiting.shift()
      if (next !== undefined) return void this.#render(speech, next)
      if (!speech.ended) return
      speech.rendered = true
      if (speech === this.#speeches[0]) queueMicrotask(() => this.#settle())
    }
  }

  async #render(speech: Speech, next: string | OwnSpeech): Promise<void> {
    speech.rendering = true
    const { signal } = speech.cancel
    try {
      await this.#roomToEnqueue()
      if (signal.aborted) return
      const own = typeof next === 'string' ? null : next
      const text = typeof next === 'string' ? next.slice(0, MAX_SENTENCE) : ''
      const sentence = newSentence(text, this.#playout.end, own === null ? null : OWN_SPEECH_WORD_MS)
      // A holding line is no answer.
      const isAnswer = !speech.isHolding
      if (isAnswer) this.#listeners.onVoice(speech.id, 'asked')
      speech.isWaitingForVoice = true
      const voices = speech.isHolding ? this.#holdingVoices : this.#voices
      const chunks = own === null ? voices.render(text, this.#speed, signal) : own.chunks(signal)
      for await (const { samples, words } of chunks) {
        if (own !== null) await this.#roomToEnqueue()
        if (signal.aborted) return
        if (own !== null) sentence.text = own.text
        speech.isWaitingForVoice = false
        if (sentence.samples === 0) {
          if (isAnswer) await this.#afterHolding()
          if (signal.aborted) return
          sentence.from = this.#playout.end
          speech.sentences.push(sentence)
          if (isAnswer) this.#listeners.onVoice(speech.id, 'answered')
        }
        sentence.words.push(...words)
        if (samples.length === 0) continue
        this.#playout.enqueue(samples)
        this.#setSpeaking(true)
        sentence.samples += samples.length
      }
      if (own !== null) sentence.text = own.text
      sentence.complete = true
    } catch (error) {
      if (!signal.aborted && speech.isHolding) this.#drop(speech)
      else if (!signal.aborted) this.#fail(error)
    } finally {
      speech.rendering = false
      speech.isWaitingForVoice = false
      if (speech.isHolding) this.#held?.resolve()
    }
    if (!signal.aborted) this.#settle()
  }

  /** A holding line without audio is dropped, since the answer is here; one that is being rendered is finished first. */
  async #afterHolding(): Promise<void> {
    const holding = this.#speeches.find(({ isHolding, rendered }) => isHolding && !rendered)
    if (holding === undefined) return
    if (holding.sentences.length === 0) return this.#drop(holding)
    if (!holding.rendering) return
    this.#held = Promise.withResolvers()
    await this.#held.promise
  }

  #skip(id: string): void {
    queueMicrotask(() => this.#listeners.onSpoken(id, { heard: '', interrupted: false, span: null }))
  }

  #drop(speech: Speech): void {
    this.#speeches = this.#speeches.filter(other => other !== speech)
    speech.cancel.abort()
    this.#skip(speech.id)
    this.#notePending()
  }

  async #interject(text: string, signal: AbortSignal): Promise<void> {
    for await (const { samples } of this.#voices.render(text, this.#speed, signal)) {
      if (this.busy) return
      if (samples.length === 0) continue
      this.#playout.enqueue(samples)
    }
  }

  get #hasRoom(): boolean {
    const { end, format } = this.#playout
    return end - this.#playout.played() < msToSamples(RENDER_AHEAD_MS, format)
  }

  async #roomToEnqueue(): Promise<void> {
    while (!this.#hasRoom) {
      this.#room = Promise.withResolvers()
      await this.#room.promise
      this.#room = null
    }
  }

  #fail(error: unknown): void {
    this.#listeners.onFailure(voiceError(error))
  }

  #notePending(): void {
    if (this.busy === this.#isPending) return
    this.#isPending = this.busy
    this.#listeners.onPending?.(this.#isPending)
  }

  #setSounding(on: boolean): void {
    if (on === this.#isSounding) return
    this.#isSounding = on
    this.#listeners.onSound?.(on)
  }

  #setSpeaking(speaking: boolean): void {
    if (speaking === this.#speaking) return
    this.#speaking = speaking
    this.#listeners.onSpeaking(speaking)
  }

  #find(id: string): Speech | undefined {
    return this.#speeches.find(speech => speech.id === id)
  }
}
