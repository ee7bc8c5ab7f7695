import { type Ms, NARROWBAND, samplesToMs } from '@parley/kernel'
import { decodePcmu } from '@parley/media'
import { ProviderError, type ProviderFailure } from '../../errors.ts'
import { countIn, isObject, type JsonObject, textIn } from '../../json-object.ts'
import type { GenerationEvent, ModelSpeech } from '../../language-model/language-model.ts'
import { ToolCallAssembly } from '../../language-model/tool-call-assembly.ts'
import { failureInAnswer } from '../../model-service/model-failure.ts'

/** Longest answer that is spoken. */
const MAX_AUDIO_MS: Ms = 180_000

/** A message of the answer that the model speaks. */
interface SpokenMessage {
  readonly id: string
  audioMs: Ms
  text: string
}

interface ResponseListener {
  /** Output of an answer in the conversation, in its order. */
  readonly onMessage: (id: string) => void
  readonly onCall: (id: string, callId: string, name: string, argumentsText: string) => void
  /** The answer is over, or its playback, whichever comes last; `played` null: playback was not reported. */
  readonly onPlayed: (
    messages: readonly SpokenMessage[],
    played: { readonly ms: Ms; readonly text: string } | null,
  ) => void
}

/** One answer of the model: reads the service's events of it, and holds the events for the consumer until they are taken. */
export class RealtimeResponse {
  /** Of the `response.create`, by which the service names it in an error. */
  readonly eventId: string
  /** The service's id; null until it was created. */
  id: string | null = null
  readonly #listener: ResponseListener
  /** Null: the answer is not written to the conversation. */
  readonly #speech: ModelSpeech | null
  readonly #events: GenerationEvent[] = []
  readonly #messages: SpokenMessage[] = []
  readonly #calls = new ToolCallAssembly()
  readonly #callItems = new Map<string, { readonly index: number; readonly callId: string; readonly name: string }>()
  #argumentsOf = new Map<string, string>()
  #error: ProviderFailure | null = null
  readonly #ended = Promise.withResolvers<void>()
  #isOver = false
  #hasOutput = false
  #wake: (() => void) | null = null
  #played: { readonly ms: Ms; readonly text: string } | null = null

  constructor(eventId: string, isSpoken: boolean, listener: ResponseListener) {
    this.eventId = eventId
    this.#listener = listener
    this.#speech = isSpoken ? { format: NARROWBAND, heard: (ms, text) => this.#onHeard(ms, text) } : null
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Resolves when the service has ended the answer, or it has failed. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** Whether all output that has begun is complete, so that only the end of the answer is missing. */
  get hasOutput(): boolean {
    return this.#hasOutput
  }

  /** The usage of a cancelled answer; undefined: the service reported none yet. */
  get usage(): GenerationEvent | undefined {
    return this.#events.find(({ type }) => type === 'usage')
  }

  /** The next event; null: the answer has ended. Throws its error after the events before it. `signal` ends the wait with null. */
  async next(signal: AbortSignal): Promise<GenerationEvent | null> {
    const wake = () => this.#wake?.()
    signal.addEventListener('abort', wake, { once: true })
    try {
      for (;;) {
        if (signal.aborted) return null
        const event = this.#events.shift()
        if (event !== undefined) return event
        if (this.#error !== null) throw this.#error
        if (this.#isOver) return null
        await new Promise<void>(resolve => {
          this.#wake = resolve
        })
      }
    } finally {
      signal.removeEventListener('abort', wake)
    }
  }

  /** An event of the service that belongs to this answer. */
  receive(event: JsonObject): void {
    if (this.#isOver) return
    try {
      this.#receive(event)
    } catch (error) {
      if (!ProviderError.is(error)) throw error
      this.fail(error)
    }
  }

  fail(error: ProviderFailure): void {
    if (this.#isOver) return
    this.#error = error
    this.#end()
  }

  /** The answer ends here, as if the service had completed it. */
  finish(): void {
    if (this.#isOver) return
    const calls = this.#calls.complete()
    for (const [item, { callId, name }] of this.#callItems)
      if (this.#speech !== null) this.#listener.onCall(item, callId, name, this.#argumentsOf.get(item) ?? '')
    this.#events.push(...calls, { type: 'finished', reason: calls.length > 0 ? 'tool-calls' : 'stop' })
    this.#end()
  }

  /** It was cancelled, and what it generates from now on is dropped. */
  stop(): void {
    if (!this.#isOver) this.#end()
  }

  #receive(event: JsonObject): void {
    const item = textIn(event, 'item_id')
    switch (event.type) {
      case 'response.output_item.added':
        return this.#begin(isObject(event.item) ? event.item : {})
      case 'response.output_audio.delta':
        return this.#audio(item, textIn(event, 'delta'))
      case 'response.output_audio_transcript.delta':
        return this.#words(item, textIn(event, 'delta'))
      case 'response.output_text.delta':
        return this.#text(item, textIn(event, 'delta'))
      case 'response.function_call_arguments.delta':
        return this.#arguments(item, textIn(event, 'delta'))
      case 'response.output_item.done':
        this.#hasOutput = true
        return
      case 'response.done':
        return this.#done(isObject(event.response) ? event.response : {})
      default:
        return
    }
  }

  #begin(item: JsonObject): void {
    const id = textIn(item, 'id')
    this.#hasOutput = false
    if (item.type === 'message') {
      this.#messages.push({ id, audioMs: 0, text: '' })
      if (this.#speech !== null) this.#listener.onMessage(id)
    }
    if (item.type !== 'function_call') return
    const name = textIn(item, 'name')
    const index = this.#callItems.size
    const started = this.#calls.begin(index, textIn(item, 'call_id'), name)
    this.#callItems.set(id, { index, callId: textIn(item, 'call_id'), name })
    this.#emit(started)
  }

  #audio(item: string, base64: string): void {
    const message = this.#messages.find(({ id }) => id === item)
    if (this.#speech === null || message === undefined || base64 === '') return
    const bytes = Buffer.from(base64, 'base64')
    const samples = new Int16Array(bytes.length)
    decodePcmu(bytes, 0, bytes.length, samples, 0)
    message.audioMs += samplesToMs(samples.length, NARROWBAND)
    if (this.#messages.reduce((sum, { audioMs }) => sum + audioMs, 0) > MAX_AUDIO_MS)
      throw new ProviderError('model_failed', `The model's answer is longer than ${MAX_AUDIO_MS / 60_000} minutes.`, {
        retryable: false,
      })
    this.#emit({ type: 'speech', delta: '', samples, speech: this.#speech })
  }

  #words(item: string, delta: string): void {
    const message = this.#messages.find(({ id }) => id === item)
    if (this.#speech === null || message === undefined || delta === '') return
    message.text += delta
    this.#emit({ type: 'speech', delta, samples: new Int16Array(0), speech: this.#speech })
  }

  #text(item: string, delta: string): void {
    const message = this.#messages.find(({ id }) => id === item)
    if (message !== undefined) message.text += delta
    if (delta !== '') this.#emit({ type: 'text', delta })
  }

  #arguments(item: string, delta: string): void {
    const call = this.#callItems.get(item)
    if (call === undefined) throw new ProviderError('model_failed', "The model's answer has arguments of no tool call.")
    this.#argumentsOf.set(item, (this.#argumentsOf.get(item) ?? '') + delta)
    const fragment = this.#calls.append(call.index, delta)
    if (fragment !== null) this.#emit(fragment)
  }

  #done(response: JsonObject): void {
    const details = isObject(response.status_details) ? response.status_details : {}
    if (response.status === 'failed')
      return this.fail(failureInAnswer(isObject(details.error) ? { error: details.error } : {}))
    if (isObject(response.usage)) this.#events.push(usageOf(response.usage))
    if (response.status === 'completed') return this.finish()
    if (response.status === 'incomplete') {
      const reason = details.reason === 'content_filter' ? 'content-filter' : 'length'
      this.#events.push({ type: 'finished', reason })
    }
    this.#end()
  }

  #emit(event: GenerationEvent): void {
    this.#events.push(event)
    this.#wake?.()
  }

  #end(): void {
    this.#isOver = true
    this.#listener.onPlayed(this.#messages, this.#played)
    this.#ended.resolve()
    this.#wake?.()
  }

  #onHeard(ms: Ms, text: string): void {
    this.#played = { ms, text }
    if (this.#isOver) this.#listener.onPlayed(this.#messages, this.#played)
  }
}

/** Token counts of `response.done`; the service counts those of audio and cached ones among them. */
function usageOf(usage: JsonObject): GenerationEvent {
  const input = isObject(usage.input_token_details) ? usage.input_token_details : {}
  const output = isObject(usage.output_token_details) ? usage.output_token_details : {}
  const audio = { inputTokens: countIn(input, 'audio_tokens'), outputTokens: countIn(output, 'audio_tokens') }
  return {
    type: 'usage',
    inputTokens: countIn(usage, 'input_tokens'),
    outputTokens: countIn(usage, 'output_tokens'),
    cachedInputTokens: countIn(input, 'cached_tokens'),
    ...(audio.inputTokens + audio.outputTokens > 0 && { audio }),
  }
}
