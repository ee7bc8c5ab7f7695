import { randomUUID } from 'node:crypto'
import type { Samples, Timer } from '@parley/kernel'
import {
  emptyLog,
  FakeRecogniser,
  type FakeRecogniserLog,
  type FakeRecogniserOptions,
  logAudio,
  revised,
  textOf,
  typeOf,
} from '../hearing/hearing-service.ts'
import { ListenedLine } from '../hearing/listened-line.ts'
import { type Conversation, type Refusal, type ServiceLine, SocketService } from '../hearing/socket-service.ts'
import type { FakeWord } from '../protocol.ts'
import { deepgramRefusal, deepgramRefusesRequest } from './deepgram-refusal.ts'

const IDLE_CLOSE_MS = 10_000
/** An interim result at least so often. */
const INTERIM_EVERY: Samples = 8000
/** A segment becomes final when it is so long, whether or not anybody has stopped. */
const LONGEST_SEGMENT: Samples = 5 * 8000
/** With less than this a Finalize is not answered. */
const LEAST_TO_FINALIZE: Samples = 800

/** Deepgram's `/v1/listen` (Nova): interim and final results, SpeechStarted, Finalize, idle close with 1011. */
export class FakeDeepgramListen extends FakeRecogniser {
  static async open(options: FakeRecogniserOptions): Promise<FakeDeepgramListen> {
    const log = emptyLog()
    const service = await SocketService.open({
      ...options,
      admit: (url, request) =>
        deepgramRefusesRequest(url, request, { path: '/v1/listen', apiKey: options.apiKey }) ?? refusesQuery(url),
      refusal: deepgramRefusal,
      converse: line => new Listening(line, options, log),
    })
    return new FakeDeepgramListen(service, log)
  }
}

function refusesQuery({ searchParams: query }: URL): Refusal | null {
  const problem =
    (query.get('encoding') !== 'mulaw' && 'Bad Request: encoding') ||
    (query.get('sample_rate') !== '8000' && 'Bad Request: sample_rate') ||
    (query.get('model') === null && 'Bad Request: no such model/language/tier combination found.')
  return problem === false ? null : { status: 400, body: deepgramRefusal(400, problem) }
}

class Listening implements Conversation {
  readonly #line: ServiceLine
  readonly #options: FakeRecogniserOptions
  readonly #log: FakeRecogniserLog
  readonly #ear: ListenedLine
  readonly #endpointing: Samples
  #words: FakeWord[] = []
  #segmentFrom: Samples = 0
  #toldAt: Samples = 0
  #voiceIsTold = false
  #idle: Timer

  constructor(line: ServiceLine, options: FakeRecogniserOptions, log: FakeRecogniserLog) {
    this.#line = line
    this.#options = options
    this.#log = log
    log.queries.push(line.query)
    this.#endpointing = 8 * Number(line.query.get('endpointing') ?? 10)
    this.#ear = new ListenedLine(options.hearing(line.query.get('language') ?? 'en'), {
      onWord: word => {
        this.#words.push(word)
        this.#tell({})
      },
      onBlock: () => this.#onBlock(),
    })
    this.#idle = this.#waitForIdle()
  }

  onText(text: string): void {
    const type = typeOf(text)
    this.#log.messages.push(type ?? '?')
    this.#stayAwake()
    if (type === 'KeepAlive') return
    if (type === 'Finalize') return this.#finalize()
    if (type === 'CloseStream') return this.#sayGoodbye()
    this.#close(1008, 'DATA-0000')
  }

  onBinary(bytes: Buffer): void {
    logAudio(this.#log, bytes)
    this.#stayAwake()
    this.#ear.hear(bytes)
  }

  fail(): void {
    this.#line.say({ type: 'Error', variant: 'INTERNAL', description: 'Something went wrong.', message: '' })
    this.#close(1011, 'NET-0000')
  }

  end(): void {
    this.#ear.close()
  }

  #onBlock(): void {
    const { heard, voiceFrom, quiet } = this.#ear
    if (voiceFrom !== null && !this.#voiceIsTold) {
      this.#voiceIsTold = true
      this.#line.say({ type: 'SpeechStarted', channel: [0, 1], timestamp: voiceFrom / 8000 })
    }
    const hasSpeech = voiceFrom !== null || this.#words.length > 0
    if (hasSpeech && quiet >= Math.max(this.#endpointing, 800)) return this.#tell({ isFinal: true, stopped: true })
    if (heard - this.#segmentFrom >= LONGEST_SEGMENT) return this.#tell({ isFinal: true })
    if (heard - this.#toldAt >= INTERIM_EVERY) this.#tell({})
  }

  #finalize(): void {
    if (this.#ear.heard - this.#segmentFrom < LEAST_TO_FINALIZE && this.#words.length === 0) return
    this.#tell({ isFinal: true, fromFinalize: true })
  }

  #tell({ isFinal = false, stopped = false, fromFinalize = false }): void {
    const { delays, revises = false } = this.#options
    const heard = Math.max(this.#ear.heard, this.#words.at(-1)?.endSample ?? 0)
    const words = isFinal ? this.#words : revised(this.#words, revises)
    const told = words.map(word => ({
      word: word.text.toLowerCase(),
      start: word.startSample / 8000,
      end: word.endSample / 8000,
      confidence: 0.98,
      punctuated_word: word.text,
    }))
    const result = {
      type: 'Results',
      channel_index: [0, 1],
      duration: (heard - this.#segmentFrom) / 8000,
      start: this.#segmentFrom / 8000,
      is_final: isFinal,
      speech_final: stopped,
      channel: { alternatives: [{ transcript: textOf(words), confidence: words.length > 0 ? 0.98 : 0, words: told }] },
      metadata: { request_id: randomUUID(), model_info: { name: this.#line.query.get('model') } },
      from_finalize: fromFinalize,
    }
    this.#line.say(result, (isFinal ? delays?.finalMs : delays?.partialMs) ?? 0)
    this.#toldAt = heard
    if (!isFinal) return
    this.#segmentFrom = heard
    this.#words = []
    if (!stopped && !fromFinalize) return
    this.#ear.forgetVoice()
    this.#voiceIsTold = false
  }

  #sayGoodbye(): void {
    this.#line.say({
      type: 'Metadata',
      request_id: randomUUID(),
      duration: this.#ear.heard / 8000,
      channels: 1,
    })
    this.#close(1000)
  }

  #stayAwake(): void {
    this.#idle.cancel()
    this.#idle = this.#waitForIdle()
  }

  #waitForIdle(): Timer {
    return this.#line.after(this.#options.idleCloseMs ?? IDLE_CLOSE_MS, () =>
      this.#close(1011, 'NET-0001: did not receive audio data or a text message within the timeout window'),
    )
  }

  #close(code: number, reason = ''): void {
    this.#log.closes.push(code)
    this.#line.close(code, reason)
  }
}
