import type { AudioFormat, Ms, Time, Timer } from '@parley/kernel'
import { Pool } from 'undici'
import { ProviderError, type ProviderFailure } from '../errors.ts'
import type { HttpVoiceService } from '../text-to-speech/http-voice-service.ts'
import { checkSpeechRequest, reportSent } from '../text-to-speech/request.ts'
import { ServiceUtterance, type VoiceBudgets } from '../text-to-speech/service-utterance.ts'
import type { SpeechChunk, SpeechRequest, TextToSpeech } from '../text-to-speech/text-to-speech.ts'
import { HttpExchange } from './http-exchange.ts'
import { openAhead } from './open-ahead.ts'
import { serviceUrl } from './service-url.ts'

/** Options of all voices over HTTP. */
export interface HttpVoiceOptions {
  /** Null: no key is sent. Empty: the voice is not ready. */
  readonly apiKey: string | null
  readonly time: Time
  /** The path of the service is appended. */
  readonly baseUrl: string
  /** Most concurrent requests; further ones wait. Default 64. */
  readonly maxConnections?: number
  readonly budgets?: VoiceBudgets
}

const KEEP_ALIVE_MS: Ms = 30_000
const CONNECT_MS: Ms = 5000
const MAX_ERROR_BYTES = 65_536
/** Limit for reading the body of a refusal. */
const ERROR_BODY_MS: Ms = 500

/**
 * A voice that answers one HTTP request for each utterance with a stream of audio. No word times. Stopping an utterance
 * ends its request. Errors: "voice_refused", "voice_busy", "voice_unreachable", "voice_failed", "voice_unknown", "voice_closed".
 */
export class HttpVoice implements TextToSpeech {
  readonly id: string
  readonly languages: readonly string[]
  readonly formats: readonly AudioFormat[]
  readonly #service: HttpVoiceService
  readonly #options: HttpVoiceOptions
  readonly #path: string
  readonly #pool: Pool
  readonly #utterances = new Set<ServiceUtterance>()
  /** A request was answered, so a connection may be reused, and may break when it is. */
  #answered = false
  #closed = false

  /** Throws `ProviderError` "voice_misconfigured" for a base URL or a key that cannot be used. */
  constructor(service: HttpVoiceService, options: HttpVoiceOptions) {
    const { apiKey } = options
    if (apiKey !== null && apiKey !== '' && !/^[\x21-\x7e]+$/.test(apiKey))
      throw new ProviderError('voice_misconfigured', 'The key has characters that no header can carry.')
    const url = new URL(serviceUrl(options.baseUrl, ['https:', 'http:']))
    this.id = service.id
    this.languages = service.languages
    this.formats = service.formats
    this.#service = service
    this.#options = options
    this.#path = `${url.pathname.replace(/\/+$/, '')}${service.path}`
    this.#pool = new Pool(url.origin, {
      connections: options.maxConnections ?? 64,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: CONNECT_MS },
      keepAliveTimeout: KEEP_ALIVE_MS,
      // VoiceBudgets replace these timeouts.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  async readiness(): Promise<string | null> {
    if (this.#closed) return 'closed'
    return this.#options.apiKey === '' ? `no key for ${this.id}` : null
  }

  async *synthesize(request: SpeechRequest, signal: AbortSignal): AsyncGenerator<SpeechChunk, void, undefined> {
    const { languages, formats } = this
    checkSpeechRequest(request, { languages, formats, voices: this.#service.voices })
    if (this.#closed) throw closed()
    const obstacle = await this.readiness()
    if (obstacle !== null) throw new ProviderError('voice_refused', `There is ${obstacle}.`)
    if (signal.aborted || !/[\p{L}\p{N}]/u.test(request.text)) return
    const { time, budgets } = this.#options
    const asking = new Asking({
      service: this.#service,
      dispatch: exchange => this.#dispatch(request, exchange),
      onSent: () => reportSent(request),
      mayBeStale: this.#answered,
      time,
    })
    const utterance = new ServiceUtterance({
      text: request.text,
      decoder: this.#service.decoder(request),
      time,
      ...(budgets !== undefined && { budgets }),
      whyLate: () => asking.whyLate(),
    })
    this.#utterances.add(utterance)
    const stop = () => {
      utterance.stop()
      asking.stop()
    }
    signal.addEventListener('abort', stop, { once: true })
    try {
      void asking.run(utterance).then(isAnswered => {
        if (isAnswered) this.#answered = true
      })
      yield* utterance.chunks()
    } finally {
      signal.removeEventListener('abort', stop)
      this.#utterances.delete(utterance)
      stop()
    }
  }

  /** Opens a connection in advance by an empty request, unless one is idle. */
  warm(): void {
    if (!this.#closed) void openAhead(this.#pool, CONNECT_MS)
  }

  /** Utterances in progress fail with "voice_closed". */
  async close(): Promise<void> {
    this.#closed = true
    for (const utterance of this.#utterances) utterance.fail(closed())
    await this.#pool.destroy()
  }

  #dispatch(request: SpeechRequest, exchange: HttpExchange): void {
    const { apiKey } = this.#options
    const { body, headers: ofRequest } = this.#service.request(request)
    const headers = { ...ofRequest, ...(apiKey !== null && this.#service.authorization(apiKey)) }
    this.#pool.dispatch({ path: this.#path, method: 'POST', headers, body }, exchange)
  }
}

function closed(): ProviderFailure {
  return new ProviderError('voice_closed', 'This voice was closed.')
}

const STOPPED = new Error('stopped')

interface AskingOptions {
  readonly service: HttpVoiceService
  readonly dispatch: (exchange: HttpExchange) => void
  readonly onSent: () => void
  readonly mayBeStale: boolean
  readonly time: Time
}

/** One request, which is repeated once when a reused connection turns out dead. */
class Asking {
  readonly #service: HttpVoiceService
  readonly #dispatch: (exchange: HttpExchange) => void
  readonly #onSent: () => void
  readonly #mayBeStale: boolean
  readonly #time: Time
  /** Limits the reading of a refusal. */
  #refused: Timer | null = null
  #exchange: HttpExchange | null = null
  #sent = false
  #hasAnswered = false
  #stopped = false

  constructor({ service, dispatch, onSent, mayBeStale, time }: AskingOptions) {
    this.#service = service
    this.#dispatch = dispatch
    this.#onSent = onSent
    this.#mayBeStale = mayBeStale
    this.#time = time
  }

  /** Resolves whether the service sent audio to its end. Never rejects. */
  async run(utterance: ServiceUtterance): Promise<boolean> {
    for (let attempt = 1; !this.#stopped; attempt++) {
      try {
        return await this.#once(utterance)
      } catch (cause) {
        this.#refused?.cancel()
        if (this.#stopped) return false
        if (attempt === 1 && this.#mayBeStale && utterance.samples === 0) continue
        const error = new ProviderError('voice_unreachable', "The voice's service is not reachable, or broke off.", {
          cause,
        })
        utterance.fail(error)
        return false
      }
    }
    return false
  }

  /** The error for late audio when the request was never sent. */
  whyLate(): ProviderFailure | null {
    if (this.#sent) return null
    return new ProviderError('voice_busy', 'No connection to the voice became free in time.')
  }

  stop(): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#refused?.cancel()
    // The service received the text and bills it.
    if (this.#sent && !this.#hasAnswered) this.#onSent()
    this.#exchange?.abort(STOPPED)
  }

  async #once(utterance: ServiceUtterance): Promise<boolean> {
    const exchange = new HttpExchange(() => {
      this.#sent = true
      this.#hasAnswered = false
    })
    this.#exchange = exchange
    this.#dispatch(exchange)
    let status = 0
    let refusal = ''
    for (;;) {
      const piece = await exchange.next()
      if (utterance.isOver) return false
      if (piece.type === 'head') {
        status = piece.status
        this.#hasAnswered = true
        if (status === 200) this.#onSent()
        else
          this.#refused = this.#time.at(this.#time.now() + ERROR_BODY_MS, () =>
            utterance.fail(this.#service.failure(status, refusal)),
          )
        if (status === 200 && !this.#service.isAudio(piece.headers['content-type'])) {
          utterance.fail(
            new ProviderError(
              'voice_failed',
              "The voice's service answered with a content type that is not the requested audio.",
              {
                retryable: false,
              },
            ),
          )
          return false
        }
      } else if (piece.type === 'end') {
        if (status === 200) utterance.end()
        else utterance.fail(this.#service.failure(status, refusal))
        return status === 200
      } else if (status === 200) utterance.audio(piece.bytes)
      else refusal = `${refusal}${Buffer.from(piece.bytes).toString()}`.slice(0, MAX_ERROR_BYTES)
    }
  }
}
