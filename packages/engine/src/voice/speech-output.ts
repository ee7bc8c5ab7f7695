import { type Ms, ParleyError, type Samples, samplesToMs } from '@parley/kernel'
import type { LegEvent } from '@parley/leg'
import type { Playout } from './playout.ts'
import { SentenceStream } from './sentence-stream.ts'
import { heardUpTo, newSentence, type Sentence } from './utterance-audio.ts'
import type { Voices } from './voices.ts'

/** Share of the volume while the caller may be interrupting. */
const DUCKED = 0.3
/** More than this is not rendered ahead of what is heard. */
const RENDER_AHEAD: Samples = 30 * 8000
/** SideEffects in one piece at most: a voice takes no more. */
const MAX_SENTENCE = 4096

/** What became of a speech, on the call's sample clock. */
export interface SpeechReport {
  readonly heard: string
  readonly interrupted: boolean
  /** Null where nothing was heard. */
  readonly span: { readonly start_ms: Ms; readonly end_ms: Ms } | null
}

export interface SpeechOutputListeners {
  /** From the first sample of a speech to the last of all that is queued; also while it is paused. */
  readonly onSpeaking: (speaking: boolean) => void
  /** Each speech gets this once. */
  readonly onSpoken: (speechId: string, report: SpeechReport) => void
  /** The first sample of a speech has left. */
  readonly onAudible: (speechId: string, atSample: Samples) => void
  /** A sentence was handed to the voice, and its first audio came. */
  readonly onVoice: (speechId: string, step: 'asked' | 'answered') => void
  /** No voice can say it; nothing more is said until the owner begins anew. */
  readonly onFailure: (error: ParleyError) => void
}

interface Speech {
  readonly id: string
  readonly waiting: string[]
  readonly text: SentenceStream
  readonly sentences: Sentence[]
  readonly cancel: AbortController
  /** No more text comes. */
  ended: boolean
  /** Everything it says is laid. */
  rendered: boolean
  rendering: boolean
  startSample: Samples | null
}

/** Speaks: text comes in pieces, one speech after the other, and each is reported with what was heard of it. */
export class SpeechOutput {
  readonly #playout: Playout
  readonly #voices: Voices
  readonly #listeners: SpeechOutputListeners
  #speeches: Speech[] = []
  #speed = 1
  #speaking = false
  #room: PromiseWithResolvers<void> | null = null

  constructor(playout: Playout, voices: Voices, listeners: SpeechOutputListeners) {
    this.#playout = playout
    this.#voices = voices
    this.#listeners = listeners
  }

  /** 0.5 to 2, for sentences that are not rendered yet. */
  setSpeed(speed: number): void {
    this.#speed = speed
  }

  /** Something is to be said that was not heard out yet. */
  get busy(): boolean {
    return this.#speeches.length > 0
  }

  begin(id: string): void {
    this.#speeches.push({
      id,
      waiting: [],
      text: new SentenceStream(),
      sentences: [],
      cancel: new AbortController(),
      ended: false,
      rendered: false,
      rendering: false,
      startSample: null,
    })
  }

  say(id: string, delta: string): void {
    const speech = this.#find(id)
    if (speech === undefined) return
    speech.waiting.push(...speech.text.push(delta))
    this.#renderNext()
  }

  end(id: string): void {
    const speech = this.#find(id)
    if (speech === undefined) return
    const rest = speech.text.flush()
    if (rest !== null) speech.waiting.push(rest)
    speech.ended = true
    this.#renderNext()
    this.#settle()
  }

  /** Drops what was not played of one speech. One that is heard already takes with it what is laid behind it. */
  withdraw(id: string): void {
    const speech = this.#find(id)
    if (speech === undefined) return
    if (speech.sentences.length > 0) return this.cut()
    this.#speeches = this.#speeches.filter(other => other !== speech)
    speech.cancel.abort()
    this.#listeners.onSpoken(id, { heard: '', interrupted: true, span: null })
    this.#settle()
  }

  /** Silence, at once: nothing of what was to be said is said any more. */
  cut(): void {
    const stood = this.#playout.drop()
    const cut = this.#speeches
    this.#speeches = []
    for (const speech of cut) speech.cancel.abort()
    this.#room?.resolve()
    this.#setSpeaking(false)
    for (const speech of cut) this.#listeners.onSpoken(speech.id, this.#reportAt(speech, stood, true))
  }

  /** A word in passing, which is no speech: it is dropped where the agent has something to say. */
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

  /** To be told of each play-progress event of the leg. */
  onProgress(event: LegEvent & { type: 'play-progress' }): void {
    this.#playout.onProgress(event)
    this.#noteStart()
    if (this.#playout.end - this.#playout.played() < RENDER_AHEAD) this.#room?.resolve()
    this.#settle()
  }

  /** A speech's first sample is where the playout stood when it was first seen behind it. */
  #noteStart(): void {
    const played = this.#playout.played()
    for (const speech of this.#speeches) {
      const from = speech.sentences[0]?.from
      if (from === undefined || speech.startSample !== null || played <= from) continue
      speech.startSample = this.#playout.sampleOf(from)
      this.#listeners.onAudible(speech.id, speech.startSample)
    }
  }

  /** Speeches that were heard out. */
  #settle(): void {
    for (;;) {
      const speech = this.#speeches[0]
      if (speech === undefined || !speech.rendered || this.#playout.paused) break
      const last = speech.sentences.at(-1)
      const played = this.#playout.played()
      if (last !== undefined && last.from + last.samples > played) break
      this.#noteStart()
      this.#speeches.shift()
      if (this.#speeches.length === 0) this.#setSpeaking(false)
      this.#listeners.onSpoken(speech.id, this.#reportAt(speech, played, false))
    }
    this.#renderNext()
  }

  #reportAt(speech: Speech, position: Samples, interrupted: boolean): SpeechReport {
    const heard = heardUpTo(speech.sentences, position)
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

  /** One sentence is rendered at a time, in order; rendering runs ahead of playing. */
  #renderNext(): void {
    for (const speech of this.#speeches) {
      if (speech.rendered) continue
      if (speech.rendering) return
      const text = speech.waiting.shift()
      if (text !== undefined) return void this.#render(speech, text.slice(0, MAX_SENTENCE))
      if (!speech.ended) return
      speech.rendered = true
      if (speech === this.#speeches[0]) queueMicrotask(() => this.#settle())
    }
  }

  async #render(speech: Speech, text: string): Promise<void> {
    speech.rendering = true
    const { signal } = speech.cancel
    try {
      await this.#roomToLay()
      if (signal.aborted) return
      const sentence = newSentence(text, this.#playout.end)
      this.#listeners.onVoice(speech.id, 'asked')
      for await (const { samples, words } of this.#voices.render(text, this.#speed, signal)) {
        if (signal.aborted) return
        if (sentence.samples === 0) {
          speech.sentences.push(sentence)
          this.#listeners.onVoice(speech.id, 'answered')
        }
        if (samples.length === 0) continue
        this.#playout.lay(samples)
        this.#setSpeaking(true)
        sentence.samples += samples.length
        sentence.words.push(...words)
      }
      sentence.complete = true
    } catch (error) {
      if (!signal.aborted) this.#fail(error)
    } finally {
      speech.rendering = false
    }
    if (!signal.aborted) this.#settle()
  }

  async #interject(text: string, signal: AbortSignal): Promise<void> {
    for await (const { samples } of this.#voices.render(text, this.#speed, signal)) {
      if (this.busy) return
      if (samples.length > 0) this.#playout.lay(samples)
    }
  }

  async #roomToLay(): Promise<void> {
    while (this.#playout.end - this.#playout.played() >= RENDER_AHEAD) {
      this.#room = Promise.withResolvers()
      await this.#room.promise
      this.#room = null
    }
  }

  #fail(error: unknown): void {
    const known = error instanceof ParleyError
    this.#listeners.onFailure(known ? error : new ParleyError('voice_failed', 'the voice failed', { cause: error }))
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
