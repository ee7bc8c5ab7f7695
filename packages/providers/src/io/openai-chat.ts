import { ParleyError, type Time } from '@parley/kernel'
import { Pool } from 'undici'
import type {
  GenerationEvent,
  GenerationRequest,
  LanguageModel,
  ModelIdentity,
} from '../language-model/language-model.ts'
import { chatRequest } from '../openai/chat-request.ts'
import { ChatAnswering, type ChatBudgets } from './chat-answering.ts'
import type { HttpExchange } from './http-exchange.ts'

export interface OpenAiChatOptions {
  /** Such as "https://api.openai.com/v1"; "/chat/completions" is appended. */
  readonly baseUrl: string
  /** Null: none is sent. */
  readonly apiKey: string | null
  readonly model: string
  /** Who runs it: `identity.provider`. Default "openai". */
  readonly identityProvider?: string
  readonly time: Time
  readonly budgets?: Partial<ChatBudgets>
}

const BUDGETS: ChatBudgets = { connectMs: 5000, firstEventMs: 10_000, idleMs: 10_000, wholeMs: 60_000 }
const MOST_CONNECTIONS = 256
const KEEP_ALIVE_MS = 30_000

/**
 * Chat with a service that speaks like OpenAI's `/chat/completions`: OpenAI itself, vLLM, Ollama, llama.cpp and others.
 * Connections are kept, at most 256. Of a service that is busy, `retryAfterMs(error)` says when it wants to be asked
 * again.
 */
export class OpenAiChat implements LanguageModel {
  readonly identity: ModelIdentity
  readonly #options: OpenAiChatOptions
  readonly #host: string
  readonly #path: string
  readonly #pool: Pool
  readonly #answering = new Set<ChatAnswering>()
  #hasAnswered = false
  #closed = false

  /** Throws `ParleyError` "model_misconfigured" for a URL or a key that cannot be used. */
  constructor(options: OpenAiChatOptions) {
    const url = checkedUrl(options.baseUrl)
    if (options.apiKey !== null && !/^[\x21-\x7e]+$/.test(options.apiKey))
      throw new ParleyError('model_misconfigured', 'The key has characters that no header can carry.')
    this.#options = options
    this.identity = { provider: options.identityProvider ?? 'openai', model: options.model }
    this.#host = url.host
    this.#path = `${url.pathname.replace(/\/+$/, '')}/chat/completions${url.search}`
    this.#pool = new Pool(url.origin, {
      connections: MOST_CONNECTIONS,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: options.budgets?.connectMs ?? BUDGETS.connectMs },
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The budgets stand over these.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  async readiness(): Promise<string | null> {
    return this.#closed ? 'closed' : null
  }

  async *generate(request: GenerationRequest, signal: AbortSignal): AsyncGenerator<GenerationEvent> {
    if (signal.aborted) return
    if (this.#closed) throw closed()
    const answering = this.#answer(request)
    this.#answering.add(answering)
    const abort = () => answering.abort(new Error('aborted'))
    signal.addEventListener('abort', abort, { once: true })
    try {
      for await (const event of answering.events()) {
        if (signal.aborted) return
        this.#hasAnswered = true
        yield event
      }
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      signal.removeEventListener('abort', abort)
      answering.release()
      this.#answering.delete(answering)
    }
  }

  /** Answers under way fail with "model_failed". */
  async close(): Promise<void> {
    this.#closed = true
    for (const answering of this.#answering) answering.abort(closed())
    await this.#pool.destroy()
  }

  #answer(request: GenerationRequest): ChatAnswering {
    const { apiKey, model, time, budgets } = this.#options
    const cap = this.identity.provider === 'openai' ? 'max_completion_tokens' : 'max_tokens'
    const body = JSON.stringify(chatRequest(request, { model, cap }))
    const headers = {
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
      ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
    }
    const dispatch = (exchange: HttpExchange) => {
      this.#pool.dispatch({ path: this.#path, method: 'POST', headers, body }, exchange)
    }
    return new ChatAnswering({
      time,
      budgets: { ...BUDGETS, ...budgets },
      host: this.#host,
      dispatch,
      mayBeStale: this.#hasAnswered,
    })
  }
}

function closed(): ParleyError {
  return new ParleyError('model_failed', 'This model was closed.')
}

function checkedUrl(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new ParleyError('model_misconfigured', 'The base URL is no http(s) URL, or has a user name in it.')
  return url
}
