import { randomUUID } from 'node:crypto'
import type { Ms, Samples } from '@parley/kernel'
import { objectFrom } from '../json-object.ts'
import { FakeRecogniser, type FakeRecogniserLog, type FakeRecogniserOptions } from '../recognisers/fake-recogniser.ts'
import { RecogniserSession, textOf } from '../recognisers/recogniser-session.ts'
import { streamParameters } from '../recognisers/started-session.ts'
import type { ConnectionHandler, FakeConnection } from '../sockets/fake-connection.ts'

type JsonObject = Readonly<Record<string, unknown>>

const PATH = '/stt/speech/recognition/conversation/cognitiveservices/v1'
const IDLE_CLOSE_MS: Ms = 180_000
/** Times are in units of 100 ns. */
const TICKS_PER_SAMPLE = 1250

/** Azure's speech protocol: text messages with headers, audio behind a binary header, hypotheses and phrases. */
export class FakeAzureRecogniser extends FakeRecogniser {
  static open(options: FakeRecogniserOptions): Promise<FakeAzureRecogniser> {
    return new FakeAzureRecogniser(
      {
        admit: (url, headers) => {
          if (url.pathname !== PATH) return refusal(404)
          if (headers['ocp-apim-subscription-key'] !== options.apiKey) return refusal(401)
          return /^[a-z]{2,3}-[A-Z]{2}$/.test(url.searchParams.get('language') ?? '') ? null : refusal(400)
        },
        refusal,
        handle: (connection, log) => new Framing(connection, options, log),
      },
      options,
    ).listen()
  }
}

function refusal(status: number) {
  return { status, body: { error: { code: String(status), message: `HTTP ${status}` } } }
}

/** Reads the headers of messages. The stream begins with a header of a WAV file, after two messages that describe it. */
class Framing implements ConnectionHandler {
  readonly #connection: FakeConnection
  readonly #options: FakeRecogniserOptions
  readonly #log: FakeRecogniserLog
  readonly #bodies = new Map<string, JsonObject>()
  #session: Session | null = null

  constructor(connection: FakeConnection, options: FakeRecogniserOptions, log: FakeRecogniserLog) {
    this.#connection = connection
    this.#options = options
    this.#log = log
  }

  onText(text: string): void {
    const [head = '', body = ''] = text.split('\r\n\r\n')
    const { path, requestId } = headersIn(head)
    const parsed = objectFrom(body)
    if (parsed === null || !/^[0-9a-f]{32}$/.test(requestId)) return this.#connection.close(1002, 'no message')
    this.#bodies.set(path, parsed)
  }

  onBinary(bytes: Buffer): void {
    const length = bytes.length < 2 ? 0 : bytes.readUInt16BE(0)
    const { path, requestId } = headersIn(bytes.subarray(2, 2 + length).toString('latin1'))
    const audio = bytes.subarray(2 + length)
    if (path !== 'audio') return this.#connection.close(1002, 'no audio')
    if (this.#session !== null) return audio.length === 0 ? this.#session.end() : this.#session.onBinary(audio)
    const context = this.#bodies.get('speech.context')
    if (context === undefined || !this.#bodies.has('speech.config') || audio.toString('latin1', 0, 4) !== 'RIFF')
      return this.#connection.close(1002, 'the stream is not described')
    this.#session = new Session(this.#connection, this.#options, this.#log, { context, header: audio, requestId })
  }

  onClose(): void {
    this.#session?.onClose()
  }

  onIdle(): void {
    this.#session?.onIdle()
  }

  fail(): void {
    if (this.#session === null) this.#connection.close(1011)
    else this.#session.fail()
  }
}

function headersIn(head: string): { readonly path: string; readonly requestId: string } {
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim() ?? ''
  return { path: header('Path'), requestId: header('X-RequestId') }
}

interface Start {
  readonly context: JsonObject
  readonly header: Buffer
  readonly requestId: string
}

class Session extends RecogniserSession<FakeRecogniserOptions> {
  readonly #silence: Samples
  readonly #requestId: string
  #hasStarted = false
  #voiceIsReported = false

  constructor(connection: FakeConnection, options: FakeRecogniserOptions, log: FakeRecogniserLog, start: Start) {
    const { context, header, requestId } = start
    const detection = (context.phraseDetection ?? {}) as JsonObject
    const { segmentation } = detection.conversation as { readonly segmentation: JsonObject }
    const groups = ((context.dgi ?? {}) as { groups?: readonly { items: readonly { text: string }[] }[] }).groups ?? []
    const encoding = header.readUInt16LE(20) === 7 ? 'mulaw' : 'linear16'
    const language = connection.url.searchParams.get('language')?.slice(0, 2) ?? 'en'
    const terms = groups.flatMap(({ items }) => items.map(({ text }) => text))
    const query = streamParameters({ encoding, sample_rate: header.readUInt32LE(24) }, language, terms)
    super(connection, options, log, { language, idleCloseMs: IDLE_CLOSE_MS, query })
    this.#requestId = requestId
    this.#silence = 8 * Number(segmentation.segmentationSilenceTimeoutMs)
  }

  /** The empty message of audio. */
  end(): void {
    this.onText('{"type":"end"}')
  }

  fail(): void {
    this.close(1011, 'Internal server error.')
  }

  onIdle(): void {
    this.close(1000, 'Idle for too long.')
  }

  protected onMessage(): void {
    if (this.words.length > 0) this.#sendPhrase()
    this.#message('turn.end', {})
    this.close(1000)
  }

  protected onWord(): void {
    const words = this.wordsToSend(false)
    const place = placeOf(words[0]!.startSample, words.at(-1)!.endSample)
    this.#result('speech.hypothesis', { Text: textOf(words).toLowerCase(), ...place }, false)
  }

  protected onBlock(): void {
    const { voiceFrom, quiet } = this.audio
    if (!this.#hasStarted) {
      this.#hasStarted = true
      this.#message('turn.start', { context: { serviceTag: randomUUID() } })
    }
    if (voiceFrom !== null && !this.#voiceIsReported) {
      this.#voiceIsReported = true
      this.#message('speech.startDetected', { Offset: voiceFrom * TICKS_PER_SAMPLE })
    }
    if ((voiceFrom !== null || this.words.length > 0) && quiet >= this.#silence) this.#sendPhrase()
  }

  #sendPhrase(): void {
    const { words } = this
    const from = words[0]?.startSample ?? this.audio.voiceFrom ?? 0
    const until = words.at(-1)?.endSample ?? this.audio.heard - this.audio.quiet
    const Words = words.map(({ text, startSample, endSample }) => ({
      Word: text.toLowerCase(),
      ...placeOf(startSample, endSample),
    }))
    const best = { Confidence: 0.9, Lexical: textOf(words).toLowerCase(), Display: textOf(words), Words }
    const isHeard = words.length > 0
    const status = isHeard ? 'Success' : 'NoMatch'
    const phrase = {
      Id: randomUUID(),
      RecognitionStatus: status,
      ...placeOf(from, until),
      ...(isHeard && { NBest: [best] }),
    }
    this.#result('speech.phrase', phrase, true)
    this.words = []
    this.#voiceIsReported = false
    this.audio.forgetVoice()
  }

  #message(path: string, body: object): void {
    this.connection.send(this.#text(path, body))
  }

  /** A message with the delay of partial or of final results. */
  #result(path: string, body: object, isFinal: boolean): void {
    const { delays } = this.options
    const delayMs = (isFinal ? delays?.finalMs : delays?.partialMs) ?? 0
    const text = this.#text(path, body)
    if (delayMs === 0) return this.connection.send(text)
    this.connection.after(delayMs, () => this.connection.send(text))
  }

  #text(path: string, body: object): string {
    return `X-RequestId:${this.#requestId}\r\nContent-Type:application/json; charset=utf-8\r\nPath:${path}\r\n\r\n${JSON.stringify(body)}`
  }
}

function placeOf(from: Samples, until: Samples): { readonly Offset: number; readonly Duration: number } {
  return { Offset: from * TICKS_PER_SAMPLE, Duration: (until - from) * TICKS_PER_SAMPLE }
}
