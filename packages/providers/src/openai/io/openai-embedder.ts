import type { Ms, Time } from '@parley/kernel'
import { bearer } from '../../bearer.ts'
import { batchesOf, type TextEmbedder } from '../../embedding/text-embedder.ts'
import { ProviderError } from '../../errors.ts'
import type { ModelBudgets } from '../../io/answer-stream.ts'
import { ModelService } from '../../io/model-service.ts'
import { retryAfterMs } from '../../model-service/model-failure.ts'
import { EmbeddingAnswer } from '../embedding-answer.ts'

export interface OpenAiEmbedderOptions {
  /** Null: no key is sent. Empty: the embedder is not ready. */
  readonly apiKey: string | null
  /** Default "text-embedding-3-small". */
  readonly model?: string
  /** Default "https://api.openai.com/v1"; "/embeddings" is appended. */
  readonly baseUrl?: string
  /** First part of `id`; default "openai". */
  readonly provider?: string
  /** Requested length of vectors, for models that can shorten them. Default the model's. */
  readonly dimensions?: number
  /** Requested encoding of vectors; both are accepted in answers. Default "base64", which is a third as long. */
  readonly encoding?: 'base64' | 'float'
  /** Most texts in one request. Default 128. */
  readonly maxTexts?: number
  /** Most characters in one request. Default 100 000: below OpenAI's 300 000 tokens in any language. */
  readonly maxCharacters?: number
  /** Time for retries of a busy service. Default 20 000. */
  readonly retryMs?: Ms
  readonly time: Time
  /** Time limits of each request. */
  readonly budgets?: Partial<ModelBudgets>
}

/** First pause before a retry without Retry-After; doubled with each retry. */
const FIRST_PAUSE_MS: Ms = 500
/** Shortest pause, also for a Retry-After of 0. */
const MIN_PAUSE_MS: Ms = 100

/**
 * Embeddings over OpenAI's `/embeddings` or a compatible service: vLLM, Ollama, llama.cpp and others. Each call of `embed`
 * sends its requests in sequence.
 */
export class OpenAiEmbedder implements TextEmbedder {
  readonly id: string
  readonly #options: OpenAiEmbedderOptions
  readonly #model: string
  readonly #service: ModelService
  #dimensions: number | null

  /** Throws `ProviderError` "model_misconfigured" for a URL or a key that cannot be used. */
  constructor(options: OpenAiEmbedderOptions) {
    const { model = 'text-embedding-3-small', provider = 'openai', apiKey, time, budgets = {} } = options
    this.id = `${provider}/${model}`
    this.#options = options
    this.#model = model
    this.#dimensions = options.dimensions ?? null
    this.#service = new ModelService({
      id: this.id,
      baseUrl: options.baseUrl ?? 'https://api.openai.com/v1',
      path: '/embeddings',
      apiKey,
      authorization: bearer,
      time,
      budgets,
    })
  }

  get dimensions(): number | null {
    return this.#dimensions
  }

  async readiness(): Promise<string | null> {
    return this.#service.obstacle
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    signal.throwIfAborted()
    if (texts.some(text => text.trim() === ''))
      throw new ProviderError('text_blank', 'A blank text cannot be embedded; leave it out.')
    const { maxTexts = 128, maxCharacters = 100_000, retryMs = 20_000, time } = this.#options
    const deadline = time.now() + retryMs
    const vectors: Float32Array[] = []
    for (const batch of batchesOf(texts, { maxTexts, maxCharacters }))
      vectors.push(...(await this.#retryUntilAnswered(batch, deadline, signal)))
    return vectors
  }

  close(): Promise<void> {
    return this.#service.close()
  }

  async #retryUntilAnswered(batch: readonly string[], deadline: Ms, signal: AbortSignal): Promise<Float32Array[]> {
    const { time } = this.#options
    for (let pause = FIRST_PAUSE_MS; ; pause *= 2) {
      try {
        return await this.#ask(batch, signal)
      } catch (error) {
        const again = time.now() + Math.max(retryAfterMs(error) ?? pause, MIN_PAUSE_MS)
        if (!ProviderError.is(error, 'model_busy') || again > deadline) throw error
        await this.#until(again, signal)
      }
    }
  }

  async #ask(batch: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const { encoding = 'base64', dimensions } = this.#options
    const body = {
      model: this.#model,
      input: batch,
      encoding_format: encoding,
      ...(dimensions !== undefined && { dimensions }),
    }
    const vectors = new Array<Float32Array>(batch.length)
    for await (const { index, vector } of this.#service.ask(body, new EmbeddingAnswer(batch.length), signal))
      vectors[index] = vector
    signal.throwIfAborted()
    this.#know(vectors[0]!.length)
    return vectors
  }

  #know(dimensions: number): void {
    this.#dimensions ??= dimensions
    if (this.#dimensions === dimensions) return
    const message = `${this.id} returned vectors of length ${dimensions} instead of ${this.#dimensions}.`
    throw new ProviderError('model_failed', message, { retryable: false })
  }

  async #until(deadline: Ms, signal: AbortSignal): Promise<void> {
    await new Promise<void>(resolve => {
      const timer = this.#options.time.at(deadline, done)
      function done() {
        timer.cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      signal.addEventListener('abort', done, { once: true })
    })
    signal.throwIfAborted()
  }
}
