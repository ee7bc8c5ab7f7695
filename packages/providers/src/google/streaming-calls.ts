import type { Ms, Time, Timer } from '@parley/kernel'
import type { ServiceWire } from '../speech-to-text/service-protocol.ts'
import { readSpeechResponse } from './speech-response.ts'
import { CLOSE, FINALIZE } from './speech-v1.ts'

/** The service ends a call after 305 s. From this age on, a call is replaced after its next final result. */
const OLD_MS: Ms = 240_000
/** A call of this age is replaced at once. */
const MAX_AGE_MS: Ms = 285_000
/** Limit of the wait for the last results of a call. */
const LAST_RESULTS_MS: Ms = 2000

/** One call of a streaming RPC. Times count from its beginning. */
export interface StreamingCall {
  send(message: Uint8Array): void
  /** No message follows; the service sends its last results, and ends the call. */
  end(): void
  /** Aborts the call; no event follows. */
  close(): void
}

export interface StreamingCallListener {
  readonly onMessage: (bytes: Uint8Array) => void
  /** The call has ended with the status OK. The owner of the connection handles every other end. */
  readonly onEnd: () => void
}

interface StreamingCallsOptions {
  readonly openCall: (listener: StreamingCallListener) => StreamingCall
  readonly wire: ServiceWire
  readonly bytesPerMs: number
  readonly time: Time
}

interface StreamingCallsListener {
  /** A response as JSON (`SpeechResponse`), with the position of its call in the stream: `callFromMs`; or the end of a call: `callEndedMs`. */
  readonly onText: (text: string) => void
  /** The service has ended a call by itself, or does not end one. The owner of the connection closes it. */
  readonly onFailed: (reason: string) => void
}

/**
 * The calls that make up one stream, one after the other. The protocol has no message that asks for final words, and a
 * limit of the length of a call: therefore a call is ended when final words are requested, and before it is too old. The
 * next call begins with the next audio. Results of a call are passed on after those of all calls before it.
 */
export class StreamingCalls {
  readonly #options: StreamingCallsOptions
  readonly #listener: StreamingCallsListener
  /** In order; all but the last have been ended. */
  #calls: OneCall[] = []
  #sentMs: Ms = 0

  constructor(options: StreamingCallsOptions, listener: StreamingCallsListener) {
    this.#options = options
    this.#listener = listener
  }

  /** Opens the first call. */
  begin(): void {
    if (this.#calls.length === 0) this.#open()
  }

  /** Audio, or one of the messages of the protocol. */
  send(message: string | Uint8Array): void {
    if (message === FINALIZE) return this.#finalize()
    if (message === CLOSE) return this.#calls.at(-1)?.end(this.#sentMs)
    if (typeof message === 'string') return
    const last = this.#calls.at(-1)
    const call = last === undefined || last.untilMs !== null ? this.#open() : last
    call.sendAudio(message)
    this.#sentMs += message.length / this.#options.bytesPerMs
    if (this.#sentMs - call.fromMs >= MAX_AGE_MS) call.end(this.#sentMs)
  }

  /** Nothing more is passed on. The calls end with their connection. */
  stop(): void {
    for (const call of this.#calls) call.stop()
    this.#calls = []
  }

  #finalize(): void {
    const last = this.#calls.at(-1)
    if (last === undefined) this.#listener.onText(JSON.stringify({ callEndedMs: this.#sentMs }))
    else last.end(this.#sentMs)
  }

  #open(): OneCall {
    const call: OneCall = new OneCall(this.#options, this.#sentMs, () => this.#read())
    this.#calls.push(call)
    return call
  }

  /** Passes on the results of the first call, and of further ones while those before them are over. */
  #read(): void {
    for (let call = this.#calls[0]; call !== undefined; call = this.#calls[0]) {
      for (const text of call.takeTexts()) this.#listener.onText(text)
      // A listener may have closed this stream.
      if (this.#calls[0] !== call) return
      if (call.hasFinal && this.#sentMs - call.fromMs >= OLD_MS) call.end(this.#sentMs)
      if (!call.isOver) return
      this.#calls.shift()
      if (call.isLate) return this.#listener.onFailed(`sent no last results within ${LAST_RESULTS_MS} ms`)
      if (call.untilMs === null) return this.#listener.onFailed('the service ended the call')
      this.#listener.onText(JSON.stringify({ callEndedMs: call.untilMs }))
    }
  }
}

class OneCall {
  /** Position in the stream at which the call begins. */
  readonly fromMs: Ms
  readonly #call: StreamingCall
  readonly #wire: ServiceWire
  readonly #time: Time
  readonly #onChange: () => void
  #texts: string[] = []
  #untilMs: Ms | null = null
  #limit: Timer | null = null
  #isOver = false
  #isLate = false
  #hasFinal = false

  constructor({ openCall, wire, time }: StreamingCallsOptions, fromMs: Ms, onChange: () => void) {
    this.fromMs = fromMs
    this.#wire = wire
    this.#time = time
    this.#onChange = onChange
    this.#call = openCall({ onMessage: bytes => this.#onMessage(bytes), onEnd: () => this.#onEnd() })
    for (const message of wire.opening) this.#call.send(message as Uint8Array)
  }

  /** Position at which the call was ended; null: it accepts audio. */
  get untilMs(): Ms | null {
    return this.#untilMs
  }

  /** No results follow. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** It is over because its last results did not come in time. */
  get isLate(): boolean {
    return this.#isLate
  }

  /** Whether the newest results were final. */
  get hasFinal(): boolean {
    return this.#hasFinal
  }

  sendAudio(audio: Uint8Array): void {
    this.#call.send(this.#wire.encode(audio) as Uint8Array)
  }

  end(untilMs: Ms): void {
    if (this.#untilMs !== null || this.#isOver) return
    this.#untilMs = untilMs
    this.#limit = this.#time.at(this.#time.now() + LAST_RESULTS_MS, () => {
      this.#call.close()
      this.#isLate = true
      this.#onEnd()
    })
    this.#call.end()
  }

  stop(): void {
    this.#isOver = true
    this.#limit?.cancel()
  }

  takeTexts(): readonly string[] {
    return this.#texts.splice(0)
  }

  #onMessage(bytes: Uint8Array): void {
    const response = this.#isOver ? null : readSpeechResponse(bytes)
    if (response === null) return
    const { results } = response
    if (results.length > 0) this.#hasFinal = results.every(({ isFinal }) => isFinal)
    this.#texts.push(JSON.stringify({ callFromMs: this.fromMs, ...response }))
    this.#onChange()
  }

  #onEnd(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#limit?.cancel()
    this.#onChange()
  }
}
