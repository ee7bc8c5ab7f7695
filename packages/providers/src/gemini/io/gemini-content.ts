import type { Time } from '@parley/kernel'
import type { ModelBudgets } from '../../io/answer-stream.ts'
import { ModelService } from '../../io/model-service.ts'
import type {
  GenerationEvent,
  GenerationRequest,
  LanguageModel,
  ModelIdentity,
} from '../../language-model/language-model.ts'
import { ContentAnswer } from '../content-answer.ts'
import { contentRequest } from '../content-request.ts'
import { type GeminiTraits, traitsOf } from '../gemini-traits.ts'

export interface GeminiContentOptions {
  /** Empty: the model is not ready. */
  readonly apiKey: string
  /** Such as "gemini-3.8-flash". */
  readonly model: string
  /** Default "https://generativelanguage.googleapis.com/v1beta"; "/models/MODEL:streamGenerateContent" is appended. */
  readonly baseUrl?: string
  /**
   * "least", the default: thinking is off or as short as the model allows, so that a caller does not wait. "model": the
   * model's default. Thoughts are never returned as text, but count as output.
   */
  readonly thinking?: 'least' | 'model'
  /** Accepted parameters of the model; default by its name. */
  readonly traits?: Partial<GeminiTraits>
  readonly time: Time
  readonly budgets?: Partial<ModelBudgets>
}

/**
 * Gemini over the Gemini API (`streamGenerateContent`). Temperatures are not sent to models without one (all since
 * Gemini 3.5). At most 256 connections, which are reused. `retryAfterMs(error)` is the time to wait for a busy service.
 */
export class GeminiContent implements LanguageModel {
  readonly identity: ModelIdentity
  readonly #traits: GeminiTraits
  readonly #thinking: 'least' | 'model'
  readonly #service: ModelService

  /** Throws `ProviderError` "model_misconfigured" for a URL or a key that cannot be used. */
  constructor(options: GeminiContentOptions) {
    const { model, apiKey, time, budgets = {}, thinking = 'least' } = options
    const { baseUrl = 'https://generativelanguage.googleapis.com/v1beta' } = options
    this.identity = { provider: 'gemini', model }
    this.#traits = { ...traitsOf(model), ...options.traits }
    this.#thinking = thinking
    this.#service = new ModelService({
      id: `gemini/${model}`,
      baseUrl,
      path: `/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`,
      apiKey,
      authorization: key => ({ 'x-goog-api-key': key }),
      time,
      budgets,
    })
  }

  async readiness(): Promise<string | null> {
    return this.#service.obstacle
  }

  generate(request: GenerationRequest, signal: AbortSignal): AsyncGenerator<GenerationEvent> {
    const body = contentRequest(request, { traits: this.#traits, thinking: this.#thinking })
    return this.#service.ask(body, new ContentAnswer(), signal)
  }

  warm(): Promise<void> {
    return this.#service.warm()
  }

  /** Answers in progress fail with "model_failed". */
  close(): Promise<void> {
    return this.#service.close()
  }
}
