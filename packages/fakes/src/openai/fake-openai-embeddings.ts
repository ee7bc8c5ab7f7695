import { type FakeModelOptions, FakeModelService } from '../models/fake-model-service.ts'
import type { FakeHttpAnswer } from '../models/model-dialect.ts'
import { EmbeddingList, type FakeEmbeddingStyle } from './embedding-list.ts'
import { bearerOf, openAiError, openAiRefusal } from './openai-refusal.ts'

type JsonObject = Readonly<Record<string, unknown>>

const MAX_TEXTS = 2048
const MAX_CHARACTERS = 300_000

/** OpenAI's `/v1/embeddings`, with scripted faults: `wait`, `stall`, `turn-away`, `refuse`, `break-off`, `answer`. */
export class FakeOpenAiEmbeddings extends FakeModelService {
  static async open(options: FakeModelOptions<FakeEmbeddingStyle> = {}): Promise<FakeOpenAiEmbeddings> {
    const style = { ...options.style, whole: true }
    const dialect = {
      path: '/v1/embeddings',
      keyOf: bearerOf,
      faultOf: (_headers: unknown, body: JsonObject) => faultOf(body),
      refusal: openAiRefusal,
      chat: null,
      begin: (body: JsonObject) => new EmbeddingList(style, body),
    }
    return new FakeOpenAiEmbeddings(dialect, { ...options, style }, []).listen()
  }

  /** "http://127.0.0.1:PORT/v1". */
  get baseUrl(): string {
    return `${this.origin}/v1`
  }
}

function faultOf({ model, input, encoding_format = 'float', dimensions = 8 }: JsonObject): FakeHttpAnswer | null {
  const invalid = (message: string) => openAiError(400, 'invalid_request_error', null, message)
  if (typeof model !== 'string') return invalid('you must provide a model parameter')
  if (!Array.isArray(input) || input.length === 0 || input.length > MAX_TEXTS || input.includes(''))
    return invalid("'$.input' is invalid.")
  if (input.some(text => typeof text !== 'string')) return invalid("'$.input' is invalid.")
  if (input.join('').length > MAX_CHARACTERS)
    return openAiError(400, 'invalid_request_error', 'context_length_exceeded', 'Requested too many tokens.')
  if (encoding_format !== 'float' && encoding_format !== 'base64') return invalid('invalid encoding_format')
  if (!Number.isSafeInteger(dimensions) || Number(dimensions) < 1) return invalid('invalid dimensions')
  return null
}
