import { randomUUID } from 'node:crypto'
import type { Samples } from '@parley/kernel'
import { objectFrom } from '../json-object.ts'
import type { FakeWord } from '../protocol.ts'
import { FakeRecogniser, type FakeRecogniserLog, type FakeRecogniserOptions } from '../recognisers/fake-recogniser.ts'
import { RecogniserSession, textOf } from '../recognisers/recogniser-session.ts'
import { startedService, streamParameters } from '../recognisers/started-session.ts'
import type { FakeConnection } from '../sockets/fake-connection.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** Speechmatics' `/v2`: StartRecognition, partial and final results, EndOfUtterance, and errors as messages before the close. */
export class FakeSpeechmatics extends FakeRecogniser {
  static open(options: FakeRecogniserOptions): Promise<FakeSpeechmatics> {
    return new FakeSpeechmatics(startedService('/v2', options, { refusal, start: started }), options).listen()
  }
}

function refusal(status: number) {
  return { status, body: { code: status, error: `HTTP ${status}` } }
}

function started(
  text: string,
  connection: FakeConnection,
  options: FakeRecogniserOptions,
  log: FakeRecogniserLog,
): Session | null {
  const start = objectFrom(text) ?? {}
  const audio = (start.audio_format ?? {}) as JsonObject
  const config = (start.transcription_config ?? {}) as JsonObject
  const problem = problemOf(start, audio, config)
  if (problem !== null) {
    connection.json({ message: 'Error', type: problem, reason: problem })
    connection.close(4001, problem)
    return null
  }
  const encoding = audio.encoding === 'mulaw' ? 'mulaw' : 'linear16'
  const vocabulary = (config.additional_vocab ?? []) as readonly JsonObject[]
  const terms = vocabulary.map(({ content }) => content)
  const query = streamParameters({ encoding, sample_rate: audio.sample_rate }, config.language, terms)
  const conversation = (config.conversation_config ?? {}) as JsonObject
  return new Session(connection, options, log, query, Number(conversation.end_of_utterance_silence_trigger) * 8000)
}

function problemOf({ message }: JsonObject, audio: JsonObject, config: JsonObject): string | null {
  if (message !== 'StartRecognition') return 'protocol_error'
  if (audio.type !== 'raw' || !['mulaw', 'pcm_s16le'].includes(String(audio.encoding))) return 'invalid_audio_type'
  const { language, operating_point, max_delay = 4 } = config
  if (typeof language !== 'string') return 'invalid_config'
  if (!['standard', 'enhanced'].includes(String(operating_point))) return 'invalid_model'
  const { end_of_utterance_silence_trigger: trigger = 0 } = (config.conversation_config ?? {}) as JsonObject
  const isValid = Number(max_delay) >= 0.7 && Number(max_delay) <= 4 && Number(trigger) > 0 && Number(trigger) <= 2
  return isValid && Number(trigger) < Number(max_delay) ? null : 'invalid_config'
}

class Session extends RecogniserSession<FakeRecogniserOptions> {
  readonly #silence: Samples
  /** Words that were sent as final. */
  #sentFinal = 0
  #hasSpeech = false
  #audioMessages = 0

  constructor(
    connection: FakeConnection,
    options: FakeRecogniserOptions,
    log: FakeRecogniserLog,
    query: URLSearchParams,
    silence: Samples,
  ) {
    // The service pings; it does not close a session for silence.
    super(connection, options, log, {
      language: query.get('language') ?? 'en',
      idleCloseMs: null,
      query,
      typeMember: 'message',
    })
    this.#silence = silence
    this.send({ message: 'RecognitionStarted', id: randomUUID(), language_pack_info: { word_delimiter: ' ' } })
  }

  fail(): void {
    this.#fail(4013, 'job_error', 'An internal error happened.')
  }

  onIdle(): void {
    this.#fail(4006, 'timelimit_exceeded', 'No data was received.')
  }

  protected onMessage(type: string | null, text: string): void {
    if (type === 'ForceEndOfUtterance') return this.#endUtterance()
    if (type !== 'EndOfStream') return this.#fail(1003, 'protocol_error', `Unknown message: ${text.slice(0, 60)}`)
    if (objectFrom(text)?.last_seq_no !== this.#audioMessages)
      return this.#fail(1003, 'protocol_error', 'last_seq_no is not the number of audio messages.')
    this.send({ message: 'EndOfTranscript' })
    this.close(1000)
  }

  protected override onAudio(bytes: Buffer): void {
    this.send({ message: 'AudioAdded', seq_no: ++this.#audioMessages })
    super.onAudio(bytes)
  }

  /** Words before the newest two are final. */
  protected onWord(): void {
    this.#hasSpeech = true
    const settled = this.words.length - 2
    if (settled > this.#sentFinal) {
      this.sendResult(transcript('AddTranscript', this.words.slice(this.#sentFinal, settled)), false)
      this.#sentFinal = settled
    }
    this.sendResult(transcript('AddPartialTranscript', this.wordsToSend(false).slice(this.#sentFinal)), false)
  }

  protected onBlock(): void {
    if (this.#hasSpeech && this.audio.quiet >= this.#silence) this.#endUtterance()
  }

  #endUtterance(): void {
    const at = this.heardUntil / 8000
    const rest = this.words.slice(this.#sentFinal)
    if (rest.length > 0) this.sendResult(transcript('AddTranscript', rest), true)
    this.sendResult({ message: 'EndOfUtterance', metadata: { start_time: at, end_time: at } }, true)
    this.words = []
    this.#sentFinal = 0
    this.#hasSpeech = false
  }

  #fail(code: number, type: string, reason: string): void {
    this.send({ message: 'Error', type, reason })
    this.close(code, type)
  }
}

function transcript(message: string, words: readonly FakeWord[]): object {
  const results = words.map(({ text, startSample, endSample }) => ({
    type: 'word',
    start_time: startSample / 8000,
    end_time: endSample / 8000,
    alternatives: [{ content: text, confidence: 0.99, language: 'en' }],
  }))
  const start_time = (words[0]?.startSample ?? 0) / 8000
  const end_time = (words.at(-1)?.endSample ?? 0) / 8000
  return { message, format: '2.9', metadata: { start_time, end_time, transcript: textOf(words) }, results }
}
