import { randomUUID } from 'node:crypto'
import type { Samples } from '@parley/kernel'
import { FakeRecogniser, type FakeRecogniserLog, type FakeRecogniserOptions } from '../recognisers/fake-recogniser.ts'
import { RecogniserSession, textOf } from '../recognisers/recogniser-session.ts'
import type { FakeConnection } from '../sockets/fake-connection.ts'
import type { Refusal } from '../sockets/socket-service.ts'
import { deepgramAudioProblem, deepgramRefusal, deepgramRefusesRequest } from './deepgram-refusal.ts'

const IDLE_CLOSE_MS = 20_000
const UPDATE_EVERY: Samples = 2000
/** Voice without words begins a turn after this time. */
const VOICE_OPENS_AFTER: Samples = 4000
const EAGER_AFTER: Samples = 1600
const END_AFTER: Samples = 4000

export interface FakeDeepgramFluxOptions extends FakeRecogniserOptions {
  /** Words have times, as since July 2026. Default true. */
  readonly wordTimes?: boolean
  /** EndOfTurn names its trigger. Default true. */
  readonly triggers?: boolean
}

/** Deepgram's `/v2/listen` (Flux): turns with eager ends and resumptions, ForceEndTurn, no keep-alive. */
export class FakeDeepgramFlux extends FakeRecogniser {
  static open(options: FakeDeepgramFluxOptions): Promise<FakeDeepgramFlux> {
    const expected = { path: '/v2/listen', apiKey: options.apiKey }
    return new FakeDeepgramFlux(
      {
        admit: (url, headers) => deepgramRefusesRequest(url, headers, expected) ?? refusesQuery(url.searchParams),
        refusal: deepgramRefusal,
        handle: (connection, log) => new Turns(connection, options, log),
      },
      options,
    ).listen()
  }
}

const PARAMETERS =
  'model encoding sample_rate eot_threshold eager_eot_threshold eot_timeout_ms keyterm language_hint'.split(' ')

function refusesQuery(query: URLSearchParams): Refusal | null {
  const problem = problemOf(query)
  return problem === null ? null : deepgramRefusal(400, problem)
}

function problemOf(query: URLSearchParams): string | null {
  if (!/^flux-general-(en|multi)$/.test(query.get('model') ?? '')) return 'Bad Request: model'
  const audioProblem = deepgramAudioProblem(query)
  if (audioProblem !== null) return audioProblem
  const eager = query.get('eager_eot_threshold')
  if (eager !== null && !(Number(eager) >= 0.3 && Number(eager) <= 0.9)) return 'Bad Request: eager_eot_threshold'
  return [...query.keys()].find(name => !PARAMETERS.includes(name)) ?? null
}

type Event = 'Update' | 'StartOfTurn' | 'EagerEndOfTurn' | 'TurnResumed' | 'EndOfTurn'

class Turns extends RecogniserSession<FakeDeepgramFluxOptions> {
  readonly #requestId = randomUUID()
  readonly #isEager: boolean
  #sequence = 0
  #turn = 0
  #isOpen = false
  #isEnding = false
  #windowFrom: Samples = 0
  #reportedUntil: Samples = 0

  constructor(connection: FakeConnection, options: FakeDeepgramFluxOptions, log: FakeRecogniserLog) {
    const query = connection.url.searchParams
    super(connection, options, log, { language: query.get('language_hint') ?? 'en', idleCloseMs: IDLE_CLOSE_MS })
    this.#isEager = query.has('eager_eot_threshold')
    this.send({ type: 'Connected', request_id: this.#requestId, sequence_id: this.#sequence++ })
  }

  fail(): void {
    this.#fail('INTERNAL_SERVER_ERROR', 'Something went wrong.')
  }

  /** Messages do not reset the idle timer: only audio does. */
  protected onMessage(type: string | null): void {
    if (type === 'ForceEndTurn') {
      if (this.#isOpen) this.#endTurn('manual', 0.3)
    } else if (type === 'CloseStream') this.close(1000)
    else if (type !== 'Configure') this.#fail('UNPARSABLE_CLIENT_MESSAGE', 'Could not parse the message.')
  }

  protected onWord(): void {
    const wasEnding = this.#isEnding
    this.#isEnding = false
    if (!this.#isOpen) this.#startTurn()
    else this.#sendTranscript(wasEnding ? 'TurnResumed' : 'Update')
  }

  protected onBlock(): void {
    const { heard, voiceFrom, quiet } = this.audio
    if (!this.#isOpen && voiceFrom !== null && heard - voiceFrom >= VOICE_OPENS_AFTER && quiet === 0)
      return this.#startTurn()
    if (this.#isOpen && quiet >= END_AFTER) return this.#endTurn('model', 0.85)
    const mayEnd = this.#isEager && !this.#isEnding && this.words.length > 0
    if (this.#isOpen && mayEnd && quiet >= EAGER_AFTER) {
      this.#isEnding = true
      return this.#sendTranscript('EagerEndOfTurn', 0.55)
    }
    if (heard - this.#reportedUntil >= UPDATE_EVERY) this.#sendTranscript('Update')
  }

  onIdle(): void {
    this.close(1011, 'timeout')
  }

  #startTurn(): void {
    this.#isOpen = true
    this.#sendTranscript('StartOfTurn')
  }

  #endTurn(trigger: string, confidence: number): void {
    this.#sendTranscript('EndOfTurn', confidence, trigger)
    this.#isOpen = false
    this.#isEnding = false
    this.words = []
    this.#turn++
    this.#windowFrom = this.audio.heard
    this.audio.forgetVoice()
  }

  #sendTranscript(event: Event, confidence = 0.05, trigger?: string): void {
    const { wordTimes = true, triggers = true } = this.options
    const words = this.wordsToSend(event === 'EndOfTurn' || event === 'EagerEndOfTurn')
    const info = {
      type: 'TurnInfo',
      request_id: this.#requestId,
      sequence_id: this.#sequence++,
      event,
      turn_index: this.#turn,
      audio_window_start: this.#windowFrom / 8000,
      audio_window_end: this.heardUntil / 8000,
      transcript: textOf(words),
      words: words.map(({ text, startSample, endSample }) => ({
        word: text,
        confidence: 0.97,
        ...(wordTimes && { start: startSample / 8000, end: endSample / 8000 }),
      })),
      end_of_turn_confidence: confidence,
      ...(triggers && trigger !== undefined && { trigger }),
    }
    this.sendResult(info, event === 'EndOfTurn')
    this.#reportedUntil = this.audio.heard
  }

  #fail(code: string, description: string): void {
    this.send({ type: 'Error', sequence_id: this.#sequence++, code, description })
    this.close(1011)
  }
}
