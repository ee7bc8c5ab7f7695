import type { Time } from '@parley/kernel'
import type { ModelBudgets } from '../../io/answer-stream.ts'
import { ModelService } from '../../io/model-service.ts'
import type {
  GenerationEvent,
  GenerationRequest,
  LanguageModel,
  ModelIdentity,
} from '../../language-model/language-model.ts'
import { type ClaudeTraits, traitsOf } from '../claude-traits.ts'
import { MessagesAnswer } from '../messages-answer.ts'
import { type MessagesRequestOptions, messagesRequest } from '../messages-request.ts'

export interface AnthropicMessagesOptions {
  /** Null: no key is sent. Empty: the model is not ready. */
  readonly apiKey: string | null
  /** Such as "claude-haiku-4-5". */
  readonly model: string
  /** Default "https://api.anthropic.com"; "/v1/messages" is appended. */
  readonly baseUrl?: string
  /** `identity.provider`; default "anthropic". */
  readonly identityProvider?: string
  /** Limit of answers whose request has none. Default 4096. */
  readonly maxOutputTokens?: number
  /**
   * "least", the default: thinking is off or as short as the model allows, so that a caller does not wait. "model": the
   * model's default. Thinking is never returned as text, but counts as output.
   */
  readonly thinking?: 'least' | 'model'
  /** Accepted parameters of the model; default by its name. */
  readonly traits?: Partial<ClaudeTraits>
  readonly time: Time
  readonly budgets?: Partial<ModelBudgets>
}

const VERSION = '2023-06-01'

/**
 * Claude, over Anthropic's Messages API or a compatible service. Temperatures above 1 count as 1, and are not sent to
 * models without a temperature (all since Claude 4.7). Models that cannot be forced to call a tool (Claude Opus and Sonnet
 * 5.5) get an instruction in the system prompt, and may still answer with text. At most 256 connections, which are
 * reused. `retryAfterMs(error)` is the Retry-After time of a busy service.
 */
export class AnthropicMessages implements LanguageModel {
  readonly identity: ModelIdentity
  readonly #request: MessagesRequestOptions
  readonly #service: ModelService

  /** Throws `ProviderError` "model_misconfigured" for a URL or a key that cannot be used. */
  constructor(options: AnthropicMessagesOptions) {
    const { model, identityProvider: provider = 'anthropic', apiKey, time, budgets = {} } = options
    const { baseUrl = 'https://api.anthropic.com', maxOutputTokens = 4096, thinking = 'least' } = options
    this.identity = { provider, model }
    this.#request = { model, maxOutputTokens, thinking, traits: { ...traitsOf(model), ...options.traits } }
    this.#service = new ModelService({
      id: `${provider}/${model}`,
      baseUrl,
      path: '/v1/messages',
      apiKey,
      authorization: key => ({ 'x-api-key': key }),
      headers: { 'anthropic-version': VERSION },
      time,
      budgets,
    })
  }

  async readiness(): Promise<string | null> {
    return this.#service.obstacle
  }

  generate(request: GenerationRequest, signal: AbortSignal): AsyncGenerator<GenerationEvent> {
    return this.#service.ask(messagesRequest(request, this.#request), new MessagesAnswer(), signal)
  }

  warm(): Promise<void> {
    return this.#service.warm()
  }

  /** Answers in progress fail with "model_failed". */
  close(): Promise<void> {
    return this.#service.close()
  }
}
