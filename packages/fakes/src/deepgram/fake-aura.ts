import { randomUUID } from 'node:crypto'
import { objectFrom } from '../json-object.ts'
import type { FakeSpeech } from '../protocol.ts'
import type { Refusal } from '../sockets/socket-service.ts'
import { FakeUtterance, type FakeVoiceCounts, type FakeVoiceOptions, speechOf } from '../voices/fake-voice.ts'
import { FakeVoiceServer } from '../voices/fake-voice-server.ts'
import type { FakeSession, VoiceConnection } from '../voices/voice-connection.ts'
import { type WireEncoding, wireAudio, wireEncoding } from '../voices/wire-audio.ts'
import { deepgramError } from './deepgram-refusal.ts'

const MAX_FLUSHES = 20
const MINUTE_MS = 60_000
const MAX_CHARACTERS = 2000
const SILENCE: FakeSpeech = { samples: new Int16Array(0), words: [] }

/** Deepgram's Aura over its WebSocket (`/v1/speak`). */
export class FakeAura extends FakeVoiceServer {
  static open(options: FakeVoiceOptions): Promise<FakeAura> {
    return new FakeAura(
      {
        idleCloseMs: 60_000,
        admit: (url, headers) => admit(url, headers.authorization, options.apiKey),
        refusal: status => refusal(status, status === 429 ? 'TOO_MANY_REQUESTS' : 'INTERNAL_ERROR', 'Refused.'),
        error: { message: null, code: 1011, reason: 'NET-0000' },
        idle: { message: null, code: 1011, reason: 'NET-0001' },
        session: (connection, url, counts) => new Session(connection, url, options, counts),
      },
      options,
    ).listen()
  }
}

function admit(url: URL, authorization: string | undefined, apiKey: string): Refusal | null {
  if (url.pathname !== '/v1/speak') return refusal(404, 'NOT_FOUND', 'Not found.')
  if (authorization !== `Token ${apiKey}`) return refusal(401, 'INVALID_AUTH', `Invalid credentials: ${authorization}`)
  const query = url.searchParams
  if (!/^aura-[a-z0-9-]+-[a-z]{2}$/.test(query.get('model') ?? '') || query.get('model')!.includes('unknown'))
    return refusal(400, 'INVALID_QUERY_PARAMETER', 'No such model.')
  const speed = Number(query.get('speed') ?? 1)
  const isKnown = encodingIn(url) !== null && speed >= 0.7 && speed <= 1.5
  return isKnown ? null : refusal(400, 'INVALID_QUERY_PARAMETER', 'Unsupported audio format.')
}

function encodingIn({ searchParams }: URL): WireEncoding | null {
  return wireEncoding(searchParams.get('encoding'), searchParams.get('sample_rate'))
}

function refusal(status: number, code: string, message: string): Refusal {
  return { status, body: deepgramError(code, message), headers: { 'dg-error': code } }
}

class Session implements FakeSession {
  readonly #connection: VoiceConnection
  readonly #url: URL
  readonly #options: FakeVoiceOptions
  readonly #counts: FakeVoiceCounts
  #text = ''
  #flushes: number[] = []
  #sequence = 0
  #utterance: FakeUtterance | null = null
  /** Incremented by Clear, so that speech which is still being synthesised is not sent. */
  #generation = 0
  #clearing = false
  #over = false

  constructor(connection: VoiceConnection, url: URL, options: FakeVoiceOptions, counts: FakeVoiceCounts) {
    this.#connection = connection
    this.#url = url
    this.#options = options
    this.#counts = counts
    const model = url.searchParams.get('model')
    connection.json({
      type: 'Metadata',
      request_id: randomUUID(),
      model_name: model,
      model_version: '2025-04-15.0',
      model_uuid: randomUUID(),
    })
  }

  readonly onText = (text: string): void => {
    const message = objectFrom(text)
    if (message?.type === 'Speak' && typeof message.text === 'string') return this.#take(message.text)
    if (message?.type === 'Flush') return this.#flush()
    if (message?.type === 'Clear') return this.#clear()
    if (message?.type === 'Close') return this.#connection.end({ message: null, code: 1000, reason: '' })
    this.#connection.end({ message: null, code: 1008, reason: 'DATA-0000' })
  }

  readonly onClose = (): void => {
    this.#over = true
    this.#utterance?.stop()
  }

  #take(text: string): void {
    if (text.length > MAX_CHARACTERS)
      return this.#warn('Text exceeds the limit of 2000 characters.', 'TEXT_LENGTH_EXCEEDED')
    this.#text += text
  }

  #warn(description: string, code: string): void {
    this.#counts.overLimit++
    this.#connection.json({ type: 'Warning', description, code })
  }

  #flush(): void {
    const now = performance.now()
    this.#flushes = this.#flushes.filter(at => now - at < MINUTE_MS)
    if (this.#flushes.length >= MAX_FLUSHES)
      return this.#warn('The maximum number of Flush messages was exceeded.', 'EXCESSIVE_FLUSH')
    this.#flushes.push(now)
    void this.#speak()
  }

  async #speak(): Promise<void> {
    const text = this.#text.trim()
    const generation = this.#generation
    this.#text = ''
    this.#counts.utterances++
    this.#counts.maxConcurrent = 1
    const language = (this.#url.searchParams.get('model') ?? '').slice(-2)
    const speed = Number(this.#url.searchParams.get('speed') ?? 1)
    const encoding = encodingIn(this.#url)!
    // An empty text has the same first-audio delay as any other.
    const speak = text === '' ? async () => SILENCE : this.#options.speak
    const speech = await speechOf({ ...this.#options, speak }, { text, language, speed, format: encoding.format })
    if (this.#over || generation !== this.#generation) return
    this.#utterance = new FakeUtterance(wireAudio((speech ?? SILENCE).samples, encoding), this.#options, {
      onPiece: piece => {
        if (this.#clearing) this.#counts.lateMessages++
        this.#connection.sendAudio(piece)
      },
      onEnd: () => this.#ended(),
    })
  }

  #ended(): void {
    this.#utterance = null
    // Flushed may also be sent for an utterance that was cleared.
    this.#connection.json({ type: 'Flushed', sequence_id: this.#sequence++ })
    if (this.#clearing) this.#cleared()
  }

  #clear(): void {
    this.#counts.cancelled++
    this.#text = ''
    this.#generation++
    this.#clearing = true
    if (this.#utterance === null) this.#cleared()
    else this.#utterance.endAfter(this.#options.lateMessages ?? 5)
  }

  #cleared(): void {
    this.#clearing = false
    this.#connection.json({ type: 'Cleared', sequence_id: this.#sequence++ })
  }
}
