import { randomUUID } from 'node:crypto'
import { type AudioFormat, type Ms, msToSamples, type Time } from '@parley/kernel'
import { ProviderError, type ProviderFailure } from '../errors.ts'
import { encodingFor, type ServiceEncoding } from '../service-encoding.ts'
import { checkStreamOptions } from '../speech-to-text/check-stream-options.ts'
import type { Connect } from '../speech-to-text/service-link.ts'
import type { RecogniserService, ServiceWire } from '../speech-to-text/service-protocol.ts'
import { ServiceStream } from '../speech-to-text/service-stream.ts'
import type { SpeechStream, SpeechStreamOptions, SpeechToText } from '../speech-to-text/speech-to-text.ts'
import { reachHost } from './reach-host.ts'
import { withoutSecret } from './service-secret.ts'
import { ServiceSocket, type SocketEnd, socketError } from './service-socket.ts'

const CODES = {
  unreachable: 'recogniser_unreachable',
  busy: 'recogniser_busy',
  refused: 'recogniser_refused',
  failed: 'recogniser_failed',
} as const

/** A service that accepts no audio for this long is considered gone. */
const MAX_QUEUED_MS: Ms = 20_000

/** Options of all recognisers at a service. */
export interface ServiceRecogniserOptions {
  /** Null: the recogniser is not ready. */
  readonly apiKey: string | null
  /** Such as "wss://api.deepgram.com"; default the service's. */
  readonly baseUrl?: string
  /** BCP 47 primary tags; default those of the model. */
  readonly languages?: readonly string[]
  readonly time: Time
  /** Time after which `finalize` is answered with the words so far; ms, default 1500. */
  readonly finalizeMs?: Ms
}

/** How the connections of a recogniser are made. */
export interface RecogniserTransport {
  /** Protocols of its URLs, the usual one first: "wss:". */
  readonly protocols: readonly string[]
  readonly open: (options: TransportOptions, listener: TransportListener) => ReturnType<Connect>
}

interface TransportOptions {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly time: Time
  /** Limit of the bytes that wait to be sent. */
  readonly maxQueuedBytes: number
  /** Of the stream's audio. */
  readonly bytesPerMs: number
  /** Undefined: messages are sent as they are. */
  readonly wire: ServiceWire | undefined
}

interface TransportListener {
  readonly onOpen: () => void
  readonly onText: (text: string) => void
  /** Called once, as the last event. */
  readonly onEnd: (end: SocketEnd) => void
}

const WEB_SOCKET: RecogniserTransport = {
  protocols: ['wss:', 'ws:'],
  open: ({ wire, ...options }, listener) => {
    // No recogniser service sends binary messages.
    const socket = new ServiceSocket(options, { ...listener, onBinary: () => {} })
    if (wire === undefined) return socket
    for (const message of wire.opening) socket.send(message)
    return { send: message => socket.send(wire.encode(message)), close: () => socket.close() }
  },
}

/** A recogniser at a service: one connection for each stream, a WebSocket unless another `transport` is given. */
export class ServiceRecogniser implements SpeechToText {
  readonly id: string
  readonly languages: readonly string[]
  readonly formats: readonly AudioFormat[]
  readonly #service: RecogniserService
  readonly #options: ServiceRecogniserOptions
  readonly #transport: RecogniserTransport
  readonly #streams = new Set<ServiceStream>()
  readonly #retryAfter = new WeakMap<ProviderFailure, number>()
  #reached: Promise<void> | undefined
  #closed = false

  /** Throws `ProviderError` "recogniser_misconfigured" for a URL or a key that cannot be used. */
  constructor(
    service: RecogniserService,
    options: ServiceRecogniserOptions,
    transport: RecogniserTransport = WEB_SOCKET,
  ) {
    const baseUrl = options.baseUrl ?? service.baseUrl
    const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
    const isPlain = url !== null && [url.username, url.password, url.search, url.hash].every(part => part === '')
    const { protocols } = transport
    if (!isPlain || !protocols.includes(url.protocol))
      throw new ProviderError('recogniser_misconfigured', `The base URL is not of the form ${protocols[0]}//host/path.`)
    if (options.apiKey !== null && !/^[\x21-\x7e]+$/.test(options.apiKey))
      throw new ProviderError('recogniser_misconfigured', 'The key has characters that no header can carry.')
    this.id = service.id
    this.languages = options.languages ?? service.languages
    this.formats = service.formats
    this.#service = service
    this.#options = options
    this.#transport = transport
  }

  async readiness(): Promise<string | null> {
    if (this.#closed) return 'closed'
    return this.#options.apiKey === null ? 'no key' : null
  }

  async warm(): Promise<void> {
    if ((await this.readiness()) !== null) return
    this.#reached ??= reachHost(this.#options.baseUrl ?? this.#service.baseUrl)
    await this.#reached
  }

  open(options: SpeechStreamOptions): SpeechStream {
    if (this.#closed) throw new ProviderError('recogniser_closed', 'This recogniser was closed.')
    checkStreamOptions(options, this)
    const { time, finalizeMs, apiKey } = this.#options
    const encoding = encodingFor(options.format)
    const stream: ServiceStream = new ServiceStream({
      protocol: this.#service.protocol,
      encoding,
      connect: this.#connector(options, encoding),
      time,
      withoutSecret: text => withoutSecret(text, apiKey),
      ...(finalizeMs !== undefined && { finalizeMs }),
      ...(options.tellsVoice !== undefined && { tellsVoice: options.tellsVoice }),
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

  #connector(options: SpeechStreamOptions, { format, bytesPerSample }: ServiceEncoding): Connect {
    const { path, headers: headersOf, wire: openWire } = this.#service
    const { apiKey, time, baseUrl = this.#service.baseUrl } = this.#options
    const url = `${baseUrl.replace(/\/+$/, '')}${path(options)}`
    const maxQueuedBytes = msToSamples(MAX_QUEUED_MS, format) * bytesPerSample
    const headers = apiKey === null ? {} : headersOf(apiKey)
    return ({ onOpen, onText, onEnd }) => {
      const connection = { id: randomUUID().replaceAll('-', ''), openedAt: new Date().toISOString() }
      const wire = openWire?.(options, connection)
      const bytesPerMs = (format.sampleRateHz / 1000) * bytesPerSample
      return this.#transport.open(
        { url, headers, time, maxQueuedBytes, bytesPerMs, wire },
        { onOpen, onText, onEnd: end => onEnd(this.#errorOf(end)) },
      )
    }
  }

  #errorOf(end: SocketEnd): ProviderFailure {
    const { protocol, failure } = this.#service
    const { apiKey } = this.#options
    // A service may repeat the key that it refuses.
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
