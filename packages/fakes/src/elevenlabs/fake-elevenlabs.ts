import { objectFrom } from '../json-object.ts'
import type { FakeSpeech } from '../protocol.ts'
import type { Refusal } from '../sockets/socket-service.ts'
import { FakeUtterance, type FakeVoiceCounts, type FakeVoiceOptions, speechOf } from '../voices/fake-voice.ts'
import { FakeVoiceServer } from '../voices/fake-voice-server.ts'
import type { FakeSession, VoiceConnection } from '../voices/voice-connection.ts'
import { type WireEncoding, wireAudio, wireEncoding } from '../voices/wire-audio.ts'

const MAX_CONTEXTS = 5

/** ElevenLabs' multi-context WebSocket (`/v1/text-to-speech/{voice}/multi-stream-input`). */
export class FakeElevenLabs extends FakeVoiceServer {
  static open(options: FakeVoiceOptions): Promise<FakeElevenLabs> {
    return new FakeElevenLabs(
      {
        idleCloseMs: 20_000,
        admit: (url, headers) => admit(url, headers['xi-api-key'], options.apiKey),
        refusal: status => refusal(status, status === 429 ? 'too_many_concurrent_requests' : 'internal_error'),
        error: failure('internal_server_error', 'An unexpected error occurred.'),
        idle: {
          message: failure('input_timeout_exceeded', 'Have not received a new text input within the timeout.').message,
          code: 1008,
          reason: 'Have not received a new text input within the timeout of 20 seconds. Streaming input terminated.',
        },
        session: (connection, url, counts) => new Session(connection, url, options, counts),
      },
      options,
    ).listen()
  }
}

function admit(url: URL, key: unknown, apiKey: string): Refusal | null {
  if (!/^\/v1\/text-to-speech\/[A-Za-z0-9]+\/multi-stream-input$/.test(url.pathname)) return refusal(404, 'not_found')
  if (key !== apiKey) return refusal(401, 'invalid_api_key', `Invalid API key: ${String(key)}`)
  const known = encodingIn(url) !== null && (url.searchParams.get('model_id') ?? '') !== ''
  return known ? null : refusal(422, 'invalid_output_format')
}

function encodingIn({ searchParams }: URL): WireEncoding | null {
  const [encoding, sampleRateHz] = (searchParams.get('output_format') ?? '').split('_')
  return wireEncoding(encoding, sampleRateHz)
}

function refusal(status: number, code: string, message = 'The request was refused.'): Refusal {
  return { status, body: { detail: { status: code, message } } }
}

function failure(error: string, message: string) {
  return { message: JSON.stringify({ message, error, code: 1008 }), code: 1008, reason: message.slice(0, 100) }
}

interface Context {
  text: string
  speed: number
  /** Audio is being sent, or will be. */
  flushing: boolean
  closing: boolean
  utterance: FakeUtterance | null
}

class Session implements FakeSession {
  readonly #connection: VoiceConnection
  readonly #url: URL
  readonly #options: FakeVoiceOptions
  readonly #counts: FakeVoiceCounts
  readonly #contexts = new Map<string, Context>()
  #messages = 0
  #over = false

  constructor(connection: VoiceConnection, url: URL, options: FakeVoiceOptions, counts: FakeVoiceCounts) {
    this.#connection = connection
    this.#url = url
    this.#options = options
    this.#counts = counts
    if (url.pathname.includes('/Unknown/'))
      connection.end(failure('voice_id_does_not_exist', 'A voice with this id does not exist.'))
  }

  readonly onText = (text: string): void => {
    const message = objectFrom(text)
    if (message === null) return this.#connection.end(failure('invalid_message', 'Invalid message received.'))
    if (message.close_socket === true) return this.#connection.end({ message: null, code: 1000, reason: '' })
    const id = typeof message.context_id === 'string' ? message.context_id : 'default'
    if (message.close_context === true) return this.#closeContext(id)
    const context = this.#contexts.get(id) ?? this.#openContext(id, message)
    if (context === null) return
    if (typeof message.text === 'string') context.text += message.text
    if (message.flush === true && !context.flushing) void this.#speak(id, context)
  }

  readonly onClose = (): void => {
    this.#over = true
    for (const { utterance } of this.#contexts.values()) utterance?.stop()
    this.#contexts.clear()
  }

  #openContext(id: string, message: Readonly<Record<string, unknown>>): Context | null {
    if (this.#contexts.size >= MAX_CONTEXTS) {
      this.#counts.overLimit++
      const reason = `Maximum simultaneous contexts per WebSocket connection exceeded (${MAX_CONTEXTS}).`
      this.#connection.end(failure('max_active_conversations', reason))
      return null
    }
    const settings = message.voice_settings as { speed?: unknown } | undefined
    const speed = typeof settings?.speed === 'number' ? settings.speed : 1
    if (!(speed >= 0.7 && speed <= 1.2)) {
      this.#connection.end(failure('invalid_voice_settings', 'speed must be between 0.7 and 1.2'))
      return null
    }
    const context = { text: '', speed, flushing: false, closing: false, utterance: null }
    this.#contexts.set(id, context)
    this.#counts.maxConcurrent = Math.max(this.#counts.maxConcurrent, this.#contexts.size)
    return context
  }

  #closeContext(id: string): void {
    const context = this.#contexts.get(id)
    if (context === undefined) return
    // Flushed text is still spoken.
    context.closing = true
    if (!context.flushing) this.#final(id)
  }

  async #speak(id: string, context: Context): Promise<void> {
    const { text, speed } = context
    context.flushing = true
    context.text = ''
    this.#counts.utterances++
    const language = this.#url.searchParams.get('language_code') ?? 'en'
    const encoding = encodingIn(this.#url)!
    const request = { text: text.trim(), language, speed, format: encoding.format }
    const speech = await speechOf(this.#options, request)
    if (this.#over) return
    if (speech === null) return this.#connection.end(failure('internal_server_error', 'No speech.'))
    const characters = new Characters(speech)
    const audio = wireAudio(speech.samples, encoding)
    context.utterance = new FakeUtterance(audio, this.#options, {
      onPiece: (piece, index) => this.#piece(id, piece, index, characters.of(piece.length / audio.bytesPerMs)),
      onEnd: () => {
        context.flushing = false
        if (context.closing) this.#final(id)
      },
    })
  }

  #piece(id: string, piece: Buffer, index: number, { chars, starts, durations }: ReturnType<Characters['of']>): void {
    const times =
      this.#messages++ % 2 === 0
        ? { charStartTimesMs: starts, charDurationsMs: durations }
        : { charsStartTimesMs: starts, charsDurationsMs: durations }
    const alignment = chars.length === 0 ? null : { chars, ...times }
    // Audio comes before and after words; at times a message has no alignment, or the normalized one alone.
    const alignmentFields =
      index % 3 === 2 ? { alignment: null, normalizedAlignment: alignment } : { alignment, normalizedAlignment: null }
    const message = { audio: piece.toString('base64'), isFinal: null, ...alignmentFields, contextId: id }
    this.#connection.sendAudio(JSON.stringify(message))
  }

  #final(id: string): void {
    this.#contexts.delete(id)
    this.#connection.json({ isFinal: true, contextId: id })
  }
}

/** The characters of an utterance, by pieces of its audio: a word may be split between two. */
class Characters {
  readonly #all: { readonly char: string; readonly startMs: number }[]
  #ms = 0

  constructor({ words }: FakeSpeech) {
    this.#all = words.flatMap(({ text, startMs }) =>
      [...`${text} `].map((char, i) => ({ char, startMs: startMs + 30 * i })),
    )
    for (let i = 1; i < this.#all.length; i++) {
      const [before, here] = [this.#all[i - 1]!, this.#all[i]!]
      this.#all[i] = { ...here, startMs: Math.max(before.startMs, here.startMs) }
    }
  }

  of(ms: number) {
    const from = this.#ms
    this.#ms += ms
    const found = this.#all.findIndex(({ startMs }) => startMs >= this.#ms)
    const here = this.#all.splice(0, found === -1 ? this.#all.length : found)
    return {
      chars: here.map(({ char }) => char),
      starts: here.map(({ startMs }) => Math.max(0, Math.round(startMs - from))),
      durations: here.map(() => 30),
    }
  }
}
