import type { Ms, Time } from '@parley/kernel'
import { ProviderError } from '../../errors.ts'
import type { GenerationEvent, GenerationRequest, LanguageModel } from '../../language-model/language-model.ts'
import { type Decision, decide } from './decision.ts'
import { pause } from './pace.ts'

/** Simulated delays of a model service, on `time`. Without a pace the model answers at once. */
interface RulesPace {
  readonly time: Time
  /** From the request to the first word or call. Default 0. */
  readonly firstTokenMs?: Ms
  /** From a word to the next. Default 0. */
  readonly tokenMs?: Ms
}

const CHARACTERS_PER_TOKEN = 4

/**
 * The built-in model "rules-1". It speaks and decides by fixed rules over the brief of a request, in English and
 * Spanish, and answers equal requests equally. Its vocabulary is everyday language without terms of any business. When
 * no rule matches, it says that it did not understand. For demonstrations, trials and load tests.
 */
export class RulesModel implements LanguageModel {
  readonly identity = { provider: 'parley', model: 'rules-1' }
  readonly #pace: RulesPace | null
  #closed = false

  constructor(pace: RulesPace | null = null) {
    this.#pace = pace
  }

  async readiness(): Promise<string | null> {
    return null
  }

  async *generate(request: GenerationRequest, signal: AbortSignal): AsyncGenerator<GenerationEvent> {
    if (this.#closed)
      throw new ProviderError('model_failed', 'The model "rules-1" was closed; open a new one.', { retryable: false })
    if (signal.aborted) return
    const decision = decide(request)
    await this.#wait(this.#pace?.firstTokenMs ?? 0, signal)
    let written = 0
    for (const [i, event] of eventsOf(decision).entries()) {
      await this.#wait(i === 0 ? 0 : (this.#pace?.tokenMs ?? 0), signal)
      if (signal.aborted) break
      if (event.type === 'text' || event.type === 'tool-call-arguments') written += event.delta.length
      yield event
    }
    yield usage(request, written)
    if (!signal.aborted) yield { type: 'finished', reason: decision.call === null ? 'stop' : 'tool-calls' }
  }

  async close(): Promise<void> {
    this.#closed = true
  }

  #wait(ms: Ms, signal: AbortSignal): Promise<void> {
    return pause(this.#pace?.time, ms, signal)
  }
}

function eventsOf({ text, call }: Decision): GenerationEvent[] {
  const events: GenerationEvent[] = (text.match(/\s*\S+/g) ?? []).map(delta => ({ type: 'text', delta }))
  const argumentsText = call === null ? '' : JSON.stringify(call.arguments)
  if (call !== null) {
    const id = 'call_0'
    events.push(
      { type: 'tool-call-started', id, name: call.name },
      { type: 'tool-call-arguments', id, delta: argumentsText },
      { type: 'tool-call', call: { id, name: call.name, argumentsText }, arguments: call.arguments },
    )
  }
  return events
}

/** The usage of an answer, estimated at four characters per token. */
function usage({ messages }: GenerationRequest, written: number): GenerationEvent {
  const inputTokens = tokens(messages.reduce((sum, { content }) => sum + content.length, 0))
  return { type: 'usage', inputTokens, outputTokens: tokens(written), cachedInputTokens: 0 }
}

function tokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN)
}
