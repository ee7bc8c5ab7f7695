import { randomUUID } from 'node:crypto'
import type { Ms, Time, Timer } from '@parley/kernel'
import { ProviderError, type ProviderFailure } from '../errors.ts'
import { reportSent } from '../text-to-speech/request.ts'
import type { SpeechRequest } from '../text-to-speech/text-to-speech.ts'
import type { VoiceMessage, VoiceProtocol, VoiceReader } from '../text-to-speech/voice-protocol.ts'
import type { TimedWord } from '../text-to-speech/word-alignment.ts'
import { withoutSecret } from './service-secret.ts'
import { ServiceSocket, type SocketEnd, socketError } from './service-socket.ts'

const MINUTE_MS: Ms = 60_000
/** A reused socket without any message for this long after an utterance began is dead. */
const MUTE_MS: Ms = 2000
const CODES = {
  unreachable: 'voice_unreachable',
  busy: 'voice_busy',
  refused: 'voice_refused',
  failed: 'voice_failed',
} as const

export interface UtteranceListener {
  readonly onAudio: (bytes: Uint8Array) => void
  readonly onWords: (words: readonly TimedWord[]) => void
  readonly onEnded: () => void
  /** `mayBeStale`: the socket was reused, so the same utterance may succeed on a fresh one. */
  readonly onFailed: (error: ProviderFailure, mayBeStale: boolean) => void
}

interface Carried {
  readonly request: SpeechRequest
  /** Null after a cancel; later messages of the utterance are dropped. */
  listener: UtteranceListener | null
  /** The utterance was sent to the service. */
  begun: boolean
  readonly onReused: boolean
  /** Detects a dead socket; after a cancel, ends the wait for the confirmation of the service. */
  timer: Timer | null
}

interface VoiceSocketOptions {
  readonly protocol: VoiceProtocol
  readonly url: string
  readonly time: Time
  readonly connectMs?: Ms
  /** The API key, which is removed from error texts. */
  readonly secret: string
  /** Capacity became free, or the socket closed. */
  readonly onChange: () => void
}

/** One socket to a voice service, and the utterances that it carries. */
export class VoiceSocket {
  readonly url: string
  readonly #protocol: VoiceProtocol
  readonly #reader: VoiceReader
  readonly #time: Time
  readonly #secret: string
  readonly #socket: ServiceSocket
  readonly #onChange: () => void
  readonly #carried = new Map<string, Carried>()
  readonly #openedAt: Ms
  #beginnings: Ms[] = []
  #heardAt: Ms = Number.NEGATIVE_INFINITY
  #retired = false

  constructor(options: VoiceSocketOptions) {
    this.url = options.url
    this.#protocol = options.protocol
    this.#reader = options.protocol.reader()
    this.#time = options.time
    this.#secret = options.secret
    this.#onChange = options.onChange
    this.#openedAt = this.#time.now()
    const { url, time, connectMs } = options
    this.#socket = new ServiceSocket(
      { url, headers: options.protocol.headers, time, ...(connectMs !== undefined && { connectMs }) },
      {
        onOpen: () => this.#onOpen(),
        onText: text => this.#onMessages(this.#reader.text(text)),
        onBinary: bytes => this.#onMessages(this.#reader.binary(bytes)),
        onEnd: end => this.#onEnd(end),
      },
    )
  }

  get isOver(): boolean {
    return this.#socket.isOver
  }

  /** Number of utterances that use capacity of the socket. */
  get load(): number {
    return this.#carried.size
  }

  /** Whether another utterance may begin on it. */
  get hasPlace(): boolean {
    const { utterancesPerSocket, startsPerMinute, maxSocketAgeMs } = this.#protocol
    const now = this.#time.now()
    if (this.isOver || this.#retired || this.load >= utterancesPerSocket) return false
    if (maxSocketAgeMs !== null && now - this.#openedAt >= maxSocketAgeMs) return false
    if (startsPerMinute === null) return true
    this.#beginnings = this.#beginnings.filter(at => now - at < MINUTE_MS)
    return this.#beginnings.length < startsPerMinute
  }

  /** Begins an utterance; only while `hasPlace`. Returns a function that cancels it, after which the listener is not called. */
  begin(request: SpeechRequest, listener: UtteranceListener): () => void {
    const id = randomUUID()
    const carried: Carried = { request, listener, begun: false, onReused: this.#socket.isOpen, timer: null }
    this.#carried.set(id, carried)
    if (this.#protocol.startsPerMinute !== null) this.#beginnings.push(this.#time.now())
    if (this.#socket.isOpen) this.#send(id, carried)
    return () => this.#cancel(id)
  }

  /** Closes the socket with a close frame; its utterances fail with `error`. */
  close(error: ProviderFailure): void {
    this.#socket.close()
    this.#failAll(error, false)
  }

  #onOpen(): void {
    for (const [id, carried] of this.#carried) this.#send(id, carried)
  }

  #send(id: string, carried: Carried): void {
    carried.begun = true
    this.#reader.begin(id, carried.request)
    for (const message of this.#protocol.begin(id, carried.request)) this.#socket.send(message)
    // Sending failed the socket with all its utterances.
    if (!this.#carried.has(id)) return
    reportSent(carried.request)
    if (!carried.onReused) return
    const begunAt = this.#time.now()
    carried.timer = this.#time.at(begunAt + MUTE_MS, () => {
      if (this.#heardAt >= begunAt) return
      this.#retired = true
      const error = new ProviderError('voice_unreachable', `${this.#protocol.service} no longer answers.`)
      this.#end(id)
      carried.listener?.onFailed(error, true)
    })
  }

  #cancel(id: string): void {
    const carried = this.#carried.get(id)
    if (carried === undefined || carried.listener === null) return
    carried.listener = null
    if (!carried.begun) return this.#end(id)
    for (const message of this.#protocol.cancel(id)) this.#socket.send(message)
    if (this.#protocol.capacityFreedBy === null) return this.#end(id)
    carried.timer?.cancel()
    carried.timer = this.#time.at(this.#time.now() + this.#protocol.cancelMs, () => {
      this.#retired = true
      this.#end(id)
    })
  }

  #onMessages(messages: readonly VoiceMessage[]): void {
    this.#heardAt = this.#time.now()
    for (const message of messages) this.#dispatch(message)
  }

  #dispatch(message: VoiceMessage): void {
    if (message.type === 'failed' && message.utterance === null) return this.#fail(message.error)
    const id = message.utterance ?? this.#carried.keys().next().value
    const carried = id === undefined ? undefined : this.#carried.get(id)
    if (id === undefined || carried === undefined) return
    const { listener } = carried
    if (message.type === 'audio') return listener?.onAudio(message.bytes)
    if (message.type === 'words') return listener?.onWords(message.words)
    if (listener === null) {
      if (message.type === 'failed' || message.type === this.#protocol.capacityFreedBy) this.#end(id)
      return
    }
    // A confirmation without a matching cancel.
    if (message.type === 'cancelled') return
    this.#end(id)
    if (message.type === 'ended') listener.onEnded()
    else listener.onFailed(this.#withoutSecret(message.error), false)
  }

  /** The service failed the whole socket. */
  #fail(error: ProviderFailure): void {
    this.#retired = true
    this.#socket.close()
    this.#failAll(this.#withoutSecret(error), error.retryable)
  }

  #onEnd(end: SocketEnd): void {
    const reason = withoutSecret(end.reason, this.#secret)
    this.#failAll(socketError({ ...end, reason }, this.#protocol.service, CODES), true)
  }

  #failAll(error: ProviderFailure, mayBeStale: boolean): void {
    const all = [...this.#carried]
    this.#carried.clear()
    for (const [, carried] of all) carried.timer?.cancel()
    for (const [, { listener, onReused }] of all) listener?.onFailed(error, mayBeStale && onReused)
    this.#onChange()
  }

  #end(id: string): void {
    this.#carried.get(id)?.timer?.cancel()
    this.#carried.delete(id)
    this.#reader.forget(id)
    if (this.#retired && this.load === 0) this.#socket.close()
    this.#onChange()
  }

  #withoutSecret(error: ProviderFailure): ProviderFailure {
    const { code, message, retryable } = error
    return new ProviderError(code, withoutSecret(message, this.#secret), { retryable })
  }
}
