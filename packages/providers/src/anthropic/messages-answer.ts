import { ProviderError } from '../errors.ts'
import { countIn, isObject, type JsonObject, objectOf, textIn } from '../json-object.ts'
import type { GenerationEvent } from '../language-model/language-model.ts'
import { ToolCallAssembly } from '../language-model/tool-call-assembly.ts'
import type { ModelAnswer } from '../model-service/model-answer.ts'
import { failureInAnswer } from '../model-service/model-failure.ts'

type FinishReason = Extract<GenerationEvent, { type: 'finished' }>['reason']

const CUT_OFF = new Set(['max_tokens', 'model_context_window_exceeded'])

/** A tool call whose arguments are being received. */
interface OpenCall {
  /** Input at the start of the block: some services send all of it there, without fragments. */
  readonly input: string
  hasFragments: boolean
}

/** One answer of `/v1/messages`. Thinking, citations and blocks of unknown types are ignored. */
export class MessagesAnswer implements ModelAnswer<GenerationEvent> {
  readonly #tools = new ToolCallAssembly()
  /** Tool calls by the index of their block. */
  readonly #calls = new Map<number, OpenCall>()
  #reason: FinishReason | null = null
  #usage: JsonObject | null = null
  #complete = false
  #progress = 0

  get isFinished(): boolean {
    return this.#reason !== null
  }

  get isComplete(): boolean {
    return this.#complete
  }

  get progress(): number {
    return this.#progress
  }

  data(text: string): GenerationEvent[] {
    if (this.#complete || text.trim() === '') return []
    const event = objectOf(text)
    if (event === null) throw new ProviderError('model_failed', "The model's answer is not JSON.")
    if (textIn(event, 'type') !== 'ping') this.#progress++
    return this.chunk(event)
  }

  chunk(chunk: JsonObject): GenerationEvent[] {
    if (isObject(chunk.error) || chunk.type === 'error') throw failureInAnswer(chunk)
    switch (chunk.type) {
      case 'message':
        return this.#message(chunk)
      case 'message_start':
        if (isObject(chunk.message)) this.#count(chunk.message.usage)
        return []
      case 'content_block_start':
        return isObject(chunk.content_block) ? this.#begin(indexOf(chunk), chunk.content_block) : []
      case 'content_block_delta':
        return isObject(chunk.delta) ? this.#delta(indexOf(chunk), chunk.delta) : []
      case 'content_block_stop':
        return this.#endOfBlock(indexOf(chunk))
      case 'message_delta':
        this.#count(chunk.usage)
        return isObject(chunk.delta) ? this.#finish(textIn(chunk.delta, 'stop_reason')) : []
      case 'message_stop':
        this.#complete = true
        return this.#finish('end_turn')
      default:
        return []
    }
  }

  end(): GenerationEvent[] {
    if (this.#reason === null) throw new ProviderError('model_unreachable', "The model's answer broke off.")
    return [...this.abandoned(), { type: 'finished', reason: this.#reason }]
  }

  /** The first event has the input tokens, the last one the output tokens. */
  abandoned(): GenerationEvent[] {
    const usage = this.#usage
    this.#usage = null
    return usage === null ? [] : [usageOf(usage)]
  }

  /** The answer of a service that does not stream. */
  #message(message: JsonObject): GenerationEvent[] {
    const blocks = Array.isArray(message.content) ? message.content.filter(isObject) : []
    this.#count(message.usage)
    const events = blocks.flatMap((block, index) => [...this.#begin(index, block), ...this.#endOfBlock(index)])
    return [...events, ...this.#finish(textIn(message, 'stop_reason') || 'end_turn')]
  }

  #begin(index: number, block: JsonObject): GenerationEvent[] {
    if (block.type === 'text') return textEvents(textIn(block, 'text'))
    if (block.type !== 'tool_use') return []
    const input = isObject(block.input) && Object.keys(block.input).length > 0 ? JSON.stringify(block.input) : ''
    this.#calls.set(index, { input, hasFragments: false })
    return [this.#tools.begin(index, textIn(block, 'id'), textIn(block, 'name'))]
  }

  #delta(index: number, delta: JsonObject): GenerationEvent[] {
    if (delta.type === 'text_delta') return textEvents(textIn(delta, 'text'))
    const call = this.#calls.get(index)
    // Tools that the service runs itself have fragments, too.
    if (delta.type !== 'input_json_delta' || call === undefined) return []
    const text = textIn(delta, 'partial_json')
    if (text !== '') call.hasFragments = true
    return this.#append(index, text)
  }

  #endOfBlock(index: number): GenerationEvent[] {
    const call = this.#calls.get(index)
    if (call === undefined || call.hasFragments || call.input === '') return []
    call.hasFragments = true
    return this.#append(index, call.input)
  }

  #append(index: number, text: string): GenerationEvent[] {
    const fragment = this.#tools.append(index, text)
    return fragment === null ? [] : [fragment]
  }

  #finish(reason: string): GenerationEvent[] {
    if (reason === '' || this.#reason !== null) return []
    if (CUT_OFF.has(reason)) this.#reason = 'length'
    else if (reason === 'refusal') this.#reason = 'content-filter'
    else this.#reason = this.#calls.size > 0 ? 'tool-calls' : 'stop'
    return this.#reason === 'tool-calls' ? this.#tools.complete() : []
  }

  /** Counts are totals so far; a later event may lack counts that an earlier one had. */
  #count(usage: unknown): void {
    if (!isObject(usage)) return
    const counts = Object.entries(usage).filter(([, count]) => typeof count === 'number')
    this.#usage = { ...this.#usage, ...Object.fromEntries(counts) }
  }
}

function usageOf(usage: JsonObject): GenerationEvent {
  const cachedInputTokens = countIn(usage, 'cache_read_input_tokens')
  const written = countIn(usage, 'cache_creation_input_tokens')
  return {
    type: 'usage',
    // The service counts cached tokens separately.
    inputTokens: countIn(usage, 'input_tokens') + cachedInputTokens + written,
    outputTokens: countIn(usage, 'output_tokens'),
    cachedInputTokens,
  }
}

function textEvents(text: string): GenerationEvent[] {
  return text === '' ? [] : [{ type: 'text', delta: text }]
}

/** Services with a single block may omit its index. */
function indexOf(event: JsonObject): number {
  return countIn(event, 'index')
}
