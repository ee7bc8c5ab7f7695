import { randomUUID } from 'node:crypto'
import { type AudioFormat, type Ms, NARROWBAND, type Time, WIDEBAND } from '@parley/kernel'
import { Pool } from 'undici'
import { bearer } from '../../bearer.ts'
import { ProviderError } from '../../errors.ts'
import { HttpExchange } from '../../io/http-exchange.ts'
import { openAhead } from '../../io/open-ahead.ts'
import { checkStreamOptions } from '../../speech-to-text/check-stream-options.ts'
import type { SpeechStream, SpeechStreamOptions, SpeechToText } from '../../speech-to-text/speech-to-text.ts'
import { primaryTag } from '../../text-to-speech/request.ts'
import { PhraseStream } from '../phrase-stream.ts'
import {
  type Phrase,
  readTranscription,
  type Transcription,
  transcriptionBody,
  transcriptionFailure,
} from '../transcription.ts'

interface OpenAiRecogniserOptions {
  /** "/audio/transcriptions" is appended: "http://127.0.0.1:8000/v1". */
  readonly baseUrl: string
  readonly model: string
  /** First part of `id`. */
  readonly provider: string
  /** Null or empty: no key is sent. */
  readonly apiKey: string | null
  /** BCP 47 primary tags; default those that Whisper recognises best, English alone for models that end in ".en". */
  readonly languages?: readonly string[]
  readonly time: Time
  /** Time limit of one request, ms; default 8000. */
  readonly requestMs?: Ms
}

const LANGUAGES = 'en es de fr it pt nl ca pl ru uk sv da no fi cs el hu ro tr ar he hi ja ko zh id vi'.split(' ')
const ENDPOINTING_MS: Ms = 400
const REQUEST_MS: Ms = 8000
const CONNECT_MS: Ms = 3000
const KEEP_ALIVE_MS: Ms = 30_000
const MAX_CONNECTIONS = 64
const MAX_ANSWER_BYTES = 1_048_576

/**
 * Speech to text over OpenAI's `/audio/transcriptions`, as local Whisper servers offer it: a phrase is sent when it has ended. A server that
 * reports times of words (`verbose_json`) is best; others get times by the length of the words.
 */
export class OpenAiRecogniser implements SpeechToText {
  readonly id: string
  readonly languages: readonly string[]
  readonly billsSilence = false
  readonly formats: readonly AudioFormat[] = [NARROWBAND, WIDEBAND]
  readonly #options: OpenAiRecogniserOptions
  readonly #path: string
  readonly #pool: Pool
  readonly #streams = new Set<SpeechStream>()
  #closed = false

  /** Throws `ProviderError` "recogniser_misconfigured" for a base URL or a key that cannot be used. */
  constructor(options: OpenAiRecogniserOptions) {
    const { baseUrl, model, provider, apiKey } = options
    const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
      throw new ProviderError('recogniser_misconfigured', 'The base URL is no http(s) URL, or has a user name in it.')
    if (apiKey !== null && !/^[\x21-\x7e]*$/.test(apiKey))
      throw new ProviderError('recogniser_misconfigured', 'The key has characters that no header can carry.')
    this.id = `${provider}/${model}`
    this.languages = options.languages ?? (model.endsWith('.en') ? ['en'] : LANGUAGES)
    this.#options = options
    this.#path = `${url.pathname.replace(/\/+$/, '')}/audio/transcriptions`
    this.#pool = new Pool(url.origin, {
      connections: MAX_CONNECTIONS,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: CONNECT_MS },
      keepAliveTimeout: KEEP_ALIVE_MS,
      // `requestMs` replaces these timeouts.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  async readiness(): Promise<string | null> {
    return this.#closed ? 'closed' : null
  }

  /** Opens a connection in advance, unless one is idle. */
  async warm(): Promise<void> {
    if (!this.#closed) await openAhead(this.#pool, CONNECT_MS)
  }

  open(options: SpeechStreamOptions): SpeechStream {
    if (this.#closed) throw new ProviderError('recogniser_closed', 'This recogniser was closed.')
    checkStreamOptions(options, this)
    const {
      language,
      otherLanguages = [],
      keywords = [],
      format = NARROWBAND,
      endpointingMs = ENDPOINTING_MS,
      onSent,
    } = options
    const stream: PhraseStream = new PhraseStream({
      transcribe: (phrase, signal) => this.#transcribe(phrase, signal),
      language: otherLanguages.length > 0 ? null : primaryTag(language),
      keywords,
      format,
      endpointingMs: Math.max(endpointingMs, ENDPOINTING_MS),
      time: this.#options.time,
      onSent: onSent ?? (() => {}),
      onClose: () => this.#streams.delete(stream),
    })
    this.#streams.add(stream)
    return stream
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const stream of this.#streams) stream.close()
    await this.#pool.destroy()
  }

  async #transcribe(phrase: Phrase, signal: AbortSignal): Promise<Transcription> {
    const { model, apiKey, time, requestMs = REQUEST_MS } = this.#options
    const boundary = `parley-${randomUUID()}`
    const exchange = new HttpExchange(() => {})
    const stop = () => exchange.abort(new Error('stopped'))
    const late = time.at(time.now() + requestMs, () =>
      exchange.abort(new ProviderError('recogniser_failed', `The recogniser gave no answer within ${requestMs} ms.`)),
    )
    signal.addEventListener('abort', stop, { once: true })
    try {
      this.#pool.dispatch(
        {
          path: this.#path,
          method: 'POST',
          headers: {
            'content-type': `multipart/form-data; boundary=${boundary}`,
            accept: 'application/json',
            ...(apiKey !== null && apiKey !== '' && bearer(apiKey)),
          },
          body: transcriptionBody(phrase, { model, boundary }),
        },
        exchange,
      )
      return await answerOf(exchange)
    } finally {
      late.cancel()
      signal.removeEventListener('abort', stop)
      // What is left of an answer that was refused or too long is not read.
      stop()
    }
  }
}

async function answerOf(exchange: HttpExchange): Promise<Transcription> {
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const piece = await exchange.next()
    if (piece.type === 'head' && piece.status !== 200) throw transcriptionFailure(piece.status)
    if (piece.type === 'end') return readTranscription(Buffer.concat(chunks).toString('utf8'))
    if (piece.type !== 'bytes') continue
    length += piece.bytes.length
    if (length > MAX_ANSWER_BYTES)
      throw new ProviderError('recogniser_failed', 'The answer of the recogniser is too long.', { retryable: false })
    chunks.push(piece.bytes)
  }
}
