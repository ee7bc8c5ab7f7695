import { type Ms, msToSamples, NARROWBAND } from '@parley/kernel'
import type { GenerationEvent, GenerationRequest, RealtimeModel, SpeechToText } from '@parley/providers'
import { ProviderError } from '@parley/providers/testing'
import { FingerprintVoice } from './scripted-speech.ts'

/** One answer: words that the model speaks, a tool that it calls, or a text that it writes. */
export interface RealtimeAnswer {
  readonly says?: string
  readonly calls?: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
  /** The session fails after the words. */
  readonly breaks?: boolean
}

/** A speech-to-speech model whose sessions hear by `recogniser`, and whose answers are scripted; all audio comes at once. */
export class ScriptedRealtime implements RealtimeModel {
  readonly identity = { provider: 'test', model: 'realtime' }
  readonly languages = ['en', 'es']
  readonly voices = ['own']
  readonly requests: GenerationRequest[] = []
  /** How much of each spoken answer was played, and as which words. */
  readonly heard: { readonly ms: Ms; readonly text: string }[] = []
  readonly #recogniser: SpeechToText
  readonly #answers: RealtimeAnswer[]
  readonly #voice = new FingerprintVoice()
  isOver = false

  constructor(recogniser: SpeechToText, answers: readonly RealtimeAnswer[]) {
    this.#recogniser = recogniser
    this.#answers = [...answers]
  }

  async readiness(): Promise<null> {
    return null
  }

  /** The audio of an answer with these words. */
  sound(text: string): Int16Array {
    return this.#voice.sound(text)
  }

  open() {
    const recogniser: SpeechToText = {
      id: 'test/realtime-transcripts',
      languages: this.languages,
      formats: [NARROWBAND],
      readiness: async () => null,
      open: options => {
        if (this.isOver) throw new ProviderError('recogniser_closed', 'the session is over')
        return this.#recogniser.open(options)
      },
      close: async () => {},
    }
    const over = () => this.isOver
    return {
      recogniser,
      model: {
        identity: this.identity,
        readiness: async () => null,
        generate: (request: GenerationRequest) => this.#generate(request),
        close: async () => {},
      },
      get isOver() {
        return over()
      },
      close: () => {
        this.isOver = true
      },
    }
  }

  async close(): Promise<void> {}

  async *#generate(request: GenerationRequest): AsyncGenerator<GenerationEvent> {
    if (this.isOver) throw new ProviderError('model_unreachable', 'the session is over')
    this.requests.push(request)
    const { says = '', calls, breaks = false } = this.#answers.shift() ?? {}
    const speech = {
      format: NARROWBAND,
      heard: (ms: Ms, text: string) => void this.heard.push({ ms: Math.round(ms), text }),
    }
    if (says !== '') {
      yield { type: 'speech', delta: says, samples: new Int16Array(0), speech }
      const audio = this.sound(says)
      const piece = msToSamples(100, NARROWBAND)
      for (let at = 0; at < audio.length; at += piece)
        yield { type: 'speech', delta: '', samples: audio.subarray(at, at + piece), speech }
    }
    if (breaks) {
      this.isOver = true
      throw new ProviderError('model_unreachable', 'the connection was lost')
    }
    if (calls !== undefined) {
      const call = { id: 'c1', name: calls.name, argumentsText: JSON.stringify(calls.arguments) }
      yield { type: 'tool-call', call, arguments: calls.arguments }
    }
    yield { type: 'usage', inputTokens: 100, outputTokens: 30, cachedInputTokens: 0 }
    yield { type: 'finished', reason: 'stop' }
  }
}
