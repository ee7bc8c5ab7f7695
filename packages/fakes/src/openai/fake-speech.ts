import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { NARROWBAND } from '@parley/kernel'
import { objectFrom } from '../json-object.ts'
import { closeServer, listenLocally } from '../local-server.ts'
import type { FakeHttpAnswer } from '../models/model-dialect.ts'
import { answerWith } from '../models/model-serving.ts'
import type { ServiceFault } from '../protocol.ts'
import { bodyOf } from '../request-body.ts'
import { FakeUtterance, type FakeVoiceCounts, type FakeVoiceOptions, noCounts, speechOf } from '../voices/fake-voice.ts'
import { LINEAR_24_KHZ, wireAudio } from '../voices/wire-audio.ts'
import { openAiError } from './openai-refusal.ts'

const MAX_BODY_BYTES = 64 * 1024
const MAX_CHARACTERS = 4096

/** OpenAI's `/v1/audio/speech`: 24 kHz linear audio as a stream over HTTP. Each fault belongs to one request. */
export class FakeSpeechService {
  readonly url: string
  readonly counts: FakeVoiceCounts
  readonly #server: Server
  readonly #faults: (ServiceFault | null)[]

  private constructor(server: Server, url: string, counts: FakeVoiceCounts, faults: (ServiceFault | null)[]) {
    this.#server = server
    this.url = url
    this.counts = counts
    this.#faults = faults
  }

  static async open(options: FakeVoiceOptions): Promise<FakeSpeechService> {
    const counts = noCounts()
    const faults = [...(options.faults ?? [])]
    const server = createServer((request, response) => {
      answer(request, response, { options, counts, faults: faults.shift() ?? null }).catch(() => response.destroy())
    })
    server.keepAliveTimeout = options.idleCloseMs ?? 5000
    server.on('connection', socket => {
      counts.connections++
      counts.open++
      socket.on('error', () => {})
      socket.on('close', () => counts.open--)
    })
    const url = `http://127.0.0.1:${await listenLocally(server)}/v1`
    return new FakeSpeechService(server, url, counts, faults)
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
  readonly options: FakeVoiceOptions
  readonly counts: FakeVoiceCounts
  readonly faults: ServiceFault | null
}

function refusal(status: number, code: string | null, message: string): FakeHttpAnswer {
  return openAiError(status, status === 429 ? 'rate_limit_error' : 'invalid_request_error', code, message)
}

async function answer(request: IncomingMessage, response: ServerResponse, exchange: Exchange): Promise<void> {
  const { options, counts, faults } = exchange
  const body = objectFrom(await bodyOf(request, MAX_BODY_BYTES))
  if (faults?.type === 'refuse') {
    counts.refused++
    const { status, retryAfterS } = faults
    const headers = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
    const code = status === 429 ? 'rate_limit_exceeded' : null
    return answerWith(response, { ...refusal(status, code, 'Refused.'), headers })
  }
  const key = request.headers.authorization
  if (request.method !== 'POST' || request.url !== '/v1/audio/speech')
    return answerWith(response, refusal(404, null, 'Invalid URL'))
  if (key !== `Bearer ${options.apiKey}`) {
    counts.refused++
    return answerWith(response, refusal(401, 'invalid_api_key', `Incorrect API key provided: ${key}.`))
  }
  const fault = faultOf(body)
  if (fault !== null) return answerWith(response, refusal(...fault))
  if (faults?.type === 'mute') return
  await speak(response, { text: String(body!.input), speed: Number(body!.speed ?? 1) }, exchange)
}

function faultOf(body: Readonly<Record<string, unknown>> | null): readonly [number, string, string] | null {
  if (body === null || typeof body.model !== 'string') return [400, 'invalid_body', 'We could not parse the body.']
  if (typeof body.input !== 'string' || body.input === '' || [...body.input].length > MAX_CHARACTERS)
    return [400, 'string_too_long', 'Invalid input.']
  if (body.voice === 'unknown') return [400, 'invalid_value', "Input should be 'alloy', 'ash' or others."]
  if (body.response_format !== 'pcm') return [400, 'invalid_value', 'This fake makes pcm only.']
  const speed = Number(body.speed ?? 1)
  return speed >= 0.25 && speed <= 4 ? null : [400, 'invalid_value', 'Invalid speed.']
}

async function speak(
  response: ServerResponse,
  { text, speed }: { readonly text: string; readonly speed: number },
  { options, counts, faults }: Exchange,
): Promise<void> {
  counts.utterances++
  const language = /[áéíóúñ¿¡]/.test(text) ? 'es' : 'en'
  // The voice behind the fake has no 24 kHz.
  const speech = await speechOf(options, { text, language, speed, format: NARROWBAND })
  const isBrokenAtOnce = faults?.type === 'break-off' && faults.afterMs === 0
  if (speech === null || isBrokenAtOnce) return void response.destroy()
  response.writeHead(200, { 'Content-Type': faults?.type === 'garble' ? 'text/html' : 'audio/pcm' })
  if (faults?.type === 'garble') return void response.end('<html>Sign in</html>')
  let isSilent = false
  if (faults?.type === 'break-off' || faults?.type === 'error') setTimeout(() => response.destroy(), faults.afterMs)
  if (faults?.type === 'stall') {
    setTimeout(() => {
      isSilent = true
    }, faults.afterMs)
  }
  const audio = wireAudio(threefold(speech.samples), LINEAR_24_KHZ)
  const pieceBytes = (options.pieceBytes ?? 1601) * 3
  const { pace = Number.POSITIVE_INFINITY } = options
  const utterance = new FakeUtterance(
    audio,
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
