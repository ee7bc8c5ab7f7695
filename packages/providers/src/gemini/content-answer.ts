import { ProviderError } from '../errors.ts'
import { countIn, isObject, type JsonObject, objectOf, textIn } from '../json-object.ts'
import type { GenerationEvent } from '../language-model/language-model.ts'
import { ToolCallAssembly } from '../language-model/tool-call-assembly.ts'
import type { ModelAnswer } from '../model-service/model-answer.ts'
import { failureInAnswer } from '../model-service/model-failure.ts'

type FinishReason = Extract<GenerationEvent, { type: 'finished' }>['reason']

const WITHHELD = new Set('SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII'.split(' '))
/** The model wrote a tool call that the service could not parse, or that the request does not allow. */
const UNUSABLE = new Set(
  'MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MALFORMED_RESPONSE'.split(' '),
)

/** One answer of `:streamGenerateContent`: responses with parts of the text and whole tool calls. Thoughts are ignored. */
export class ContentAnswer implements ModelAnswer<GenerationEvent> {
  /** The service has no marker for the end of its stream. */
  readonly isComplete = false
  readonly #tools = new ToolCallAssembly()
  #calls = 0
  #reason: FinishReason | null = null
  #usage: GenerationEvent | null = null
  #progress = 0

  get isFinished(): boolean {
    return this.#reason !== null
  }

  get progress(): number {
    return this.#progress
  }

  data(text: string): GenerationEvent[] {
    if (text.trim() === '') return []
    const chunk = objectOf(text)
    if (chunk === null) throw new ProviderError('model_failed', "The model's answer is not JSON.")
    this.#progress++
    return this.chunk(chunk)
  }

  chunk(chunk: JsonObject): GenerationEvent[] {
    if (isObject(chunk.error)) throw failureInAnswer(chunk)
    this.#count(chunk)
    const candidates = Array.isArray(chunk.candidates) ? chunk.candidates.filter(isObject) : []
    const candidate = candidates.find(({ index = 0 }) => index === 0)
    const feedback = isObject(chunk.promptFeedback) ? chunk.promptFeedback : {}
    if (candidate === undefined) {
      if (textIn(feedback, 'blockReason') !== '') this.#reason ??= 'content-filter'
      return []
    }
    if (this.#reason !== null) return []
    const content = isObject(candidate.content) ? candidate.content : {}
    const parts = Array.isArray(content.parts) ? content.parts.filter(isObject) : []
    return [...parts.flatMap(part => this.#part(part)), ...this.#finish(textIn(candidate, 'finishReason'))]
  }

  end(): GenerationEvent[] {
    if (this.#reason === null) throw new ProviderError('model_unreachable', "The model's answer broke off.")
    return [...this.abandoned(), { type: 'finished', reason: this.#reason }]
  }

  /** Every response has the counts so far. */
  abandoned(): GenerationEvent[] {
    const usage = this.#usage
    this.#usage = null
    return usage === null ? [] : [usage]
  }

  #part(part: JsonObject): GenerationEvent[] {
    if (part.thought === true) return []
    if (isObject(part.functionCall)) return this.#call(part.functionCall)
    const delta = textIn(part, 'text')
    return delta === '' ? [] : [{ type: 'text', delta }]
  }

  /** A call comes with all of its arguments, already parsed. */
  #call({ args, ...call }: JsonObject): GenerationEvent[] {
    const index = this.#calls++
    const began = this.#tools.begin(index, textIn(call, 'id'), textIn(call, 'name'))
    const written = this.#tools.append(index, args === undefined ? '' : JSON.stringify(args))
    return written === null ? [began] : [began, written]
  }

  #finish(reason: string): GenerationEvent[] {
    if (reason === '') return []
    if (UNUSABLE.has(reason))
      throw new ProviderError('model_failed', `The model wrote a tool call that cannot be used (${reason}).`)
    if (reason === 'MAX_TOKENS') this.#reason = 'length'
    else if (WITHHELD.has(reason)) this.#reason = 'content-filter'
    else this.#reason = this.#calls > 0 ? 'tool-calls' : 'stop'
    return this.#reason === 'tool-calls' ? this.#tools.complete() : []
  }

  #count({ usageMetadata: usage }: JsonObject): void {
    if (!isObject(usage)) return
    this.#usage = {
      type: 'usage',
      inputTokens: countIn(usage, 'promptTokenCount'),
      outputTokens: countIn(usage, 'candidatesTokenCount') + countIn(usage, 'thoughtsTokenCount'),
      cachedInputTokens: countIn(usage, 'cachedContentTokenCount'),
    }
  }
}
