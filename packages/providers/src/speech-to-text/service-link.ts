import { type Ms, msToSamples, type Samples, samplesToMs, type Time, type Timer } from '@parley/kernel'
import { ProviderError, type ProviderErrorCode, type ProviderFailure } from '../errors.ts'
import type { ServiceEncoding } from '../service-encoding.ts'
import type { ServiceEvent, ServiceProtocol } from './service-protocol.ts'
import { StreamClock } from './stream-clock.ts'

const READY_MS: Ms = 5000
/** Longest silence that is sent for a gap: longer than any service waits before it ends a turn. */
const MAX_GAP_MS: Ms = 3000
/** A keep-alive timer that fires later than this was held up by a blocked process. */
const MAX_LATE_MS: Ms = 100
/** Least audio of a message while nobody speaks. */
const QUIET_MESSAGE_MS: Ms = 100
/** Interval of the silence for a service without keep-alive messages before the first audio: long, because audio is billed and no turn is open. */
const BEFORE_AUDIO_MS: Ms = 4000

/** The connection of a link. It queues messages that are sent before it is open. */
interface Connection {
  send(data: string | Uint8Array): void
  close(): void
}

export interface ConnectionListener {
  onOpen(): void
  onText(text: string): void
  /** Called once, as the last event. */
  onEnd(error: ProviderFailure): void
}

export type Connect = (listener: ConnectionListener) => Connection

interface ServiceLinkOptions {
  readonly protocol: ServiceProtocol
  readonly encoding: ServiceEncoding
  readonly connect: Connect
  readonly time: Time
  /** Removes secrets from a message of the service. Default: none are removed. */
  readonly withoutSecret?: (text: string) => string
}

interface ServiceLinkListener {
  readonly onReady: () => void
  readonly onServiceEvent: (event: ServiceEvent) => void
  /** Called with the duration of each audio message that is sent. */
  readonly onSent: (audioMs: Ms) => void
  /** Called once, as the last event; a `retryable` error means that a new link may succeed. */
  readonly onEnd: (error: ProviderFailure) => void
}

/** One connection to a recogniser service: sends audio in messages of the required size, silence for gaps, and keep-alives; reads events. */
export class ServiceLink {
  readonly #protocol: ServiceProtocol
  readonly #encoding: ServiceEncoding
  readonly #time: Time
  readonly #withoutSecret: (text: string) => string
  readonly #listener: ServiceLinkListener
  readonly #connection: Connection
  readonly #read: (message: string) => readonly ServiceEvent[]
  readonly #clock = new StreamClock()
  /** The next audio message, and its bytes so far. */
  readonly #message: Uint8Array
  #messageLength = 0
  readonly #minMessageBytes: number
  /** Of the shortest message while nobody speaks: several of the usual ones. */
  readonly #quietMessageBytes: number
  /** Position on the clock up to which audio or silence was added to the stream; null before the first. */
  #filledTo: Samples | null = null
  #ready = false
  #over = false
  #readyTimer: Timer | null
  #keepAliveTimer: Timer | null = null
  #lastSentAt: Ms
  /** Time of the last message of the service, for stall detection. */
  #lastMessageAt: Ms
  /** Audio that had been sent when the last message arrived. */
  #sentAtLastMessage: Samples = 0
  #hasReceived = false
  #speechIsOpen = false

  constructor(options: ServiceLinkOptions, listener: ServiceLinkListener) {
    this.#protocol = options.protocol
    this.#encoding = options.encoding
    this.#time = options.time
    this.#withoutSecret = options.withoutSecret ?? (text => text)
    this.#listener = listener
    this.#read = options.protocol.openReader()
    this.#message = new Uint8Array(this.#bytesOf(options.protocol.maxMessageMs))
    const { minMessageMs } = options.protocol
    this.#minMessageBytes = this.#bytesOf(minMessageMs)
    this.#quietMessageBytes = this.#minMessageBytes * Math.ceil(QUIET_MESSAGE_MS / minMessageMs)
    this.#lastMessageAt = this.#lastSentAt = this.#time.now()
    this.#readyTimer = this.#time.at(this.#time.now() + READY_MS, () =>
      this.#fail('recogniser_unreachable', `not ready within ${READY_MS} ms`),
    )
    this.#connection = options.connect({
      onOpen: () => {
        if (!this.#protocol.reportsReady) this.#becomeReady()
      },
      onText: text => this.#onText(text),
      onEnd: error => this.#end(error),
    })
  }

  /** Whether audio may be written. */
  get isReady(): boolean {
    return this.#ready && !this.#over
  }

  /** Converts a time of the service to a position on the call's sample clock. */
  toClock(serviceMs: Ms): Samples {
    return this.#clock.toClock(msToSamples(serviceMs, this.#encoding.format))
  }

  /** Sends encoded audio whose first sample is at `at` on the clock. `isQuiet`: nobody speaks, so it may wait for more; default false. */
  write(bytes: Uint8Array, at: Samples, isQuiet = false): void {
    if (!this.isReady) return
    const isFirst = this.#filledTo === null
    if (this.#filledTo !== null && at > this.#filledTo)
      this.#fill(Math.min(at - this.#filledTo, msToSamples(MAX_GAP_MS, this.#encoding.format)))
    this.#put(bytes, at)
    if (this.#messageLength >= (isQuiet ? this.#quietMessageBytes : this.#minMessageBytes)) this.#flush()
    this.#lastSentAt = this.#time.now()
    if (isFirst) this.#armKeepAlive()
    this.#checkForStall()
  }

  /** Requests final words for all written audio. */
  finalize(): void {
    if (!this.isReady) return
    this.#flushAll()
    const { finalizeMessage } = this.#protocol
    if (finalizeMessage !== null) this.#connection.send(finalizeMessage)
  }

  /** Sends the close message of the service; no event follows. */
  close(): void {
    if (this.#over) return
    if (this.#ready) {
      if (this.#messageLength >= this.#minMessageBytes || !this.#protocol.padsLastMessage) this.#flush()
      this.#connection.send(this.#protocol.closeMessage)
    }
    this.#finish()
  }

  #becomeReady(): void {
    if (this.#ready || this.#over) return
    this.#ready = true
    this.#readyTimer?.cancel()
    this.#lastMessageAt = this.#lastSentAt = this.#time.now()
    this.#armKeepAlive()
    this.#listener.onReady()
  }

  #onText(text: string): void {
    if (this.#over) return
    this.#lastMessageAt = this.#time.now()
    this.#sentAtLastMessage = this.#clock.sent
    this.#hasReceived = true
    for (const event of this.#read(text)) {
      if (this.#over) return
      if (event.type === 'ready') this.#becomeReady()
      else if (event.type === 'failed') this.#fail(`recogniser_${event.kind}`, event.reason)
      else {
        if (event.type === 'speech-started') this.#speechIsOpen ||= this.#protocol.stall.byVoice
        else if (event.type === 'words' && event.final) this.#speechIsOpen = false
        else if (event.type === 'words' && event.words.length > 0) this.#speechIsOpen = true
        this.#listener.onServiceEvent(event)
      }
    }
  }

  #bytesOf(ms: Ms): number {
    return msToSamples(ms, this.#encoding.format) * this.#encoding.bytesPerSample
  }

  #put(bytes: Uint8Array, at: Samples): void {
    const samples = bytes.length / this.#encoding.bytesPerSample
    this.#clock.append(at, samples)
    this.#filledTo = at + samples
    for (let done = 0; done < bytes.length; ) {
      const count = Math.min(bytes.length - done, this.#message.length - this.#messageLength)
      this.#message.set(bytes.subarray(done, done + count), this.#messageLength)
      this.#messageLength += count
      done += count
      if (this.#messageLength === this.#message.length) this.#flush()
    }
  }

  #fill(count: Samples): void {
    const { bytesPerSample, silence } = this.#encoding
    this.#put(new Uint8Array(count * bytesPerSample).fill(silence), this.#filledTo ?? 0)
  }

  #flush(): void {
    if (this.#messageLength === 0) return
    // A copy, because a connection may queue the bytes.
    this.#connection.send(this.#message.slice(0, this.#messageLength))
    this.#listener.onSent(samplesToMs(this.#messageLength / this.#encoding.bytesPerSample, this.#encoding.format))
    this.#messageLength = 0
  }

  #flushAll(): void {
    const missing = this.#minMessageBytes - this.#messageLength
    if (this.#protocol.padsLastMessage && this.#messageLength > 0 && missing > 0)
      this.#fill(missing / this.#encoding.bytesPerSample)
    this.#flush()
  }

  #armKeepAlive(): void {
    const { message } = this.#protocol.keepAlive
    const isBeforeAudio = message === null && this.#filledTo === null
    const afterMs = isBeforeAudio ? BEFORE_AUDIO_MS : this.#protocol.keepAlive.afterMs
    const due = this.#lastSentAt + afterMs
    this.#keepAliveTimer?.cancel()
    this.#keepAliveTimer = this.#time.at(due, () => {
      if (this.#over) return
      if (this.#time.now() >= this.#lastSentAt + afterMs) this.#keepAlive(this.#time.now() - due)
      this.#armKeepAlive()
    })
  }

  #keepAlive(lateMs: Ms): void {
    const { afterMs, message } = this.#protocol.keepAlive
    this.#lastSentAt = this.#time.now()
    // The timer is late because the process was blocked; the audio of that time arrives now.
    if (message === null && lateMs > MAX_LATE_MS) return
    if (this.#messageLength > 0) this.#flushAll()
    if (message !== null) this.#connection.send(message)
    else if (this.#filledTo !== null) {
      this.#fill(msToSamples(afterMs, this.#encoding.format))
      this.#flush()
    } else {
      this.#fill(this.#minMessageBytes / this.#encoding.bytesPerSample)
      this.#flush()
      // This silence has no position on the clock, so no gap follows it.
      this.#filledTo = null
    }
  }

  #checkForStall(): void {
    const { stall, noMessageTimeoutMs } = this.#protocol
    const limit = this.#speechIsOpen ? stall.afterMs : this.#hasReceived ? null : noMessageTimeoutMs
    if (limit === null || this.#time.now() - this.#lastMessageAt < limit) return
    if (samplesToMs(this.#clock.sent - this.#sentAtLastMessage, this.#encoding.format) < limit) return
    this.#fail('recogniser_failed', `sent no message for ${limit} ms of audio`)
  }

  #fail(code: ProviderErrorCode, reason: string): void {
    this.#end(new ProviderError(code, `${this.#protocol.name}: ${this.#withoutSecret(reason)}`))
  }

  #end(error: ProviderFailure): void {
    if (this.#over) return
    this.#finish()
    this.#listener.onEnd(error)
  }

  #finish(): void {
    this.#over = true
    this.#readyTimer?.cancel()
    this.#keepAliveTimer?.cancel()
    this.#connection.close()
  }
}
