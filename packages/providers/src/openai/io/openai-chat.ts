import type { LookupFunction } from 'node:net'
import type { Time } from '@parley/kernel'
import { bearer } from '../../bearer.ts'
import type { ModelBudgets } from '../../io/answer-stream.ts'
import { ModelService } from '../../io/model-service.ts'
import type {
  GenerationEvent,
  GenerationRequest,
  LanguageModel,
  ModelIdentity,
} from '../../language-model/language-model.ts'
import { withoutNulls } from '../../language-model/strict-schema.ts'
import { ChatAnswer } from '../chat-answer.ts'
import { chatRequest } from '../chat-request.ts'

export interface OpenAiChatOptions {
  /** Such as "https://api.openai.com/v1"; "/chat/completions" is appended. */
  readonly baseUrl: string
  /** Null: no key is sent. Empty: the model is not ready. */
  readonly apiKey: string | null
  readonly model: string
  /** `identity.provider`; default "openai". */
  readonly identityProvider?: string
  /** Resolves the name of the base URL. Default: the system's resolver. */
  readonly lookup?: LookupFunction
  readonly time: Time
  readonly budgets?: Partial<ModelBudgets>
}

/**
 * Chat over OpenAI's `/chat/completions` or a compatible service: vLLM, Ollama, llama.cpp and others. At most 256
 * connections, which are reused. `retryAfterMs(error)` is the Retry-After time of a busy service.
 */
export class OpenAiChat implements LanguageModel {
  readonly identity: ModelIdentity
  readonly #service: ModelService

  /** Throws `ProviderError` "model_misconfigured" for a URL or a key that cannot be used. */
  constructor(options: OpenAiChatOptions) {
    const { model, identityProvider: provider = 'openai', baseUrl, apiKey, lookup, time, budgets = {} } = options
    this.identity = { provider, model }
    this.#service = new ModelService({
      id: `${provider}/${model}`,
      baseUrl,
      path: '/chat/completions',
      apiKey,
      authorization: bearer,
      ...(lookup !== undefined && { lookup }),
      time,
      budgets,
    })
  }

  async readiness(): Promise<string | null> {
    return this.#service.obstacle
  }

  generate(request: GenerationRequest, signal: AbortSignal): AsyncGenerator<GenerationEvent> {
    const { provider, model } = this.identity
    const isOpenAi = provider === 'openai'
    const cap = isOpenAi ? 'max_completion_tokens' : 'max_tokens'
    const body = chatRequest(request, { model, cap, takesStrictTools: isOpenAi })
    return lenient(this.#service.ask(body, new ChatAnswer(), signal), request)
  }

  warm(): Promise<void> {
    return this.#service.warm()
  }

  /** Answers in progress fail with "model_failed". */
  close(): Promise<void> {
    return this.#service.close()
  }
}

/** Strict tools get null for what is left out: their calls are reported without it. */
async function* lenient(
  events: AsyncIterable<GenerationEvent>,
  { tools = [], strictTools = false }: GenerationRequest,
): AsyncGenerator<GenerationEvent> {
  for await (const event of events) {
    const schema =
      event.type === 'tool-call' && strictTools ? tools.find(({ name }) => name === event.call.name) : undefined
    if (event.type !== 'tool-call' || schema === undefined || event.arguments === null) yield event
    else
      yield {
        ...event,
        arguments: withoutNulls(schema.parameters, event.arguments) as Readonly<Record<string, unknown>>,
      }
  }
}
