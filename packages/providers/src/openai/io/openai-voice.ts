import { type AudioFormat, type Ms, NARROWBAND, type Time, type Timer, WIDEBAND } from '@parley/kernel'
import { Pool } from 'undici'
import { ProviderError, type ProviderFailure } from '../../errors.ts'
import { HttpExchange } from '../../io/http-exchange.ts'
import { serviceUrl } from '../../io/service-url.ts'
import { LinearDecoder } from '../../text-to-speech/audio-decoder.ts'
import { checkSpeechRequest, reportSent } from '../../text-to-speech/request.ts'
import { ServiceUtterance, type VoiceBudgets } from '../../text-to-speech/service-utterance.ts'
import type { SpeechChunk, SpeechRequest, TextToSpeech } from '../../text-to-speech/text-to-speech.ts'
import { mayBeLinear, speechBody, speechFailure } from '../speech-request.ts'

interface OpenAiVoiceOptions {
  /** Null: no key is sent. */
  readonly apiKey: string | null
  readonly time: Time
  /** Default "gpt-4o-mini-tts". */
  readonly model?: string
  /** Default "https://api.openai.com/v1"; "/audio/speech" is appended. */
  readonly baseUrl?: string
  /** First part of `id`; default "openai". */
  readonly provider?: string
  /** Voice of requests that name none; default "alloy". */
  readonly voice?: string
  /** Accepted BCP 47 primary tags; default those of OpenAI's voices. The service detects the language from the text. */
  readonly languages?: readonly string[]
  /** Sample rate of the linear audio that the service sends; default 24 000. */
  readonly sampleRateHz?: number
  /** Most concurrent requests; further ones wait. Default 64. */
  readonly maxConnections?: number
  readonly budgets?: VoiceBudgets
}

const LANGUAGES = (
  'en es fr de it pt nl pl sv da no fi cs sk hu ro bg el uk ru tr ar he hi ta ur fa ja ko zh id ms vi th fil ' +
  'ca gl hr sr sl mk bs lt lv et is cy hy az be kk kn mr mi ne sw'
).split(' ')
const SAMPLE_RATE_HZ = 24_000
const KEEP_ALIVE_MS: Ms = 30_000
const CONNECT_MS: Ms = 5000
const MAX_ERROR_BYTES = 65_536
/** Limit for reading the body of a refusal. */
const ERROR_BODY_MS: Ms = 500

/**
 * Speech over OpenAI's `/audio/speech` or a compatible service: linear audio as a stream over HTTP, resampled to the
 * format of the request. No word times. Speeds are passed on unchanged; some models ignore them. Stopping an utterance ends its request.
 * Errors: "voice_refused", "voice_busy", "voice_unreachable", "voice_failed", "voice_unknown", "voice_closed".
 */
export class OpenAiVoice implements TextToSpeech {
  readonly id: string
  readonly languages: readonly string[]
  readonly formats: readonly AudioFormat[]
  readonly #options: OpenAiVoiceOptions
  readonly #path: string
  readonly #pool: Pool
  readonly #utterances = new Set<ServiceUtterance>()
  /** A request was answered, so a connection may be reused, and may break when it is. */
  #answered = false
  #closed = false

  /** Throws `ProviderError` "voice_misconfigured" for a base URL or a key that cannot be used. */
  constructor(options: OpenAiVoiceOptions) {
    const { apiKey, model = 'gpt-4o-mini-tts', provider = 'openai' } = options
    if (apiKey !== null && apiKey !== '' && !/^[\x21-\x7e]+$/.test(apiKey))
      throw new ProviderError('voice_misconfigured', 'The key has characters that no header can carry.')
    const url = new URL(serviceUrl(options.baseUrl ?? 'https://api.openai.com/v1', ['https:', 'http:']))
    this.id = `${provider}/${model}`
    this.languages = options.languages ?? LANGUAGES
    const { sampleRateHz = SAMPLE_RATE_HZ } = options
    this.formats = [NARROWBAND, WIDEBAND].filter(format => format.sampleRateHz <= sampleRateHz)
    this.#options = options
    this.#path = `${url.pathname.replace(/\/+$/, '')}/audio/speech`
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
    checkSpeechRequest(request, { languages, formats, voices: /^[A-Za-z0-9_.+-]{1,64}$/ })
    if (this.#closed) throw closed()
    const obstacle = await this.readiness()
    if (obstacle !== null) throw new ProviderError('voice_refused', `There is ${obstacle}.`)
    if (signal.aborted || !/[\p{L}\p{N}]/u.test(request.text)) return
    const asking = new Asking(
      exchange => this.#dispatch(request, exchange),
      () => reportSent(request),
      this.#answered,
      this.#options.time,
    )
    const { time, budgets, sampleRateHz = SAMPLE_RATE_HZ } = this.#options
    const utterance = new ServiceUtterance({
      text: request.text,
      decoder: new LinearDecoder(sampleRateHz, request.format ?? NARROWBAND),
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
    if (this.#closed || this.#pool.stats.free > 0) return
    const exchange = new HttpExchange(() => {})
    exchange.next().then(
      () => {},
      () => {},
    )
    this.#pool.dispatch({ path: '/', method: 'HEAD', headersTimeout: CONNECT_MS }, exchange)
  }

  /** Utterances in progress fail with "voice_closed". */
  async close(): Promise<void> {
    this.#closed = true
    for (const utterance of this.#utterances) utterance.fail(closed())
    await this.#pool.destroy()
  }

  #dispatch(request: SpeechRequest, exchange: HttpExchange): void {
    const { apiKey, model = 'gpt-4o-mini-tts', voice = 'alloy' } = this.#options
    const headers = {
      'content-type': 'application/json',
      accept: 'audio/pcm, application/octet-stream',
      ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
    }
    const body = speechBody(request, { model, voice })
    this.#pool.dispatch({ path: this.#path, method: 'POST', headers, body }, exchange)
  }
}

function closed(): ProviderFailure {
  return new ProviderError('voice_closed', 'This voice was closed.')
}

const STOPPED = new Error('stopped')

/** One request, which is repeated once when a reused connection turns out dead. */
class Asking {
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

  constructor(dispatch: (exchange: HttpExchange) => void, onSent: () => void, mayBeStale: boolean, time: Time) {
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
            utterance.fail(speechFailure(status, refusal)),
          )
        if (status === 200 && !mayBeLinear(piece.headers['content-type'])) {
          utterance.fail(
            new ProviderError(
              'voice_failed',
              "The voice's service answered with a content type that is not linear audio.",
              {
                retryable: false,
              },
            ),
          )
          return false
        }
      } else if (piece.type === 'end') {
        if (status === 200) utterance.end()
        else utterance.fail(speechFailure(status, refusal))
        return status === 200
      } else if (status === 200) utterance.audio(piece.bytes)
      else refusal = `${refusal}${Buffer.from(piece.bytes).toString()}`.slice(0, MAX_ERROR_BYTES)
    }
  }
}
