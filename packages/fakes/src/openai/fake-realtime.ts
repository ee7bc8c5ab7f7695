import { type Ms, NARROWBAND, samplesToMs, type Time } from '@parley/kernel'
import { decodePcmu } from '@parley/media'
import { objectFrom } from '../json-object.ts'
import type { FakeChatRequest } from '../models/chat-request.ts'
import { type ModelFault, type Respond, stepsOf, stepsWithFault } from '../models/model-reply.ts'
import type { FakeModelStep } from '../models/model-step.ts'
import type { FakeDelays, FakeWord, OpenRecogniser, Speak } from '../protocol.ts'
import type { ConnectionHandler, FakeConnection } from '../sockets/fake-connection.ts'
import { type ConnectionCounts, type Refusal, SocketService } from '../sockets/socket-service.ts'
import { bearerOf, openAiRefusal as refusalOf } from './openai-refusal.ts'
import { RealtimeItems, type RealtimeRefusal } from './realtime-items.ts'
import { FakeRealtimeResponse } from './realtime-response.ts'

interface FakeRealtimeOptions {
  /** The only key that is accepted. */
  readonly apiKey: string
  readonly openRecogniser: OpenRecogniser
  readonly speak: Speak
  /** Produces the answers to requests without a script. Default: one short sentence. */
  readonly respond?: Respond
  /** `finalMs`: from a commit to its transcript. `firstMs`, `tokenMs`: of answers. Default none. */
  readonly delays?: FakeDelays
  readonly time?: Time
}

type JsonObject = Readonly<Record<string, unknown>>

/** Less audio cannot be committed. */
const MIN_COMMIT_BYTES = 800
const MAX_BUFFER_BYTES = 8_000_000
/** Silence after a phrase, with which the recogniser finds its last word. */
const TAIL = new Int16Array(4000)
const BLOCK = 160
/** Audio tokens of the service: one for 100 ms of the caller's speech. */
const AUDIO_TOKEN_MS: Ms = 100

const HELLO: readonly FakeModelStep[] = [
  { do: 'say', text: 'Hello from the fake.' },
  { do: 'finish', reason: 'stop' },
]
const DIALECT = {
  errorInStream: { type: 'server_error', code: null, message: 'The server had an error.', event_id: null },
  finish: { stop: 'stop', tool: 'tool_calls' },
  readRequest: (): FakeChatRequest => ({ messages: [], tools: [], toolChoice: 'auto' }),
}

/** OpenAI's Realtime API (`/v1/realtime`): a model that hears mu-law audio and speaks it, without turn detection. */
export class FakeRealtime extends SocketService {
  /** Types of the events of all clients, without audio, in order. */
  readonly events: string[] = []
  /** What the model got with each request for an answer. */
  readonly requests: FakeChatRequest[] = []
  /** The settings that clients have sent, in order. */
  readonly settings: JsonObject[] = []
  readonly #scripts: (readonly FakeModelStep[])[] = []
  readonly #answerFaults: ModelFault[] = []
  cancelled = 0

  static open(options: FakeRealtimeOptions): Promise<FakeRealtime> {
    return new FakeRealtime(options).listen()
  }

  private constructor(options: FakeRealtimeOptions) {
    const counts: ConnectionCounts = { connections: 0, open: 0, refused: 0 }
    super(
      {
        ...options,
        admit: (url, headers) => {
          const key = bearerOf(headers)
          if (url.pathname !== '/v1/realtime' || !url.searchParams.has('model')) return refused('path', key)
          return key === options.apiKey ? null : refused('key', key)
        },
        refusal: status => ({ ...refused(status === 401 ? 'key' : status === 429 ? 'busy' : 'down', null), status }),
        faultBehaviour: {
          garbage: ['no json', '[]', 'null', '{"type":7}', '{"type":"response.created"}', '{"type":"error"}'],
          garbageAtOnce: true,
          countsFromAudio: false,
          ignoresInputWhenSilent: true,
        },
        handle: connection => new Session(connection, options, this),
      },
      counts,
    )
  }

  /** "http://127.0.0.1:PORT/v1". */
  get baseUrl(): string {
    return `${this.url.replace('ws:', 'http:')}/v1`
  }

  /** Scripts the next answer that has no script yet. */
  script(...steps: readonly FakeModelStep[]): void {
    this.#scripts.push(steps)
  }

  /** Faults of the next answers without a script, one each. */
  injectAnswerFaults(...faults: readonly ModelFault[]): void {
    this.#answerFaults.push(...faults)
  }

  async stepsFor(request: FakeChatRequest, { respond, delays = {} }: FakeRealtimeOptions) {
    const script = this.#scripts.shift()
    if (script !== undefined) return script
    const fault = this.#answerFaults.shift()
    const steps = respond === undefined ? HELLO : stepsOf(await respond(request), DIALECT, delays)
    return fault === undefined ? steps : stepsWithFault(fault, steps, DIALECT)
  }
}

class Session implements ConnectionHandler {
  readonly #connection: FakeConnection
  readonly #options: FakeRealtimeOptions
  readonly #service: FakeRealtime
  readonly #items = new RealtimeItems()
  readonly #responses = new Set<FakeRealtimeResponse>()
  #audio: Buffer[] = []
  #language = 'en'
  #heardMs: Ms = 0
  #next = 1

  constructor(connection: FakeConnection, options: FakeRealtimeOptions, service: FakeRealtime) {
    this.#connection = connection
    this.#options = options
    this.#service = service
    this.#send({ type: 'session.created', session: { type: 'realtime', object: 'realtime.session' } })
  }

  onText(text: string): void {
    const event = objectFrom(text)
    if (event === null) return this.#refuse({}, { code: 'invalid_json', message: 'Invalid JSON.' })
    if (event.type !== 'input_audio_buffer.append') this.#service.events.push(String(event.type))
    this.#receive(event)
  }

  onBinary(): void {
    this.#refuse({}, { code: 'invalid_message', message: 'Messages must be text.' })
  }

  onClose(): void {
    for (const response of this.#responses) response.stop()
  }

  onIdle(): void {
    this.#send({
      type: 'error',
      error: { type: 'invalid_request_error', code: 'session_expired', message: 'Expired.' },
    })
    this.#connection.close(1000)
  }

  fail(): void {
    this.#send({ type: 'error', error: { type: 'server_error', code: null, message: 'The server had an error.' } })
    this.#connection.close(1011)
  }

  #receive(event: JsonObject): void {
    const { type, item_id } = event
    switch (type) {
      case 'session.update':
        return this.#update(event)
      case 'input_audio_buffer.append':
        return this.#append(event)
      case 'input_audio_buffer.commit':
        return this.#commit(event)
      case 'conversation.item.create':
        return this.#changed(event, this.#items.create(objectIn(event.item), event.previous_item_id), {
          type: 'conversation.item.added',
          item: event.item,
        })
      case 'conversation.item.delete':
        return this.#changed(event, this.#items.delete(item_id), { type: 'conversation.item.deleted', item_id })
      case 'conversation.item.truncate': {
        const { content_index, audio_end_ms } = event
        const done = { type: 'conversation.item.truncated', item_id, content_index, audio_end_ms }
        return this.#changed(event, this.#items.truncate(item_id, audio_end_ms), done)
      }
      case 'response.create':
        return this.#respond(event)
      case 'response.cancel':
        return this.#cancel(event)
      default:
        return this.#refuse(event, { code: 'invalid_value', message: `Invalid value: '${String(type)}'.` })
    }
  }

  #changed(event: JsonObject, refusal: RealtimeRefusal | null, done: JsonObject): void {
    if (refusal === null) this.#send(done)
    else this.#refuse(event, refusal)
  }

  #update(event: JsonObject): void {
    const session = objectIn(event.session)
    const audio = objectIn(session.audio)
    const formats = [objectIn(audio.input), objectIn(audio.output)].map(side => objectIn(side.format).type)
    if (session.type !== 'realtime')
      return this.#refuse(event, { code: 'missing_required_parameter', message: "Missing 'session.type'." })
    if (formats.some(format => format !== undefined && format !== 'audio/pcmu'))
      return this.#refuse(event, { code: 'invalid_value', message: 'This fake knows audio/pcmu only.' })
    this.#service.settings.push(session)
    this.#language = String(objectIn(objectIn(audio.input).transcription).language ?? 'en')
    this.#send({ type: 'session.updated', session })
  }

  #append(event: JsonObject): void {
    this.#audio.push(Buffer.from(String(event.audio ?? ''), 'base64'))
    if (this.#audio.reduce((sum, { length }) => sum + length, 0) > MAX_BUFFER_BYTES) this.#connection.close(1009)
  }

  #commit(event: JsonObject): void {
    const bytes = Buffer.concat(this.#audio)
    if (bytes.length < MIN_COMMIT_BYTES)
      return this.#refuse(event, {
        code: 'input_audio_buffer_commit_empty',
        message: 'Error committing input audio buffer: buffer too small.',
      })
    this.#audio = []
    const id = this.#items.newId()
    const previous = this.#items.ids.at(-1) ?? null
    const text = this.#recognised(bytes)
      .map(word => word.text)
      .join(' ')
    this.#heardMs += samplesToMs(bytes.length, NARROWBAND)
    const heard = text || '[unintelligible]'
    this.#items.add({ id, type: 'message', role: 'user', text: heard, audio: null, isHeard: true })
    this.#send({ type: 'input_audio_buffer.committed', previous_item_id: previous, item_id: id })
    this.#send({
      type: 'conversation.item.added',
      previous_item_id: previous,
      item: { id, type: 'message', role: 'user' },
    })
    const place = { item_id: id, content_index: 0 }
    this.#connection.after(this.#options.delays?.finalMs ?? 0, () => {
      if (text !== '') this.#send({ type: 'conversation.item.input_audio_transcription.delta', ...place, delta: text })
      this.#send({
        type: 'conversation.item.input_audio_transcription.completed',
        ...place,
        transcript: text,
        usage: { type: 'tokens', total_tokens: 1, input_tokens: 1, output_tokens: 0 },
      })
    })
  }

  #recognised(bytes: Buffer): FakeWord[] {
    const samples = new Int16Array(bytes.length + TAIL.length)
    decodePcmu(bytes, 0, bytes.length, samples, 0)
    const words: FakeWord[] = []
    const recogniser = this.#options.openRecogniser(this.#language)
    recogniser.onWord(word => words.push(word))
    for (let at = 0; at < samples.length; at += BLOCK) recogniser.write(samples.subarray(at, at + BLOCK))
    recogniser.close()
    return words
  }

  #respond(event: JsonObject): void {
    const wanted = objectIn(event.response)
    const isInConversation = wanted.conversation !== 'none'
    for (const response of this.#responses) if (response.isOver) this.#responses.delete(response)
    if (isInConversation && [...this.#responses].some(other => other.isInConversation))
      return this.#refuse(event, {
        code: 'conversation_already_has_active_response',
        message: 'Conversation already has an active response in progress.',
      })
    const request = this.#requestOf(wanted)
    this.#service.requests.push(request)
    const response = new FakeRealtimeResponse({
      id: `resp_${this.#next++}`,
      connection: this.#connection,
      items: this.#items,
      speak: this.#options.speak,
      language: this.#language,
      isSpoken: (wanted.output_modalities as readonly string[] | undefined)?.includes('text') !== true,
      isInConversation,
      audioInputTokens: Math.ceil(this.#heardMs / AUDIO_TOKEN_MS),
      send: sent => this.#send(sent),
    })
    this.#responses.add(response)
    void this.#service
      .stepsFor(request, this.#options)
      .then(steps => response.play(steps))
      .catch(() => this.fail())
  }

  #requestOf({ instructions, tools, tool_choice }: JsonObject): FakeChatRequest {
    const declared = (Array.isArray(tools) ? tools : []) as readonly JsonObject[]
    const choice = objectIn(tool_choice)
    return {
      messages: [{ role: 'system', content: String(instructions ?? '') }, ...this.#items.messages()],
      tools: declared.map(({ name, description, parameters }) => ({
        name: String(name),
        description: String(description ?? ''),
        parameters: objectIn(parameters),
      })),
      toolChoice:
        typeof choice.name === 'string'
          ? { name: choice.name }
          : tool_choice === 'none' || tool_choice === 'required'
            ? tool_choice
            : 'auto',
    }
  }

  #cancel(event: JsonObject): void {
    const { response_id } = event
    const response = [...this.#responses].find(({ id, isOver }) => !isOver && (response_id ?? id) === id)
    if (response === undefined)
      return this.#refuse(event, { code: 'response_cancel_not_active', message: 'No active response found.' })
    this.#service.cancelled++
    response.cancel()
  }

  #refuse({ event_id }: JsonObject, { code, message }: RealtimeRefusal): void {
    this.#send({ type: 'error', error: { type: 'invalid_request_error', code, message, event_id: event_id ?? null } })
  }

  #send(event: JsonObject): void {
    this.#connection.json({ event_id: `evt_${this.#next++}`, ...event })
  }
}

function refused(why: Parameters<typeof refusalOf>[0], key: string | null): Refusal {
  const { status, body } = refusalOf(why, key)
  return { status, body: objectIn(body) }
}

function objectIn(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}
