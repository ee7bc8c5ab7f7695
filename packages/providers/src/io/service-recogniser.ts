import type { Time } from '@parley/kernel'
import { ProviderError, type ProviderFailure } from '../errors.ts'
import type { Connect } from '../speech-to-text/service-link.ts'
import type { RecogniserService } from '../speech-to-text/service-protocol.ts'
import { ServiceStream } from '../speech-to-text/service-stream.ts'
import type { SpeechStream, SpeechStreamOptions, SpeechToText } from '../speech-to-text/speech-to-text.ts'
import { primaryTag } from '../text-to-speech/request.ts'
import { withoutSecret } from './service-secret.ts'
import { ServiceSocket, type SocketEnd, socketError } from './service-socket.ts'

const CODES = {
  unreachable: 'recogniser_unreachable',
  busy: 'recogniser_busy',
  refused: 'recogniser_refused',
  failed: 'recogniser_failed',
} as const

/** What all recognisers at a service are given. */
export interface ServiceRecogniserOptions {
  /** Null: it is not ready. */
  readonly apiKey: string | null
  /** Such as "wss://api.deepgram.com"; default the service's. */
  readonly baseUrl?: string
  /** BCP 47 primary tags; default those of the model. */
  readonly languages?: readonly string[]
  readonly time: Time
  /** `finalize` is answered after so long with what is known; ms, default 1500. */
  readonly finalizeMs?: number
}

/** A recogniser at a service: one WebSocket for each stream. */
export class ServiceRecogniser implements SpeechToText {
  readonly id: string
  readonly languages: readonly string[]
  readonly #service: RecogniserService
  readonly #options: ServiceRecogniserOptions
  readonly #streams = new Set<ServiceStream>()
  readonly #retryAfter = new WeakMap<ProviderFailure, number>()
  #closed = false

  /** Throws `ProviderError` "recogniser_misconfigured" for a URL or a key that cannot be used. */
  constructor(service: RecogniserService, options: ServiceRecogniserOptions) {
    const baseUrl = options.baseUrl ?? service.baseUrl
    const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
    const isPlain = url !== null && [url.username, url.password, url.search, url.hash].every(part => part === '')
    if (!isPlain || !/^wss?:$/.test(url.protocol))
      throw new ProviderError('recogniser_misconfigured', 'The base URL is not of the form wss://host/path.')
    if (options.apiKey !== null && !/^[\x21-\x7e]+$/.test(options.apiKey))
      throw new ProviderError('recogniser_misconfigured', 'The key has characters that no header can carry.')
    this.id = service.id
    this.languages = options.languages ?? service.languages
    this.#service = service
    this.#options = options
  }

  async readiness(): Promise<string | null> {
    if (this.#closed) return 'closed'
    return this.#options.apiKey === null ? 'no key' : null
  }

  open(options: SpeechStreamOptions): SpeechStream {
    if (this.#closed) throw new ProviderError('recogniser_closed', 'This recogniser was closed.')
    if (!this.languages.includes(primaryTag(options.language))) {
      const known = this.languages.join(', ')
      throw new ProviderError('language_not_supported', `This recogniser knows ${known}, not "${options.language}".`)
    }
    const { time, finalizeMs, apiKey } = this.#options
    const stream: ServiceStream = new ServiceStream({
      protocol: this.#service.protocol,
      connect: this.#connector(options),
      time,
      withoutSecret: text => withoutSecret(text, apiKey),
      ...(finalizeMs !== undefined && { finalizeMs }),
      ...(options.onSent !== undefined && { onSent: options.onSent }),
      retryAfterMs: error => this.#retryAfter.get(error) ?? null,
      onClose: () => this.#streams.delete(stream),
    })
    this.#streams.add(stream)
    return stream
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const stream of this.#streams) stream.close()
  }

  #connector(options: SpeechStreamOptions): Connect {
    const { path, authorization } = this.#service
    const { apiKey, time, baseUrl = this.#service.baseUrl } = this.#options
    const url = `${baseUrl.replace(/\/+$/, '')}${path(options)}`
    const headers = apiKey === null ? {} : { authorization: authorization(apiKey) }
    return listener =>
      new ServiceSocket(
        { url, headers, time },
        {
          onOpen: listener.onOpen,
          onText: listener.onText,
          // None of them sends any.
          onBinary: () => {},
          onEnd: end => listener.onEnd(this.#errorOf(end)),
        },
      )
  }

  #errorOf(end: SocketEnd): ProviderFailure {
    const { protocol, failure } = this.#service
    const { apiKey } = this.#options
    // A service may repeat what it refuses.
    const reason = withoutSecret(end.reason, apiKey)
    const kind = end.cause === 'closed' && failure !== undefined ? failure(end.code, reason) : null
    const error =
      kind === null
        ? socketError({ ...end, reason }, protocol.name, CODES)
        : new ProviderError(CODES[kind], `${protocol.name}: ${reason}`)
    if (end.retryAfterMs !== null) this.#retryAfter.set(error, end.retryAfterMs)
    return error
  }
}
