import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { NARROWBAND } from '@parley/kernel'
import { closeServer, listenLocally } from '../local-server.ts'
import type { FakeHttpAnswer } from '../models/model-dialect.ts'
import { answerWith } from '../models/model-serving.ts'
import type { ServiceFault } from '../protocol.ts'
import { bodyOf } from '../request-body.ts'
import { FakeUtterance, type FakeVoiceCounts, type FakeVoiceOptions, noCounts, speechOf } from './fake-voice.ts'
import { LINEAR_24_KHZ, type WireEncoding, wireAudio } from './wire-audio.ts'

const MAX_BODY_BYTES = 64 * 1024

/** An utterance that a request asks for. */
interface HttpVoiceRequest {
  readonly text: string
  readonly speed: number
  readonly language: string
  readonly encoding: WireEncoding
}

/** What differs between the services. */
export interface HttpVoiceDialect {
  /** Path of its requests. */
  readonly path: string
  /** Appended to the address of the fake: its base URL. */
  readonly base: string
  /** Path of a list of voices, by which clients check their key; absent: the service has none. */
  readonly listPath?: string
  hasKey(headers: IncomingMessage['headers'], apiKey: string): boolean
  /** The request, or the refusal of an invalid one. */
  read(body: string, headers: IncomingMessage['headers']): HttpVoiceRequest | FakeHttpAnswer
  refusal(status: number, key: string): FakeHttpAnswer
  /** The answer for complete audio of services that do not stream; null: the audio is streamed as it is. */
  readonly document: ((audio: Buffer, encoding: WireEncoding) => object) | null
}

/** A voice over HTTP, on 127.0.0.1. Each fault belongs to one request. */
export class FakeHttpVoice {
  readonly url: string
  readonly counts: FakeVoiceCounts
  readonly #server: Server
  readonly #faults: (ServiceFault | null)[]

  protected constructor(server: Server, url: string, counts: FakeVoiceCounts, faults: (ServiceFault | null)[]) {
    this.#server = server
    this.url = url
    this.counts = counts
    this.#faults = faults
  }

  protected static async listen(
    dialect: HttpVoiceDialect,
    options: FakeVoiceOptions,
  ): Promise<[server: Server, url: string, counts: FakeVoiceCounts, faults: (ServiceFault | null)[]]> {
    const counts = noCounts()
    const faults = [...(options.faults ?? [])]
    const server = createServer((request, response) => {
      answer(request, response, { dialect, options, counts, takeFault: () => faults.shift() ?? null }).catch(() =>
        response.destroy(),
      )
    })
    server.keepAliveTimeout = options.idleCloseMs ?? 5000
    server.on('connection', socket => {
      counts.connections++
      counts.open++
      socket.on('error', () => {})
      socket.on('close', () => counts.open--)
    })
    return [server, `http://127.0.0.1:${await listenLocally(server)}${dialect.base}`, counts, faults]
  }

  /** Faults of the next requests, after those that were injected before; null for none. */
  injectFaults(...faults: readonly (ServiceFault | null)[]): void {
    this.#faults.push(...faults)
  }

  /** Closes the connections without a request in progress. */
  closeIdle(): void {
    this.#server.closeIdleConnections()
  }

  /** Breaks all connections. */
  breakOff(): void {
    this.#server.closeAllConnections()
  }

  close(): Promise<void> {
    return closeServer(this.#server)
  }
}

interface Exchange {
  readonly dialect: HttpVoiceDialect
  readonly options: FakeVoiceOptions
  readonly counts: FakeVoiceCounts
  readonly takeFault: () => ServiceFault | null
}

async function answer(request: IncomingMessage, response: ServerResponse, exchange: Exchange): Promise<void> {
  const { dialect, options, counts } = exchange
  // A client opens a connection ahead by an empty request, which has no part in the faults.
  const fault = request.method === 'POST' ? exchange.takeFault() : null
  const body = await bodyOf(request, MAX_BODY_BYTES)
  if (fault?.type === 'refuse') {
    counts.refused++
    const { status, retryAfterS } = fault
    const headers = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
    return answerWith(response, { ...dialect.refusal(status, ''), headers })
  }
  const { headers, method, url } = request
  if (method === 'GET' && dialect.listPath !== undefined && url?.split('?')[0] === dialect.listPath)
    return answerWith(
      response,
      dialect.hasKey(headers, options.apiKey) ? { status: 200, body: { voices: [] } } : dialect.refusal(401, ''),
    )
  if (method !== 'POST' || url !== dialect.path) return answerWith(response, dialect.refusal(404, ''))
  if (!dialect.hasKey(headers, options.apiKey)) {
    counts.refused++
    return answerWith(response, dialect.refusal(401, JSON.stringify(headers)))
  }
  const asked = dialect.read(body, headers)
  if ('status' in asked) return answerWith(response, asked)
  if (fault?.type === 'mute') return
  await speak(response, asked, fault, exchange)
}

async function speak(
  response: ServerResponse,
  { text, speed, language, encoding }: HttpVoiceRequest,
  fault: ServiceFault | null,
  { dialect, options, counts }: Exchange,
): Promise<void> {
  counts.utterances++
  // The voice behind the fakes has no 24 kHz.
  const isThreefold = encoding === LINEAR_24_KHZ
  const speech = await speechOf(options, {
    text,
    language,
    speed,
    format: isThreefold ? NARROWBAND : encoding.format,
  })
  const isBrokenAtOnce = fault?.type === 'break-off' && fault.afterMs === 0
  if (speech === null || isBrokenAtOnce) return void response.destroy()
  const audio = wireAudio(isThreefold ? threefold(speech.samples) : speech.samples, encoding)
  const type = dialect.document === null ? 'audio/pcm' : 'application/json; charset=UTF-8'
  response.writeHead(200, { 'Content-Type': fault?.type === 'garble' ? 'text/html' : type })
  if (fault?.type === 'garble') return void response.end('<html>Sign in</html>')
  let isSilent = false
  if (fault?.type === 'break-off' || fault?.type === 'error') setTimeout(() => response.destroy(), fault.afterMs)
  if (fault?.type === 'stall') {
    setTimeout(() => {
      isSilent = true
    }, fault.afterMs)
  }
  const bytes =
    dialect.document === null
      ? audio.bytes
      : Buffer.from(JSON.stringify(dialect.document(audio.bytes, encoding), null, 2))
  const scale = bytes.length / Math.max(1, audio.bytes.length)
  const bytesPerMs = audio.bytesPerMs * scale
  const { pace = Number.POSITIVE_INFINITY } = options
  const pieceBytes = Math.max(1, Math.round((options.pieceBytes ?? 1601) * (isThreefold ? 3 : scale)))
  const utterance = new FakeUtterance(
    { bytes, bytesPerMs },
    { pieceBytes, pace },
    {
      onPiece: piece => {
        if (!isSilent) response.write(piece)
      },
      onEnd: () => {
        if (!isSilent) response.end()
      },
    },
  )
  response.on('error', () => {})
  response.on('close', () => {
    if (!response.writableEnded) counts.cancelled++
    utterance.stop()
  })
}

/** 24 kHz from 8 kHz by linear interpolation. */
function threefold(samples: Int16Array): Int16Array {
  const made = new Int16Array(3 * samples.length)
  for (let i = 0; i < samples.length; i++) {
    const [here, next] = [samples[i]!, samples[i + 1] ?? 0]
    made[3 * i] = here
    made[3 * i + 1] = Math.round((2 * here + next) / 3)
    made[3 * i + 2] = Math.round((here + 2 * next) / 3)
  }
  return made
}
