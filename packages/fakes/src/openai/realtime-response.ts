import { type Ms, NARROWBAND, samplesToMs } from '@parley/kernel'
import { encodePcmu } from '@parley/media'
import type { FakeModelStep } from '../models/model-step.ts'
import type { Speak } from '../protocol.ts'
import type { FakeConnection } from '../sockets/fake-connection.ts'
import type { FakeRealtimeItem, RealtimeItems } from './realtime-items.ts'

type JsonObject = Readonly<Record<string, unknown>>
type Message = Extract<FakeRealtimeItem, { type: 'message' }>
type Call = Extract<FakeRealtimeItem, { type: 'function_call' }>

/** Bytes of one `response.output_audio.delta`. */
const PIECE_BYTES = 4000
/** Audio tokens of the service: one for 50 ms of its speech. */
const AUDIO_TOKEN_MS: Ms = 50

interface ResponseOptions {
  readonly id: string
  readonly connection: FakeConnection
  readonly items: RealtimeItems
  readonly speak: Speak
  readonly language: string
  /** Audio; false: text. */
  readonly isSpoken: boolean
  /** Whether the output is added to the conversation. */
  readonly isInConversation: boolean
  /** Audio tokens of the request. */
  readonly audioInputTokens: number
  readonly send: (event: JsonObject) => void
}

/** One answer: plays its steps as the service's events. */
export class FakeRealtimeResponse {
  readonly id: string
  readonly isInConversation: boolean
  readonly #options: ResponseOptions
  #isOver = false
  #index = 0
  #message: Message | null = null
  readonly #calls = new Map<number, { readonly item: Call; readonly index: number }>()
  #text = ''
  #spokenMs: Ms = 0
  #status: 'completed' | 'incomplete' = 'completed'
  #usage = { input: 10, output: 5, cached: 0 }

  constructor(options: ResponseOptions) {
    this.#options = options
    this.id = options.id
    this.isInConversation = options.isInConversation
  }

  get isOver(): boolean {
    return this.#isOver
  }

  async play(steps: readonly FakeModelStep[]): Promise<void> {
    if (steps[0]?.do === 'stall' || steps[0]?.do === 'break-off') return this.#take(steps[0])
    this.#send('response.created', { response: this.#document('in_progress') })
    for (const step of steps) {
      if (this.#isOver) return
      if (step.do !== 'say') await this.#speakText()
      if (this.#isOver) return
      await this.#take(step)
    }
    if (this.#isOver) return
    this.#endItems('completed')
    this.#done(this.#status, this.#status === 'incomplete' ? { type: 'incomplete', reason: 'max_output_tokens' } : null)
  }

  cancel(): void {
    if (this.#isOver) return
    this.#endItems('incomplete')
    this.#done('cancelled', { type: 'cancelled', reason: 'client_cancelled' })
  }

  /** The connection is gone. */
  stop(): void {
    this.#isOver = true
  }

  async #take(step: FakeModelStep): Promise<void> {
    const { connection } = this.#options
    switch (step.do) {
      case 'say':
        this.#text += step.text
        return
      case 'begin-tool':
        return this.#beginCall(step)
      case 'tool-arguments':
        return this.#addArguments(step.index, step.text)
      case 'report-usage':
        this.#usage = { input: step.input, output: step.output, cached: step.cached ?? 0 }
        return
      case 'finish':
        if (step.reason === 'length') this.#status = 'incomplete'
        return
      case 'wait':
        return new Promise(resolve => connection.after(step.ms, resolve))
      case 'stall':
      case 'end':
        this.#endItems('completed')
        this.#isOver = step.do === 'end'
        return new Promise(() => {})
      case 'turn-away':
        return this.#fail('rate_limit_exceeded')
      case 'refuse':
        return this.#fail('invalid_api_key')
      case 'go-down':
        return this.#fail('server_error')
      case 'fail':
        this.#send('error', { error: step.error })
        return this.#fail('server_error')
      case 'break-off':
        this.#isOver = true
        return connection.breakOff()
      case 'write':
        return connection.send(step.text)
      default:
        return
    }
  }

  /** Sends the text that was collected, as audio with its transcript or as text. */
  async #speakText(): Promise<void> {
    const text = this.#text
    this.#text = ''
    if (text.trim() === '') return
    const { isSpoken, speak, language } = this.#options
    const message = this.#message ?? this.#beginMessage()
    const place = { item_id: message.id, output_index: 0, content_index: 0 }
    message.text += text
    if (!isSpoken) return this.#send('response.output_text.delta', { ...place, delta: text })
    for (const word of text.match(/\s*\S+\s*/g) ?? [])
      this.#send('response.output_audio_transcript.delta', { ...place, delta: word })
    const { samples, words } = await speak({ text: text.trim(), language, speed: 1, format: NARROWBAND })
    if (this.#isOver) return
    const before = message.audio?.durationMs ?? 0
    const durationMs = before + samplesToMs(samples.length, NARROWBAND)
    const placed = words.map(word => ({ ...word, startMs: word.startMs + before }))
    message.audio = { durationMs, words: [...(message.audio?.words ?? []), ...placed] }
    this.#spokenMs = durationMs
    const bytes = Buffer.alloc(samples.length)
    encodePcmu(samples, 0, samples.length, bytes, 0)
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      this.#send('response.output_audio.delta', {
        ...place,
        delta: bytes.subarray(at, at + PIECE_BYTES).toString('base64'),
      })
  }

  #beginMessage(): Message {
    const { items, isInConversation } = this.#options
    const message: Message = { id: items.newId(), type: 'message', role: 'assistant', text: '', audio: null }
    this.#message = message
    if (isInConversation) items.add(message)
    const item = { id: message.id, object: 'realtime.item', type: 'message', role: 'assistant', content: [] }
    this.#send('response.output_item.added', {
      output_index: this.#index++,
      item: { ...item, status: 'in_progress' },
    })
    this.#send('response.content_part.added', {
      item_id: message.id,
      output_index: 0,
      content_index: 0,
      part: { type: 'audio', transcript: '' },
    })
    return message
  }

  #beginCall({ index, id, name }: Extract<FakeModelStep, { do: 'begin-tool' }>): void {
    const { items, isInConversation } = this.#options
    const item: Call = { id: items.newId(), type: 'function_call', callId: id, name, argumentsText: '' }
    if (isInConversation) items.add(item)
    this.#calls.set(index, { item, index: this.#index })
    this.#send('response.output_item.added', {
      output_index: this.#index++,
      item: { id: item.id, object: 'realtime.item', type: 'function_call', call_id: id, name, arguments: '' },
    })
  }

  #addArguments(index: number, delta: string): void {
    const call = this.#calls.get(index)
    if (call === undefined) return
    call.item.argumentsText += delta
    const { id, callId } = call.item
    this.#send('response.function_call_arguments.delta', {
      item_id: id,
      call_id: callId,
      output_index: call.index,
      delta,
    })
  }

  #endItems(status: 'completed' | 'incomplete'): void {
    const message = this.#message
    if (message !== null) {
      if (message.audio !== null) this.#send('response.output_audio.done', { item_id: message.id, content_index: 0 })
      this.#send('response.output_item.done', { output_index: 0, item: { id: message.id, type: 'message', status } })
    }
    for (const { item, index } of this.#calls.values()) {
      const { id, callId, name, argumentsText } = item
      this.#send('response.function_call_arguments.done', {
        item_id: id,
        call_id: callId,
        output_index: index,
        arguments: argumentsText,
      })
      this.#send('response.output_item.done', {
        output_index: index,
        item: { id, type: 'function_call', call_id: callId, name, arguments: argumentsText, status },
      })
    }
  }

  #fail(code: string): void {
    this.#done('failed', { type: 'failed', error: { type: code, code } })
  }

  #done(status: string, details: object | null): void {
    const { input, output, cached } = this.#usage
    const audioOutput = Math.ceil(this.#spokenMs / AUDIO_TOKEN_MS)
    const { audioInputTokens } = this.#options
    const usage = {
      total_tokens: input + output,
      input_tokens: input,
      output_tokens: output,
      input_token_details: { audio_tokens: Math.min(audioInputTokens, input), cached_tokens: cached },
      output_token_details: { audio_tokens: Math.min(audioOutput, output) },
    }
    this.#send('response.done', {
      response: { ...this.#document(status), status_details: details, ...(status !== 'failed' && { usage }) },
    })
    this.#isOver = true
  }

  #document(status: string): JsonObject {
    return { object: 'realtime.response', id: this.id, status, status_details: null, output: [], usage: null }
  }

  #send(type: string, fields: JsonObject): void {
    if (this.#isOver) return
    this.#options.send({ type, ...(fields.response === undefined && { response_id: this.id }), ...fields })
  }
}
