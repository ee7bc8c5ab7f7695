import type { Ms, Samples } from '@parley/kernel'
import { objectFrom } from '../json-object.ts'
import type { FakeWord } from '../protocol.ts'
import { FakeRecogniser, type FakeRecogniserLog, type FakeRecogniserOptions } from '../recognisers/fake-recogniser.ts'
import { RecogniserSession } from '../recognisers/recogniser-session.ts'
import { startedService, streamParameters } from '../recognisers/started-session.ts'
import type { FakeConnection } from '../sockets/fake-connection.ts'

type JsonObject = Readonly<Record<string, unknown>>

const IDLE_CLOSE_MS: Ms = 20_000
/** Silence after which the service takes an utterance for complete. */
const ENDPOINT: Samples = 600 * 8
/** Interval of messages without tokens. */
const PROGRESS_EVERY: Samples = 8000

/** Soniox's `/transcribe-websocket`: tokens that are parts of words, `<end>`, `<fin>`, and errors as messages before the close. */
export class FakeSoniox extends FakeRecogniser {
  static open(options: FakeRecogniserOptions): Promise<FakeSoniox> {
    return new FakeSoniox(
      startedService('/transcribe-websocket', options, { refusal, start: started }),
      options,
    ).listen()
  }
}

function refusal(status: number) {
  return { status, body: { error_code: status, error_message: `HTTP ${status}` } }
}

function started(
  text: string,
  connection: FakeConnection,
  options: FakeRecogniserOptions,
  log: FakeRecogniserLog,
): Session | null {
  const config = objectFrom(text) ?? {}
  const problem = problemOf(config)
  if (problem !== null) {
    connection.json({ error_code: 400, error_message: problem })
    connection.close(1000)
    return null
  }
  const { audio_format, sample_rate, language_hints = [], context = {} } = config
  const encoding = audio_format === 'mulaw' ? 'mulaw' : 'linear16'
  const terms = ((context as JsonObject).terms ?? []) as readonly unknown[]
  const [language = 'en'] = language_hints as readonly string[]
  return new Session(connection, options, log, streamParameters({ encoding, sample_rate }, language, terms))
}

function problemOf(config: JsonObject): string | null {
  const { model, audio_format, sample_rate, num_channels, max_endpoint_delay_ms: longest = 2000 } = config
  if (typeof model !== 'string') return 'Missing model.'
  if (audio_format !== 'mulaw' && audio_format !== 'pcm_s16le') return 'Invalid audio format.'
  if (typeof sample_rate !== 'number' || num_channels !== 1) return 'sample_rate and num_channels are required.'
  if (!(Number(longest) >= 500 && Number(longest) <= 3000)) return 'Invalid max_endpoint_delay_ms.'
  return 'api_key' in config ? 'api_key: send the key with the connection.' : null
}

class Session extends RecogniserSession<FakeRecogniserOptions> {
  /** Words whose tokens were sent as final. */
  #sentFinal = 0
  #hasTokens = false
  #progressAt: Samples = 0

  constructor(
    connection: FakeConnection,
    options: FakeRecogniserOptions,
    log: FakeRecogniserLog,
    query: URLSearchParams,
  ) {
    super(connection, options, log, { language: query.get('language') ?? 'en', idleCloseMs: IDLE_CLOSE_MS, query })
  }

  fail(): void {
    this.#fail(500, 'Internal server error.')
  }

  onIdle(): void {
    this.#fail(408, 'Request timeout.')
  }

  override onText(text: string): void {
    // The empty message ends the stream.
    super.onText(text === '' ? '{"type":"end"}' : text)
  }

  protected onMessage(type: string | null, text: string): void {
    this.resetIdleTimer()
    if (type === 'keepalive') return
    if (type === 'finalize') this.#finish('<fin>')
    else if (type === 'end') {
      this.send({ tokens: [], ...this.#processed(), finished: true })
      this.close(1000)
    } else this.#fail(400, `Invalid control message: ${text.slice(0, 60)}`)
  }

  /** All words but the newest are final. */
  protected onWord(): void {
    const words = this.wordsToSend(false)
    const tokens = words.flatMap((word, i) => (i < this.#sentFinal ? [] : tokensOf(word, i < words.length - 1)))
    this.#sentFinal = Math.max(this.#sentFinal, words.length - 1)
    this.#hasTokens = true
    this.sendResult({ tokens, ...this.#processed() }, false)
  }

  protected onBlock(): void {
    const { heard, quiet } = this.audio
    if (this.#hasTokens && quiet >= ENDPOINT) return this.#finish('<end>')
    if (this.#hasTokens || heard - this.#progressAt < PROGRESS_EVERY) return
    this.#progressAt = heard
    this.send({ tokens: [], ...this.#processed() })
  }

  /** Sends the remaining tokens as final, and the mark. */
  #finish(mark: '<end>' | '<fin>'): void {
    const words = this.words.slice(this.#sentFinal).flatMap(word => tokensOf(word, true))
    const tokens = [...words, { text: mark, is_final: true, confidence: 1 }]
    this.words = []
    this.#sentFinal = 0
    this.#hasTokens = false
    this.sendResult({ tokens, ...this.#processed() }, true)
  }

  #processed(): object {
    const ms = Math.round(this.audio.heard / 8)
    return { final_audio_proc_ms: this.#hasTokens ? 0 : ms, total_audio_proc_ms: ms }
  }

  #fail(error_code: number, error_message: string): void {
    this.send({ tokens: [], error_code, error_message })
    this.close(1000)
  }
}

/** A word begins with a space; longer words are two tokens. */
function tokensOf({ text, startSample, endSample }: FakeWord, is_final: boolean): object[] {
  const at = text.length > 3 ? 2 : text.length
  const parts = [` ${text.slice(0, at)}`, text.slice(at)].filter(part => part !== '')
  const share = (endSample - startSample) / parts.length / 8
  return parts.map((part, i) => ({
    text: part,
    start_ms: Math.round(startSample / 8 + i * share),
    end_ms: Math.round(startSample / 8 + (i + 1) * share),
    confidence: 0.97,
    is_final,
  }))
}
