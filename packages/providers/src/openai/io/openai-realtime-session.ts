import { type Ms, NARROWBAND, type Time, type Timer } from '@parley/kernel'
import { encodePcmu } from '@parley/media'
import { ProviderError, type ProviderFailure } from '../../errors.ts'
import type { HostLookup } from '../../io/host-lookup.ts'
import { withoutSecret } from '../../io/service-secret.ts'
import { ServiceSocket, type SocketEnd, socketError } from '../../io/service-socket.ts'
import { isObject, type JsonObject, objectOf, textIn } from '../../json-object.ts'
import type {
  GenerationEvent,
  GenerationRequest,
  LanguageModel,
  ModelIdentity,
} from '../../language-model/language-model.ts'
import { failureInAnswer } from '../../model-service/model-failure.ts'
import type { RealtimeSession } from '../../realtime/realtime-model.ts'
import { checkStreamOptions } from '../../speech-to-text/check-stream-options.ts'
import type { SpeechStream, SpeechStreamOptions, SpeechToText } from '../../speech-to-text/speech-to-text.ts'
import { primaryTag } from '../../text-to-speech/request.ts'
import { PhraseStream } from '../phrase-stream.ts'
import { type ClientEvent, ConversationItems } from '../realtime/conversation-items.ts'
import { RealtimeResponse } from '../realtime/realtime-response.ts'
import { languageUpdate, responseCreate, type SessionSettings, sessionUpdate } from '../realtime/session-settings.ts'
import type { Phrase, Transcription } from '../transcription.ts'

interface RealtimeSessionOptions {
  /** With the model in its query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly lookup?: HostLookup
  /** The API key, which is removed from error texts. */
  readonly secret: string
  readonly identity: ModelIdentity
  readonly languages: readonly string[]
  /** Settings of the session, in the service's form. */
  readonly settings: SessionSettings
  readonly time: Time
  readonly onOver: () => void
}

/** Audio of one `input_audio_buffer.append`: one second. */
const APPEND_BYTES = 8000
/** Silence that ends a phrase, unless the conversation asks for its words before. */
const ENDPOINTING_MS: Ms = 400
/** A transcript that comes later counts as a failure of the session. */
const TRANSCRIPT_MS: Ms = 5000
/** Limit of the silence within an answer. */
const EVENT_MS: Ms = 10_000
/** An answer whose output is complete ends after this time, also without `response.done`. */
const DONE_MS: Ms = 1500
/** How long a stopped answer may take to report its usage. */
const USAGE_MS: Ms = 200
/** Limit of the wait for the end of an answer that was cancelled. */
const CANCEL_MS: Ms = 2000
/** Two phrases of the longest length, in base64, and what else waits. */
const MAX_QUEUED_BYTES = 1_000_000

const CODES = {
  unreachable: 'model_unreachable',
  busy: 'model_busy',
  refused: 'model_refused',
  failed: 'model_unreachable',
} as const

interface Transcribing {
  /** Null until the service has made an item of the audio. */
  itemId: string | null
  readonly done: PromiseWithResolvers<Transcription>
}

/** A session with OpenAI's Realtime API over one WebSocket. */
export class OpenAiRealtimeSession implements RealtimeSession {
  readonly recogniser: SpeechToText
  readonly model: LanguageModel
  readonly #options: RealtimeSessionOptions
  readonly #socket: ServiceSocket
  readonly #items = new ConversationItems()
  readonly #streams = new Set<PhraseStream>()
  #transcribing: Transcribing | null = null
  #response: RealtimeResponse | null = null
  /** Resolves when the service has ended the answer before. */
  #lastResponse: Promise<void> = Promise.resolve()
  /** The last answer that was cancelled. */
  #cancelled: RealtimeResponse | null = null
  #silence: Timer | null = null
  #failure: ProviderFailure | null = null
  /** Of the transcripts. */
  #language: string
  #nextEvent = 1
  readonly #settingsId: string

  constructor(options: RealtimeSessionOptions) {
    const { url, headers, lookup, time, identity, languages, settings } = options
    this.#options = options
    this.#socket = new ServiceSocket(
      { url, headers, time, maxQueuedBytes: MAX_QUEUED_BYTES, ...(lookup !== undefined && { lookup }) },
      {
        onText: text => this.#onMessage(text),
        onBinary: () => {},
        onEnd: end => this.#onEnd(end),
      },
    )
    this.recogniser = {
      id: `${identity.provider}/${settings.transcriptionModel}`,
      languages,
      formats: [NARROWBAND],
      readiness: async () => this.#failure?.message ?? null,
      open: stream => this.#open(stream),
      close: async () => {},
    }
    this.model = {
      identity,
      readiness: async () => this.#failure?.message ?? null,
      generate: (request, signal) => this.#generate(request, signal),
      close: async () => {},
    }
    this.#language = settings.language
    this.#settingsId = this.#send(sessionUpdate(settings))
  }

  get isOver(): boolean {
    return this.#failure !== null
  }

  close(): void {
    for (const stream of this.#streams) stream.close()
    this.#over(new ProviderError('model_unreachable', 'The session was closed.', { retryable: false }))
    this.#socket.close()
  }

  #open(options: SpeechStreamOptions): SpeechStream {
    if (this.#failure !== null) throw new ProviderError('recogniser_closed', 'The session is over.')
    checkStreamOptions(options, this.recogniser)
    const language = primaryTag(options.language)
    if (language !== this.#language) this.#send(languageUpdate({ ...this.#options.settings, language }))
    this.#language = language
    const stream: PhraseStream = new PhraseStream({
      transcribe: (phrase, signal) => this.#transcribe(phrase, signal),
      language,
      keywords: [],
      format: NARROWBAND,
      endpointingMs: ENDPOINTING_MS,
      hasPartials: false,
      time: this.#options.time,
      onSent: options.onSent ?? (() => {}),
      onClose: () => this.#streams.delete(stream),
    })
    this.#streams.add(stream)
    return stream
  }

  /** The phrase becomes an item of the conversation, and its transcript is awaited. One at a time. */
  async #transcribe({ samples }: Phrase, signal: AbortSignal): Promise<Transcription> {
    if (this.#failure !== null) throw speechFailure(this.#failure)
    const bytes = Buffer.alloc(samples.length)
    encodePcmu(samples, 0, samples.length, bytes, 0)
    for (let at = 0; at < bytes.length; at += APPEND_BYTES)
      this.#send({
        type: 'input_audio_buffer.append',
        audio: bytes.subarray(at, at + APPEND_BYTES).toString('base64'),
      })
    this.#send({ type: 'input_audio_buffer.commit' })
    const done = Promise.withResolvers<Transcription>()
    this.#transcribing = { itemId: null, done }
    const { time } = this.#options
    const late = time.at(time.now() + TRANSCRIPT_MS, () =>
      this.#fail(new ProviderError('model_failed', `The model gave no transcript within ${TRANSCRIPT_MS} ms.`)),
    )
    const stop = () => done.resolve({ text: '', words: null, language: null })
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await done.promise
    } finally {
      late.cancel()
      signal.removeEventListener('abort', stop)
      this.#transcribing = null
    }
  }

  async *#generate(request: GenerationRequest, signal: AbortSignal): AsyncGenerator<GenerationEvent> {
    const before = this.#lastResponse
    const over = Promise.withResolvers<void>()
    this.#lastResponse = over.promise
    let response: RealtimeResponse | null = null
    try {
      await this.#turnOf(before, signal)
      if (signal.aborted) return
      if (this.#failure !== null) throw this.#failure
      response = this.#request(request)
      for (let event = await response.next(signal); event !== null; event = await response.next(signal)) yield event
      if (!signal.aborted) return
      this.#cancel(response)
      await this.#within(USAGE_MS, response.ended)
      if (response.usage !== undefined) yield response.usage
    } finally {
      if (response !== null) this.#cancel(response)
      void Promise.all([before, response?.ended]).then(() => over.resolve())
    }
  }

  /** Resolves when the answer before is over, or `signal` aborts: the service generates one answer at a time. */
  async #turnOf(before: Promise<void>, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const aborted = Promise.withResolvers<void>()
    const onAbort = () => aborted.resolve()
    signal.addEventListener('abort', onAbort, { once: true })
    await Promise.race([before, aborted.promise])
    signal.removeEventListener('abort', onAbort)
  }

  #request(request: GenerationRequest): RealtimeResponse {
    for (const event of this.#items.reconcile(request.messages)) this.#send(event)
    const eventId = this.#send(responseCreate(request))
    const response = new RealtimeResponse(eventId, request.spoken === true, {
      onMessage: id => this.#items.speaks(id),
      onCall: (id, callId, name, argumentsText) => this.#items.called(id, callId, name, argumentsText),
      onPlayed: (messages, played) => this.#played(messages, played),
    })
    this.#response = response
    this.#restartSilence(EVENT_MS)
    return response
  }

  /** Nobody reads the answer any more: it is cancelled, unless it is over. */
  #cancel(response: RealtimeResponse): void {
    if (response.isOver || this.#cancelled === response) return
    this.#cancelled = response
    // An answer that the service has not begun is cancelled when it begins.
    if (response.id !== null) this.#send({ type: 'response.cancel', response_id: response.id })
    void this.#within(CANCEL_MS, response.ended).then(() => response.stop())
  }

  async #within(ms: Ms, promise: Promise<void>): Promise<void> {
    const { time } = this.#options
    const late = Promise.withResolvers<void>()
    const timer = time.at(time.now() + ms, () => late.resolve())
    await Promise.race([promise, late.promise])
    timer.cancel()
  }

  #played(
    messages: readonly { readonly id: string; readonly audioMs: Ms; readonly text: string }[],
    played: { readonly ms: Ms; readonly text: string } | null,
  ): void {
    let left = played?.ms ?? Number.POSITIVE_INFINITY
    for (const { id, audioMs, text } of messages) {
      const truncation = this.#items.truncation(id, audioMs, left, played?.text ?? '')
      if (truncation === null) this.#items.spoke(id, text)
      else this.#send(truncation)
      left = Math.max(0, left - audioMs)
    }
  }

  #send(event: ClientEvent): string {
    const event_id = `event_${this.#nextEvent++}`
    this.#socket.send(JSON.stringify({ event_id, ...event }))
    return event_id
  }

  #onMessage(text: string): void {
    const event = objectOf(text)
    if (event === null) return
    const type = textIn(event, 'type')
    if (type.startsWith('response.')) return this.#onResponse(event)
    switch (type) {
      case 'input_audio_buffer.committed':
        return this.#committed(textIn(event, 'item_id'))
      case 'conversation.item.input_audio_transcription.completed':
        return this.#transcribed(textIn(event, 'item_id'), textIn(event, 'transcript'))
      case 'conversation.item.input_audio_transcription.failed':
        return this.#transcribed(textIn(event, 'item_id'), '')
      case 'error':
        return this.#onError(isObject(event.error) ? event.error : {})
      default:
        return
    }
  }

  #onResponse(event: JsonObject): void {
    const response = this.#response
    if (response === null) return
    const id = isObject(event.response) ? textIn(event.response, 'id') : textIn(event, 'response_id')
    if (event.type === 'response.created' && response.id === null) {
      response.id = id
      if (this.#cancelled === response) this.#send({ type: 'response.cancel', response_id: id })
    }
    // Late events of an answer before.
    if (response.id !== id) return
    response.receive(event)
    this.#restartSilence(response.hasOutput ? DONE_MS : EVENT_MS)
  }

  #restartSilence(ms: Ms): void {
    const { time } = this.#options
    const response = this.#response
    this.#silence?.cancel()
    if (response === null || response.isOver) return
    this.#silence = time.at(time.now() + ms, () => {
      if (response.hasOutput) response.finish()
      else response.fail(new ProviderError('model_failed', `The model sent nothing for ${ms} ms.`))
    })
  }

  #committed(id: string): void {
    this.#items.heardAudio(id)
    if (this.#transcribing !== null) this.#transcribing.itemId ??= id
  }

  #transcribed(id: string, text: string): void {
    this.#items.transcribed(id, text)
    if (this.#transcribing?.itemId === id) this.#transcribing.done.resolve({ text, words: null, language: null })
  }

  /** Errors about an answer fail that answer; others about one event, such as an item that is gone, change nothing. */
  #onError(error: JsonObject): void {
    const about = textIn(error, 'event_id')
    const failure = failureInAnswer({ error })
    const response = this.#response?.isOver === false ? this.#response : null
    if (about === this.#settingsId || error.code === 'session_expired') return this.#fail(failure)
    if (response !== null && about === response.eventId) return response.fail(failure)
    if (about !== '' || error.type === 'invalid_request_error') return
    if (response === null) this.#fail(failure)
    else response.fail(failure)
  }

  #onEnd(end: SocketEnd): void {
    const failure = socketError(end, this.#options.identity.model, CODES)
    const message = withoutSecret(failure.message, this.#options.secret)
    this.#over(new ProviderError(failure.code, message, { retryable: failure.retryable }))
  }

  #fail(error: ProviderFailure): void {
    this.#over(error)
    this.#socket.close()
  }

  #over(error: ProviderFailure): void {
    if (this.#failure !== null) return
    this.#failure = error
    this.#silence?.cancel()
    this.#response?.fail(error)
    const failure = speechFailure(error)
    for (const stream of [...this.#streams]) stream.fail(failure)
    this.#transcribing?.done.reject(failure)
    this.#options.onOver()
  }
}

/** The failure as the recogniser's: another one takes over. */
function speechFailure(error: ProviderFailure): ProviderFailure {
  const code = error.code === 'model_refused' ? 'recogniser_refused' : 'recogniser_failed'
  return new ProviderError(code, error.message, { retryable: false, cause: error })
}
