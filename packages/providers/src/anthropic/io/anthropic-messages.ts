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
  /** Null: none is sent. Empty: it is not ready. */
  readonly apiKey: string | null
  /** Such as "claude-haiku-4-5". */
  readonly model: string
  /** Default "https://api.anthropic.com"; "/v1/messages" is appended. */
  readonly baseUrl?: string
  /** Who runs it: `identity.provider`. Default "anthropic". */
  readonly identityProvider?: string
  /** Where a request does not cap its answer. Default 4096. */
  readonly maxOutputTokens?: number
  /**
   * "least", the default: thinking is off, or as short as the model can, so that a caller does not wait. "model": as the
   * model does by itself; what it thinks is never said, but counts as output.
   */
  readonly thinking?: 'least' | 'model'
  /** What is known of the model; default by its name. */
  readonly traits?: Partial<ClaudeTraits>
  readonly time: Time
  readonly budgets?: Partial<ModelBudgets>
}

const VERSION = '2023-06-01'

/**
 * Claude, by Anthropic's Messages API or a service that speaks like it. Temperatures above 1 count as 1, and are not sent
 * to models that take none (all since Claude 4.7). Models that cannot be forced to call a tool (Claude Opus and Sonnet 5.5)
 * are told so in the system prompt, and may answer with text all the same. Connections are kept, at most 256. Of a service
 * that is busy, `retryAfterMs(error)` says when it wants to be asked again.
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

  /** Answers under way fail with "model_failed". */
  close(): Promise<void> {
    return this.#service.close()
  }
}
