import { ProviderError } from '../errors.ts'
import { countIn, isObject, type JsonObject, objectOf, textIn } from '../json-object.ts'
import type { GenerationEvent } from '../language-model/language-model.ts'
import type { ModelAnswer } from '../model-service/model-answer.ts'
import { failureInAnswer } from '../model-service/model-failure.ts'
import { ToolCallSlots } from './tool-call-slots.ts'

type FinishReason = Extract<GenerationEvent, { type: 'finished' }>['reason']

/** Finish reasons of services besides "stop" and "tool_calls". */
const CUT_OFF = new Set(['length', 'max_tokens', 'max_length', 'model_length'])
const WITHHELD = new Set(['content_filter', 'content-filter', 'safety', 'refusal', 'blocked'])

/** One answer of `/chat/completions`. */
export class ChatAnswer implements ModelAnswer<GenerationEvent> {
  readonly #tools = new ToolCallSlots()
  #reason: FinishReason | null = null
  #refused = false
  #usage: GenerationEvent | null = null
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
    const trimmed = text.trim()
    if (this.#complete || trimmed === '') return []
    this.#progress++
    if (trimmed === '[DONE]') return this.#done()
    const chunk = objectOf(trimmed)
    if (chunk !== null) return this.chunk(chunk)
    // Some services do not separate events by blank lines.
    const lines = trimmed.split('\n')
    if (lines.length > 1) return lines.flatMap(line => this.data(line))
    throw new ProviderError('model_failed', "The model's answer is not JSON.")
  }

  chunk(chunk: JsonObject): GenerationEvent[] {
    if (hasError(chunk)) throw failureInAnswer(chunk)
    this.#count(chunk)
    const choices = Array.isArray(chunk.choices) ? chunk.choices : []
    return choices
      .filter(isObject)
      .filter(choice => choice.index === undefined || choice.index === 0)
      .flatMap(choice => this.#choice(choice))
  }

  end(): GenerationEvent[] {
    if (this.#reason === null) throw new ProviderError('model_unreachable', "The model's answer broke off.")
    return [...this.abandoned(), { type: 'finished', reason: this.#reason }]
  }

  /** Most services send the finish reason at the end only; some with each chunk. */
  abandoned(): GenerationEvent[] {
    const usage = this.#usage
    this.#usage = null
    return usage === null ? [] : [usage]
  }

  /** "[DONE]" without a finish reason is a regular end. */
  #done(): GenerationEvent[] {
    this.#complete = true
    return this.#reason === null ? this.#finish('stop') : []
  }

  #choice(choice: JsonObject): GenerationEvent[] {
    const delta = isObject(choice.delta) ? choice.delta : isObject(choice.message) ? choice.message : {}
    const events: GenerationEvent[] = []
    const text = contentOf(delta.content) || textIn(choice, 'text')
    if (text !== '') events.push({ type: 'text', delta: text })
    if (textIn(delta, 'refusal') !== '') this.#refused = true
    const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls.filter(isObject) : []
    for (const call of calls) events.push(...this.#tools.fragment(call))
    if (isObject(delta.function_call))
      events.push(...this.#tools.fragment({ index: -1, function: delta.function_call }))
    const reason = textIn(choice, 'finish_reason')
    return reason === '' ? events : [...events, ...this.#finish(reason)]
  }

  #finish(reason: string): GenerationEvent[] {
    if (this.#reason !== null) return []
    if (CUT_OFF.has(reason)) this.#reason = 'length'
    else if (this.#refused || WITHHELD.has(reason)) this.#reason = 'content-filter'
    else this.#reason = this.#tools.any ? 'tool-calls' : 'stop'
    return this.#reason === 'tool-calls' ? this.#tools.complete() : []
  }

  /** Usage is sent once, or as a growing total with each chunk. */
  #count(chunk: JsonObject): void {
    if (!isObject(chunk.usage)) return
    const { usage } = chunk
    const details = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
    this.#usage = {
      type: 'usage',
      inputTokens: countIn(usage, 'prompt_tokens'),
      outputTokens: countIn(usage, 'completion_tokens'),
      cachedInputTokens: countIn(details, 'cached_tokens'),
    }
  }
}

function hasError(chunk: JsonObject): boolean {
  if (isObject(chunk.error) || (typeof chunk.error === 'string' && chunk.error !== '')) return true
  return chunk.object === 'error'
}

/** A text, or the joined parts of type "text". */
function contentOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map(part => (isObject(part) ? textIn(part, 'text') : '')).join('')
}
