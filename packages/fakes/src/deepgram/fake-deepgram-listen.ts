import { randomUUID } from 'node:crypto'
import type { Samples } from '@parley/kernel'
import { FakeRecogniser, type FakeRecogniserLog, type FakeRecogniserOptions } from '../recognisers/fake-recogniser.ts'
import { RecogniserSession, textOf } from '../recognisers/recogniser-session.ts'
import type { FakeConnection } from '../sockets/fake-connection.ts'
import type { Refusal } from '../sockets/socket-service.ts'
import { deepgramAudioProblem, deepgramRefusal, deepgramRefusesRequest } from './deepgram-refusal.ts'

const IDLE_CLOSE_MS = 10_000
/** Longest interval between interim results. */
const INTERIM_EVERY: Samples = 8000
/** A segment of this length becomes final without a pause. */
const MAX_SEGMENT: Samples = 5 * 8000
/** With less audio a Finalize is not answered. */
const MIN_TO_FINALIZE: Samples = 800

/** Deepgram's `/v1/listen` (Nova): interim and final results, SpeechStarted, Finalize, idle close with 1011. */
export class FakeDeepgramListen extends FakeRecogniser {
  static open(options: FakeRecogniserOptions): Promise<FakeDeepgramListen> {
    const expected = { path: '/v1/listen', apiKey: options.apiKey }
    return new FakeDeepgramListen(
      {
        admit: (url, headers) => deepgramRefusesRequest(url, headers, expected) ?? refusesQuery(url.searchParams),
        refusal: deepgramRefusal,
        handle: (connection, log) => new Listening(connection, options, log),
      },
      options,
    ).listen()
  }
}

function refusesQuery(query: URLSearchParams): Refusal | null {
  const noModel = 'Bad Request: no such model/language/tier combination found.'
  const problem = deepgramAudioProblem(query) ?? (query.get('model') === null ? noModel : null)
  return problem === null ? null : deepgramRefusal(400, problem)
}

/** The language of the words; with `multi` they are taken for English. */
function languageOf(query: URLSearchParams): string {
  const language = query.get('language') ?? 'en'
  return language === 'multi' ? 'en' : language
}

class Listening extends RecogniserSession<FakeRecogniserOptions> {
  readonly #query: URLSearchParams
  readonly #endpointing: Samples
  #segmentFrom: Samples = 0
  #reportedUntil: Samples = 0
  #voiceIsReported = false

  constructor(connection: FakeConnection, options: FakeRecogniserOptions, log: FakeRecogniserLog) {
    const query = connection.url.searchParams
    super(connection, options, log, { language: languageOf(query), idleCloseMs: IDLE_CLOSE_MS })
    this.#query = query
    this.#endpointing = 8 * Number(query.get('endpointing') ?? 10)
  }

  fail(): void {
    this.send({ type: 'Error', variant: 'INTERNAL', description: 'Something went wrong.', message: '' })
    this.close(1011, 'NET-0000')
  }

  protected onMessage(type: string | null): void {
    this.resetIdleTimer()
    if (type === 'KeepAlive') return
    if (type === 'Finalize') return this.#finalize()
    if (type === 'CloseStream') return this.#closeStream()
    this.close(1008, 'DATA-0000')
  }

  protected onWord(): void {
    this.#sendTranscript({})
  }

  protected onBlock(): void {
    const { heard, voiceFrom, quiet } = this.audio
    if (voiceFrom !== null && !this.#voiceIsReported) {
      this.#voiceIsReported = true
      this.send({ type: 'SpeechStarted', channel: [0, 1], timestamp: voiceFrom / 8000 })
    }
    const hasSpeech = voiceFrom !== null || this.words.length > 0
    if (hasSpeech && quiet >= Math.max(this.#endpointing, 800))
      return this.#sendTranscript({ isFinal: true, stopped: true })
    if (heard - this.#segmentFrom >= MAX_SEGMENT) return this.#sendTranscript({ isFinal: true })
    if (heard - this.#reportedUntil >= INTERIM_EVERY) this.#sendTranscript({})
  }

  onIdle(): void {
    this.close(1011, 'NET-0001: did not receive audio data or a text message within the timeout window')
  }

  #finalize(): void {
    if (this.audio.heard - this.#segmentFrom < MIN_TO_FINALIZE && this.words.length === 0) return
    this.#sendTranscript({ isFinal: true, fromFinalize: true })
  }

  #sendTranscript({ isFinal = false, stopped = false, fromFinalize = false }): void {
    const heard = this.heardUntil
    const words = this.wordsToSend(isFinal)
    const reported = words.map(word => ({
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
      channel: {
        alternatives: [{ transcript: textOf(words), confidence: words.length > 0 ? 0.98 : 0, words: reported }],
      },
      metadata: { request_id: randomUUID(), model_info: { name: this.#query.get('model') } },
      from_finalize: fromFinalize,
    }
    this.sendResult(result, isFinal)
    this.#reportedUntil = heard
    if (!isFinal) return
    this.#segmentFrom = heard
    this.words = []
    if (!stopped && !fromFinalize) return
    this.audio.forgetVoice()
    this.#voiceIsReported = false
  }

  #closeStream(): void {
    this.send({
      type: 'Metadata',
      request_id: randomUUID(),
      duration: this.audio.heard / 8000,
      channels: 1,
    })
    this.close(1000)
  }
}
