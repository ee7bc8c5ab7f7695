import { randomUUID } from 'node:crypto'
import type { Ms, Samples } from '@parley/kernel'
import { FakeRecogniser, type FakeRecogniserLog, type FakeRecogniserOptions } from '../recognisers/fake-recogniser.ts'
import { RecogniserSession, textOf } from '../recognisers/recogniser-session.ts'
import type { FakeConnection } from '../sockets/fake-connection.ts'

const MIN_TURN_SILENCE_MS = 400
const MAX_TURN_SILENCE_MS = 1280
const MIN_MESSAGE_MS: Ms = 50
const MAX_MESSAGE_MS: Ms = 1000
/** How far audio may be ahead of the time since the connection opened. */
const MAX_AHEAD_S = 300

export interface FakeAssemblyAiOptions extends FakeRecogniserOptions {
  /** Sends SpeechStarted, as the Pro models do. Default false. */
  readonly speechStarted?: boolean
  /** Repeats every turn with formatting. Default false. */
  readonly formats?: boolean
}

/** AssemblyAI's `/v3/ws`: turns, ForceEndpoint, and the vendor's own close codes for errors. */
export class FakeAssemblyAi extends FakeRecogniser {
  static open(options: FakeAssemblyAiOptions): Promise<FakeAssemblyAi> {
    return new FakeAssemblyAi(
      {
        admit: url => (url.pathname === '/v3/ws' ? null : { status: 404, body: { error: 'Not Found' } }),
        refusal: status => ({
          status,
          body: { error: status === 429 ? 'Too many requests' : `HTTP ${status}` },
        }),
        handle: (connection, log) => new Session(connection, options, log),
      },
      options,
    ).listen()
  }
}

class Session extends RecogniserSession<FakeAssemblyAiOptions> {
  readonly #openedAt: Ms
  readonly #silence: Samples
  #turn = 0
  #voiceIsReported = false

  constructor(connection: FakeConnection, options: FakeAssemblyAiOptions, log: FakeRecogniserLog) {
    const query = connection.url.searchParams
    // The service does not close a session for silence.
    super(connection, options, log, { language: 'en', idleCloseMs: null })
    this.#openedAt = connection.time.now()
    const most = Number(query.get('max_turn_silence') ?? MAX_TURN_SILENCE_MS)
    this.#silence = 8 * Math.min(most, Number(query.get('min_turn_silence') ?? MIN_TURN_SILENCE_MS))
    const problem = refusesQuery(query)
    // The service checks the key after the handshake.
    if (connection.headers.authorization !== options.apiKey)
      this.#fail(1008, 'Unauthorized Connection: Missing Authorization header')
    else if (problem !== null) this.#fail(3006, problem)
    else this.send({ type: 'Begin', id: randomUUID(), expires_at: 4_000_000_000 })
  }

  fail(): void {
    this.#fail(3005, 'Session Cancelled: An error occurred')
  }

  protected onMessage(type: string | null, text: string): void {
    this.resetIdleTimer()
    if (type === 'KeepAlive' || type === 'UpdateConfiguration') return
    if (type === 'ForceEndpoint') {
      if (this.words.length > 0 || this.#voiceIsReported) this.#sendTranscript(true, 0.2)
    } else if (type === 'Terminate') this.#terminate()
    else this.#fail(3006, `Invalid Message Type: ${text.slice(0, 60)}`)
  }

  protected override onAudio(bytes: Buffer): void {
    const durationMs = this.streamAudio.durationMs(bytes.length)
    if (durationMs < MIN_MESSAGE_MS || durationMs > MAX_MESSAGE_MS)
      return this.#fail(3007, `Input duration violation: ${durationMs} ms. Expected between 50 and 1000 ms`)
    const passedS = (this.connection.time.now() - this.#openedAt) / 1000
    if (this.audio.heard / 8000 - passedS > MAX_AHEAD_S)
      return this.#fail(3007, `Audio Transmission Rate Exceeded: Received ${this.audio.heard / 8000} sec.`)
    super.onAudio(bytes)
  }

  protected onWord(): void {
    this.#sendTranscript(false)
  }

  protected onBlock(): void {
    const { voiceFrom, quiet } = this.audio
    if (this.options.speechStarted === true && voiceFrom !== null && !this.#voiceIsReported) {
      this.#voiceIsReported = true
      this.send({ type: 'SpeechStarted', timestamp: voiceFrom / 8, confidence: 0.9 })
    }
    if ((this.words.length > 0 || this.#voiceIsReported) && quiet >= this.#silence) this.#sendTranscript(true)
  }

  onIdle(): void {
    this.#fail(3008, 'Session Expired: inactivity')
  }

  /** All words but the newest are final, and only final words are in the transcript. */
  #sendTranscript(isOver: boolean, confidence = isOver ? 0.8 : 0.01): void {
    const words = this.wordsToSend(isOver)
    const finals = isOver ? words : words.slice(0, -1)
    const turn = (isFormatted: boolean) => ({
      type: 'Turn',
      turn_order: this.#turn,
      turn_is_formatted: isFormatted,
      end_of_turn: isOver,
      transcript: isFormatted ? `${textOf(finals)}.` : textOf(finals),
      end_of_turn_confidence: confidence,
      words: words.map(({ text, startSample, endSample }, i) => ({
        text: isFormatted ? text.toUpperCase() : text,
        start: Math.round(startSample / 8),
        end: Math.round(endSample / 8),
        confidence: 0.96,
        word_is_final: i < finals.length,
      })),
      utterance: isOver ? textOf(finals) : '',
    })
    this.sendResult(turn(false), isOver)
    if (isOver && this.options.formats === true) this.sendResult(turn(true), isOver, 5)
    if (!isOver) return
    this.#turn++
    this.words = []
    this.#voiceIsReported = false
    this.audio.forgetVoice()
  }

  #terminate(): void {
    const seconds = Math.round(this.audio.heard / 8000)
    this.send({ type: 'Termination', audio_duration_seconds: seconds, session_duration_seconds: seconds })
    this.close(1000)
  }

  #fail(code: number, error: string): void {
    this.send({ type: 'Error', error_code: code, error })
    this.close(code, error.length <= 100 ? error : 'See Error message for details')
  }
}

const SAMPLE_RATES: Readonly<Record<string, readonly string[]>> = {
  pcm_mulaw: ['8000'],
  pcm_s16le: ['8000', '16000'],
}

function refusesQuery(query: URLSearchParams): string | null {
  if (query.get('speech_model') === null) return 'Invalid parameters: speech_model is required'
  const rates = SAMPLE_RATES[query.get('encoding') ?? '']
  if (rates === undefined) return 'Invalid parameters: encoding'
  return rates.includes(query.get('sample_rate') ?? '') ? null : 'Invalid parameters: sample_rate'
}
