import { type Ms, ParleyError, type Samples, samplesToMs } from '@parley/kernel'
import type { CallLeg, LegEvent } from '@parley/leg'
import type { TextToSpeech } from '@parley/providers'

/** A line of the agent as the transcript has it: only what was really sent, on the call's sample clock. */
export interface Utterance {
  readonly index: number
  readonly role: 'agent' | 'user'
  readonly text: string
  readonly interrupted: boolean
  readonly start_ms: Ms
  readonly end_ms: Ms
  readonly node_id: string
}

interface Line {
  readonly text: string
  readonly node: string
  /** Playout positions: first sample, and the end of what was queued so far. */
  from: Samples
  to: Samples
  startedAt: Samples | null
}

/** Speaks text into a leg, one line at a time, and knows what of it was sent. */
export class Speaker {
  readonly #leg: CallLeg
  readonly #voice: TextToSpeech
  readonly #language: string
  readonly #onQuiet: () => void
  readonly #onFailure: (error: ParleyError) => void
  readonly #onUtterance: (utterance: Utterance) => void
  readonly #utterances: Utterance[] = []
  #line: Line | null = null
  #complete = false
  #synthesis: AbortController | null = null

  constructor(
    leg: CallLeg,
    voice: TextToSpeech,
    language: string,
    listeners: {
      /** All that was queued has left. */
      readonly onQuiet: () => void
      readonly onFailure: (error: ParleyError) => void
      readonly onUtterance: (utterance: Utterance) => void
    },
  ) {
    this.#leg = leg
    this.#voice = voice
    this.#language = language
    this.#onQuiet = listeners.onQuiet
    this.#onFailure = listeners.onFailure
    this.#onUtterance = listeners.onUtterance
  }

  get utterances(): readonly Utterance[] {
    return this.#utterances
  }

  /** Speaks `text`; what was being said before is cut. */
  say(text: string, node: string): void {
    this.stop()
    const synthesis = new AbortController()
    this.#synthesis = synthesis
    this.#complete = false
    void this.#synthesize(text, node, synthesis.signal)
  }

  /** Plays audio that is not speech of ours (an echo): it leaves no utterance. */
  playBack(audio: Int16Array): void {
    this.stop()
    const to = this.#leg.play(audio)
    this.#line = { text: '', node: '', from: to - audio.length, to, startedAt: null }
    this.#complete = true
    if (audio.length === 0) this.#finish()
  }

  /** Silences the line at once; what was sent of it stays in the transcript, marked interrupted. */
  stop(): void {
    this.#synthesis?.abort()
    this.#synthesis = null
    const line = this.#line
    if (line === null) return
    this.#line = null
    const stood = this.#leg.flush()
    if (stood > line.from) this.#keep(line, stood, stood < line.to || !this.#complete)
  }

  /** To be told of each play-progress event of the leg. */
  onProgress(event: LegEvent & { type: 'play-progress' }): void {
    const line = this.#line
    if (line === null) return
    if (line.startedAt === null && event.position > line.from)
      line.startedAt = event.atSample - (event.position - line.from)
    if (this.#complete && event.position >= line.to) this.#finish()
  }

  async #synthesize(text: string, node: string, signal: AbortSignal): Promise<void> {
    try {
      for await (const chunk of this.#voice.synthesize({ text, language: this.#language }, signal)) {
        if (signal.aborted) return
        const to = this.#leg.play(chunk.samples)
        if (this.#line === null) this.#line = { text, node, from: to - chunk.samples.length, to, startedAt: null }
        else this.#line.to = to
      }
      if (signal.aborted) return
      this.#complete = true
      if (this.#line === null) this.#onQuiet()
      else if (this.#leg.played() >= this.#line.to) this.#finish()
    } catch (error) {
      if (signal.aborted) return
      this.#onFailure(
        error instanceof ParleyError ? error : new ParleyError('voice_failed', 'the voice failed', { cause: error }),
      )
    }
  }

  #finish(): void {
    const line = this.#line
    if (line === null) return
    this.#line = null
    this.#synthesis = null
    this.#keep(line, line.to, false)
    this.#onQuiet()
  }

  #keep(line: Line, heardTo: Samples, interrupted: boolean): void {
    if (line.text === '') return
    const start = line.startedAt ?? 0
    const utterance: Utterance = {
      index: this.#utterances.length,
      role: 'agent',
      text: line.text,
      interrupted,
      start_ms: Math.round(samplesToMs(start)),
      end_ms: Math.round(samplesToMs(start + (heardTo - line.from))),
      node_id: line.node,
    }
    this.#utterances.push(utterance)
    this.#onUtterance(utterance)
  }
}
