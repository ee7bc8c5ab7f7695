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

const IDLE_CLOSE_MS = 20_000
const UPDATE_EVERY: Samples = 2000
/** A voice without words opens a turn after so long. */
const VOICE_OPENS_AFTER: Samples = 4000
const EAGER_AFTER: Samples = 1600
const END_AFTER: Samples = 4000

export interface FakeDeepgramFluxOptions extends FakeRecogniserOptions {
  /** Words have times, as since July 2026. Default true. */
  readonly wordTimes?: boolean
  /** EndOfTurn says what triggered it. Default true. */
  readonly triggers?: boolean
}

/** Deepgram's `/v2/listen` (Flux): turns with eager ends and resumptions, ForceEndTurn, no keep-alive. */
export class FakeDeepgramFlux extends FakeRecogniser {
  static async open(options: FakeDeepgramFluxOptions): Promise<FakeDeepgramFlux> {
    const log = emptyLog()
    const service = await SocketService.open({
      ...options,
      admit: (url, request) =>
        deepgramRefusesRequest(url, request, { path: '/v2/listen', apiKey: options.apiKey }) ?? refusesQuery(url),
      refusal: deepgramRefusal,
      converse: line => new Turns(line, options, log),
    })
    return new FakeDeepgramFlux(service, log)
  }
}

const PARAMETERS =
  'model encoding sample_rate eot_threshold eager_eot_threshold eot_timeout_ms keyterm language_hint'.split(' ')

function refusesQuery({ searchParams: query }: URL): Refusal | null {
  const eager = query.get('eager_eot_threshold')
  const problem =
    (!/^flux-general-(en|multi)$/.test(query.get('model') ?? '') && 'Bad Request: model') ||
    (query.get('encoding') !== 'mulaw' && 'Bad Request: encoding') ||
    (query.get('sample_rate') !== '8000' && 'Bad Request: sample_rate') ||
    (eager !== null && !(Number(eager) >= 0.3 && Number(eager) <= 0.9) && 'Bad Request: eager_eot_threshold') ||
    [...query.keys()].find(name => !PARAMETERS.includes(name)) ||
    null
  return problem === null ? null : { status: 400, body: deepgramRefusal(400, problem) }
}

type Event = 'Update' | 'StartOfTurn' | 'EagerEndOfTurn' | 'TurnResumed' | 'EndOfTurn'

class Turns implements Conversation {
  readonly #line: ServiceLine
  readonly #options: FakeDeepgramFluxOptions
  readonly #log: FakeRecogniserLog
  readonly #ear: ListenedLine
  readonly #requestId = randomUUID()
  readonly #isEager: boolean
  #sequence = 0
  #words: FakeWord[] = []
  #turn = 0
  #isOpen = false
  #isEnding = false
  #windowFrom: Samples = 0
  #toldAt: Samples = 0
  #idle: Timer

  constructor(line: ServiceLine, options: FakeDeepgramFluxOptions, log: FakeRecogniserLog) {
    this.#line = line
    this.#options = options
    this.#log = log
    log.queries.push(line.query)
    this.#isEager = line.query.has('eager_eot_threshold')
    this.#ear = new ListenedLine(options.hearing(line.query.get('language_hint') ?? 'en'), {
      onWord: word => this.#onWord(word),
      onBlock: () => this.#onBlock(),
    })
    this.#idle = this.#waitForIdle()
    line.say({ type: 'Connected', request_id: this.#requestId, sequence_id: this.#sequence++ })
  }

  onText(text: string): void {
    const type = typeOf(text)
    this.#log.messages.push(type ?? '?')
    if (type === 'ForceEndTurn') {
      if (this.#isOpen) this.#endTurn('manual', 0.3)
    } else if (type === 'CloseStream') this.#close(1000)
    else if (type !== 'Configure') this.#fail('UNPARSABLE_CLIENT_MESSAGE', 'Could not parse the message.')
  }

  onBinary(bytes: Buffer): void {
    logAudio(this.#log, bytes)
    this.#idle.cancel()
    this.#idle = this.#waitForIdle()
    this.#ear.hear(bytes)
  }

  fail(): void {
    this.#fail('INTERNAL_SERVER_ERROR', 'Something went wrong.')
  }

  end(): void {
    this.#ear.close()
  }

  #onWord(word: FakeWord): void {
    this.#words.push(word)
    const wasEnding = this.#isEnding
    this.#isEnding = false
    if (!this.#isOpen) this.#startTurn()
    else this.#tell(wasEnding ? 'TurnResumed' : 'Update')
  }

  #onBlock(): void {
    const { heard, voiceFrom, quiet } = this.#ear
    if (!this.#isOpen && voiceFrom !== null && heard - voiceFrom >= VOICE_OPENS_AFTER && quiet === 0)
      return this.#startTurn()
    if (this.#isOpen && quiet >= END_AFTER) return this.#endTurn('model', 0.85)
    const mayEnd = this.#isEager && !this.#isEnding && this.#words.length > 0
    if (this.#isOpen && mayEnd && quiet >= EAGER_AFTER) {
      this.#isEnding = true
      return this.#tell('EagerEndOfTurn', 0.55)
    }
    if (heard - this.#toldAt >= UPDATE_EVERY) this.#tell('Update')
  }

  #startTurn(): void {
    this.#isOpen = true
    this.#tell('StartOfTurn')
  }

  #endTurn(trigger: string, confidence: number): void {
    this.#tell('EndOfTurn', confidence, trigger)
    this.#isOpen = false
    this.#isEnding = false
    this.#words = []
    this.#turn++
    this.#windowFrom = this.#ear.heard
    this.#ear.forgetVoice()
  }

  #tell(event: Event, confidence = 0.05, trigger?: string): void {
    const { delays, revises = false, wordTimes = true, triggers = true } = this.#options
    const heard = Math.max(this.#ear.heard, this.#words.at(-1)?.endSample ?? 0)
    const isCertain = event === 'EndOfTurn' || event === 'EagerEndOfTurn'
    const words = isCertain ? this.#words : revised(this.#words, revises)
    const info = {
      type: 'TurnInfo',
      request_id: this.#requestId,
      sequence_id: this.#sequence++,
      event,
      turn_index: this.#turn,
      audio_window_start: this.#windowFrom / 8000,
      audio_window_end: heard / 8000,
      transcript: textOf(words),
      words: words.map(({ text, startSample, endSample }) => ({
        word: text,
        confidence: 0.97,
        ...(wordTimes && { start: startSample / 8000, end: endSample / 8000 }),
      })),
      end_of_turn_confidence: confidence,
      ...(triggers && trigger !== undefined && { trigger }),
    }
    this.#line.say(info, (event === 'EndOfTurn' ? delays?.finalMs : delays?.partialMs) ?? 0)
    this.#toldAt = this.#ear.heard
  }

  #fail(code: string, description: string): void {
    this.#line.say({ type: 'Error', sequence_id: this.#sequence++, code, description })
    this.#close(1011)
  }

  #waitForIdle(): Timer {
    return this.#line.after(this.#options.idleCloseMs ?? IDLE_CLOSE_MS, () => this.#close(1011, 'timeout'))
  }

  #close(code: number, reason = ''): void {
    this.#log.closes.push(code)
    this.#line.close(code, reason)
  }
}
