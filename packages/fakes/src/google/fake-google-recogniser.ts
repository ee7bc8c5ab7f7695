import {
  createServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Ms, Samples } from '@parley/kernel'
import { listenLocally } from '../local-server.ts'
import type { FakeWord, ServiceFault } from '../protocol.ts'
import { FakeRecogniser, type FakeRecogniserLog, type FakeRecogniserOptions } from '../recognisers/fake-recogniser.ts'
import { RecogniserSession, textOf } from '../recognisers/recogniser-session.ts'
import { streamParameters } from '../recognisers/started-session.ts'
import type { ConnectionHandler, FakeConnection } from '../sockets/fake-connection.ts'
import { GrpcCallSocket, refuseCall } from './grpc-call-socket.ts'
import { readStreamingRequest, type StreamingConfig, streamingResponse } from './speech-messages.ts'

const PATH = '/google.cloud.speech.v1.Speech/StreamingRecognize'
const IDLE_CLOSE_MS: Ms = 10_000
/** Silence after which a result is final. */
const ENDPOINT: Samples = 500 * 8
/** Values of `google.rpc.Code` for HTTP statuses. */
const CODES: Readonly<Record<number, number>> = { 400: 3, 401: 16, 403: 7, 404: 12, 429: 8, 503: 14 }
const INTERNAL = 13
const OUT_OF_RANGE = 11

/** Google's `StreamingRecognize` over HTTP/2 without TLS: interim results, final results with word times, no message that asks for them. */
export class FakeGoogleRecogniser extends FakeRecogniser {
  readonly #server = createServer()
  readonly #sessions = new Set<ServerHttp2Session>()
  /** The fault of each connection, which its calls share. */
  readonly #faults = new WeakMap<Http2Session, ConnectionFault>()
  readonly #connectMs: Ms
  #port = 0

  private constructor(options: FakeRecogniserOptions) {
    super(
      {
        admit: (url, headers) => {
          if (url.pathname !== PATH) return refusal(404)
          return headers['x-goog-api-key'] === options.apiKey ? null : refusal(401)
        },
        refusal,
        handle: (connection, log) => new Framing(connection, options, log),
      },
      options,
    )
    this.#connectMs = options.delays?.connectMs ?? 0
    this.#server.on('session', session => {
      this.#sessions.add(session)
      session.on('error', () => session.destroy())
      session.on('close', () => this.#sessions.delete(session))
    })
    this.#server.on('stream', (stream, headers) => this.#onCall(stream, headers))
  }

  static async open(options: FakeRecogniserOptions): Promise<FakeGoogleRecogniser> {
    const fake = new FakeGoogleRecogniser(options)
    fake.#port = await listenLocally(fake.#server)
    return fake
  }

  /** "http://127.0.0.1:PORT". */
  override get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  override async close(): Promise<void> {
    for (const session of this.#sessions) session.destroy()
    await new Promise<void>(resolve => this.#server.close(() => resolve()))
  }

  #onCall(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on('error', () => {})
    const fault = this.#faultOf(stream)
    if (this.#connectMs === 0) return this.#answer(stream, headers, fault)
    setTimeout(() => this.#answer(stream, headers, fault), this.#connectMs)
  }

  /** The fault of the connection for this call: its time runs from the first call. */
  #faultOf({ session }: ServerHttp2Stream): ServiceFault | null {
    if (session === undefined) return null
    const known = this.#faults.get(session)
    const { fault, since } = known ?? { fault: this.takeFault(), since: performance.now() }
    if (known === undefined) this.#faults.set(session, { fault, since })
    else if (fault?.type === 'garble') return null
    if (fault === null || !('afterMs' in fault)) return fault
    return { ...fault, afterMs: Math.max(0, fault.afterMs - (performance.now() - since)) }
  }

  #answer(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, fault: ServiceFault | null): void {
    if (stream.destroyed) return
    const url = new URL(headers[':path'] ?? '/', this.url)
    const refused = this.refusalOf(url, headers, fault)
    if (refused === null) return this.accept(new GrpcCallSocket(stream), url, headers, fault)
    const { message } = refused.body as { readonly message: string }
    const retryAfterS = Number(refused.headers?.['Retry-After'] ?? Number.NaN)
    refuseCall(stream, { code: CODES[refused.status] ?? INTERNAL, message, retryAfterS })
  }
}

interface ConnectionFault {
  readonly fault: ServiceFault | null
  readonly since: Ms
}

function refusal(status: number) {
  return { status, body: { message: `Refused: ${status}.` } }
}

/** The first message has the configuration, all others have audio. */
class Framing implements ConnectionHandler {
  readonly #connection: FakeConnection
  readonly #options: FakeRecogniserOptions
  readonly #log: FakeRecogniserLog
  #session: Session | null = null

  constructor(connection: FakeConnection, options: FakeRecogniserOptions, log: FakeRecogniserLog) {
    this.#connection = connection
    this.#options = options
    this.#log = log
  }

  /** The client has ended the call. */
  onText(text: string): void {
    if (this.#session === null) this.#connection.close(CODES[400]!, 'no configuration')
    else this.#session.onText(text)
  }

  onBinary(bytes: Buffer): void {
    const request = readStreamingRequest(bytes)
    if (this.#session !== null && request?.audio !== undefined) return this.#session.onBinary(request.audio)
    if (this.#session !== null || request?.config === undefined)
      return this.#connection.close(CODES[400]!, 'Malordered data received.')
    const problem = problemOf(request.config)
    if (problem !== null) return this.#connection.close(CODES[400]!, problem)
    this.#session = new Session(this.#connection, this.#options, this.#log, request.config)
  }

  onClose(): void {
    this.#session?.onClose()
  }

  onIdle(): void {
    this.#session?.onIdle()
  }

  fail(): void {
    this.#connection.close(INTERNAL, 'Internal error encountered.')
  }
}

function problemOf({
  encoding,
  sampleRateHz,
  languageCode,
  model,
  interim,
  wordTimes,
}: StreamingConfig): string | null {
  if (encoding !== 'mulaw' && encoding !== 'linear16') return 'Invalid recognition config: bad encoding.'
  if (sampleRateHz < 8000 || sampleRateHz > 48_000) return 'Invalid recognition config: bad sample rate hertz.'
  if (!/^[a-z]{2,3}(-[A-Za-z]+)*-[A-Z]{2}$/.test(languageCode)) return 'Invalid recognition config: bad language code.'
  return model !== '' && interim && wordTimes ? null : 'This fake needs a model, interim results and word times.'
}

class Session extends RecogniserSession<FakeRecogniserOptions> {
  readonly #delayed: (() => void)[] = []
  #voiceIsReported = false

  constructor(
    connection: FakeConnection,
    options: FakeRecogniserOptions,
    log: FakeRecogniserLog,
    { encoding, sampleRateHz, languageCode, phrases }: StreamingConfig,
  ) {
    const language = languageCode.slice(0, 2)
    const query = streamParameters({ encoding, sample_rate: sampleRateHz }, language, phrases)
    super(connection, options, log, { language, idleCloseMs: IDLE_CLOSE_MS, query })
  }

  fail(): void {
    this.close(INTERNAL, 'Internal error encountered.')
  }

  onIdle(): void {
    this.close(OUT_OF_RANGE, 'Audio Timeout Error: Long duration elapsed without audio.')
  }

  protected onMessage(): void {
    if (this.words.length > 0) this.#sendResult(true)
    this.#later(this.options.delays?.finalMs ?? 0, () => this.close(0))
  }

  protected onWord(): void {
    this.#sendResult(false)
  }

  protected onBlock(): void {
    const { voiceFrom, quiet } = this.audio
    if (voiceFrom !== null && !this.#voiceIsReported) {
      this.#voiceIsReported = true
      this.connection.send(streamingResponse({ beganAt: voiceFrom, result: null }))
    }
    if (quiet < ENDPOINT) return
    if (this.words.length > 0) this.#sendResult(true)
    this.#voiceIsReported = false
    this.audio.forgetVoice()
  }

  #sendResult(isFinal: boolean): void {
    const words: readonly FakeWord[] = this.wordsToSend(isFinal)
    const endAt = this.heardUntil
    if (isFinal) this.words = []
    const message = streamingResponse({
      beganAt: null,
      result: { transcript: textOf(words), isFinal, endAt, words: isFinal ? words : [] },
    })
    const { delays } = this.options
    this.#later((isFinal ? delays?.finalMs : delays?.partialMs) ?? 0, () => this.connection.send(message))
  }

  #later(delayMs: Ms, act: () => void): void {
    if (delayMs === 0 && this.#delayed.length === 0) return act()
    this.#delayed.push(act)
    // Each timer runs the oldest waiting action, because timers of the same time may fire in any order.
    this.connection.after(delayMs, () => this.#delayed.shift()!())
  }
}
