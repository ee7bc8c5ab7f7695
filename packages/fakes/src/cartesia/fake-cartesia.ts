import type { IncomingHttpHeaders } from 'node:http'
import { objectFrom } from '../json-object.ts'
import type { FakeSpeech } from '../protocol.ts'
import type { Refusal } from '../sockets/socket-service.ts'
import { FakeUtterance, type FakeVoiceCounts, type FakeVoiceOptions, speechOf } from '../voices/fake-voice.ts'
import { FakeVoiceServer } from '../voices/fake-voice-server.ts'
import type { FakeSession, VoiceConnection } from '../voices/voice-connection.ts'
import { type WireEncoding, wireAudio, wireEncoding } from '../voices/wire-audio.ts'

interface FakeCartesiaOptions extends FakeVoiceOptions {
  /** Most concurrent contexts of all connections; beyond it a context gets an error 429. Default 1000. */
  readonly maxContexts?: number
}

/** Cartesia's WebSocket (`/tts/websocket`). */
export class FakeCartesia extends FakeVoiceServer {
  static open(options: FakeCartesiaOptions): Promise<FakeCartesia> {
    const account = { contexts: 0 }
    return new FakeCartesia(
      {
        idleCloseMs: 300_000,
        admit: (url, headers) => admit(url, headers, options.apiKey),
        refusal: status => refusal(status, 'Refused'),
        error: {
          message: errorMessage(null, 500, 'internal_error', 'Internal error'),
          code: 1011,
          reason: 'internal error',
        },
        idle: { message: null, code: 1000, reason: 'connection idle timeout' },
        session: (connection, _url, counts) => new Session(connection, options, counts, account),
      },
      options,
    ).listen()
  }
}

function admit(url: URL, headers: IncomingHttpHeaders, apiKey: string): Refusal | null {
  if (url.pathname !== '/tts/websocket') return refusal(404, 'Not found')
  const key = headers['x-api-key'] ?? url.searchParams.get('api_key')
  if (key !== apiKey) return refusal(401, `Unauthorized: ${String(key)}`)
  const version = headers['cartesia-version'] ?? url.searchParams.get('cartesia_version')
  return /^\d{4}-\d\d-\d\d$/.test(String(version)) ? null : refusal(400, 'Missing version')
}

function refusal(status: number, title: string): Refusal {
  return { status, body: { title, status_code: status } }
}

function errorMessage(context: string | null, status: number, code: string, title: string): string {
  const fields = { title, message: `${title}, make sure it is valid.`, error_code: code, status_code: status }
  return JSON.stringify({ type: 'error', done: true, ...fields, ...(context !== null && { context_id: context }) })
}

/** The error for an invalid request: status, code and title; null: the request is valid. */
function faultOf(message: Readonly<Record<string, unknown>>): readonly [number, string, string] | null {
  const voice = message.voice as Record<string, unknown> | undefined
  if (typeof message.model_id !== 'string' || !message.model_id.startsWith('sonic'))
    return [404, 'model_not_found', 'Invalid model']
  if (voice?.mode !== 'id' || typeof voice.id !== 'string' || voice.id === 'Unknown')
    return [404, 'voice_not_found', 'Invalid voice']
  if (encodingIn(message) === null) return [400, 'invalid_output_format', 'Invalid output format']
  if (typeof message.transcript !== 'string' || message.transcript.trim() === '')
    return [400, 'no_transcript', 'Invalid transcript']
  const config = message.generation_config as { speed?: number } | undefined
  if (config?.speed !== undefined && !(config.speed >= 0.6 && config.speed <= 1.5))
    return [400, 'invalid_speed', 'Invalid speed']
  return null
}

function encodingIn(message: Readonly<Record<string, unknown>>): WireEncoding | null {
  const format = message.output_format as Record<string, unknown> | undefined
  return format?.container === 'raw' ? wireEncoding(format.encoding, format.sample_rate) : null
}

const SPEEDS: Readonly<Record<string, number>> = { slow: 0.8, normal: 1, fast: 1.3 }

class Session implements FakeSession {
  readonly #connection: VoiceConnection
  readonly #options: FakeCartesiaOptions
  readonly #counts: FakeVoiceCounts
  readonly #account: { contexts: number }
  readonly #contexts = new Map<string, { utterance: FakeUtterance | null; cancelled: boolean }>()

  constructor(
    connection: VoiceConnection,
    options: FakeCartesiaOptions,
    counts: FakeVoiceCounts,
    account: { contexts: number },
  ) {
    this.#connection = connection
    this.#options = options
    this.#counts = counts
    this.#account = account
  }

  readonly onText = (text: string): void => {
    const message = objectFrom(text)
    if (message === null) return this.#connection.send(errorMessage(null, 400, 'invalid_json', 'Invalid JSON'))
    const id = typeof message.context_id === 'string' ? message.context_id : ''
    if (message.cancel === true) return this.#cancel(id)
    const fault = faultOf(message)
    if (fault !== null) return this.#connection.send(errorMessage(id, ...fault))
    if (this.#account.contexts >= (this.#options.maxContexts ?? 1000))
      return this.#connection.send(errorMessage(id, 429, 'concurrency_limited', 'Too many concurrent requests'))
    void this.#speak(id, message)
  }

  readonly onClose = (): void => {
    for (const { utterance } of this.#contexts.values()) utterance?.stop()
    this.#account.contexts -= this.#contexts.size
    this.#contexts.clear()
  }

  /** Audio of a cancelled context is still sent for a while. */
  #cancel(id: string): void {
    const context = this.#contexts.get(id)
    if (context === undefined) return
    this.#counts.cancelled++
    context.cancelled = true
    context.utterance?.endAfter(this.#options.lateMessages ?? 5)
  }

  async #speak(id: string, message: Readonly<Record<string, unknown>>): Promise<void> {
    const context: { utterance: FakeUtterance | null; cancelled: boolean } = { utterance: null, cancelled: false }
    this.#contexts.set(id, context)
    this.#account.contexts++
    this.#counts.utterances++
    this.#counts.maxConcurrent = Math.max(this.#counts.maxConcurrent, this.#contexts.size)
    const config = message.generation_config as { speed?: number } | undefined
    const speed = config?.speed ?? SPEEDS[String(message.speed)] ?? 1
    const encoding = encodingIn(message)!
    const language = String(message.language ?? 'en')
    const request = { text: String(message.transcript), language, speed, format: encoding.format }
    const speech = await speechOf(this.#options, request)
    if (!this.#contexts.has(id)) return
    if (speech === null) return this.#connection.send(errorMessage(id, 500, 'internal_error', 'No speech'))
    const words = message.add_timestamps === true ? new Timestamps(speech) : null
    const audio = wireAudio(speech.samples, encoding)
    const utterance: FakeUtterance = new FakeUtterance(audio, this.#options, {
      onPiece: piece => this.#piece(id, piece, context.cancelled, words?.next(piece.length / audio.bytesPerMs)),
      onEnd: () => this.#done(id, words),
    })
    context.utterance = utterance
    if (context.cancelled) utterance.endAfter(0)
  }

  #piece(id: string, piece: Buffer, isLate: boolean, timestamps: WordTimestamps | null | undefined): void {
    if (isLate) this.#counts.lateMessages++
    const data = piece.toString('base64')
    const chunk = { type: 'chunk', data, done: false, status_code: 206, step_time: 1.5, context_id: id }
    this.#connection.sendAudio(JSON.stringify(chunk))
    // Times are sent after the audio that they describe.
    if (timestamps)
      this.#connection.json({
        type: 'timestamps',
        done: false,
        status_code: 206,
        context_id: id,
        word_timestamps: timestamps,
      })
  }

  #done(id: string, words: Timestamps | null): void {
    const timestamps = words?.next(Number.POSITIVE_INFINITY)
    if (timestamps)
      this.#connection.json({
        type: 'timestamps',
        done: false,
        status_code: 206,
        context_id: id,
        word_timestamps: timestamps,
      })
    this.#connection.json({
      type: 'flush_done',
      done: false,
      flush_done: true,
      flush_id: 1,
      status_code: 206,
      context_id: id,
    })
    this.#connection.json({ type: 'done', done: true, status_code: 206, context_id: id })
    if (this.#contexts.delete(id)) this.#account.contexts--
  }
}

interface WordTimestamps {
  readonly words: readonly string[]
  readonly start: readonly number[]
  readonly end: readonly number[]
}

class Timestamps {
  readonly #words: { readonly text: string; readonly startMs: number }[]
  #ms = 0

  constructor({ words }: FakeSpeech) {
    this.#words = [...words]
  }

  /** The timestamps of the words that begin within the next `ms` of audio. */
  next(ms: number): WordTimestamps | null {
    this.#ms += ms
    const found = this.#words.findIndex(({ startMs }) => startMs >= this.#ms)
    const here = this.#words.splice(0, found === -1 ? this.#words.length : found)
    if (here.length === 0) return null
    const start = here.map(({ startMs }) => startMs / 1000)
    return { words: here.map(({ text }) => text), start, end: start.map(at => at + 0.1) }
  }
}
