import { type Ms, msToSamples, NARROWBAND, type Samples, samplesToMs, type Time, type Timer } from '@parley/kernel'
import { ProviderError, type ProviderErrorCode, type ProviderFailure } from '../errors.ts'
import type { ServiceEvent, ServiceProtocol } from './service-protocol.ts'
import { StreamClock } from './stream-clock.ts'

const READY_MS: Ms = 5000
/** Longest silence that is sent for a gap: longer than any service waits before it ends a turn. */
const LONGEST_GAP: Samples = msToSamples(3000, NARROWBAND)
const MOST_LATE_MS: Ms = 100
const MU_LAW_SILENCE = 0xff
/** Interval of the silence for a service without keep-alive before the first audio. Long, because audio is billed and no turn is open. */
const RINGING_MS: Ms = 4000

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
  readonly connect: Connect
  readonly time: Time
  /** Removes secrets from a message of the service. Default: none are removed. */
  readonly withoutSecret?: (text: string) => string
}

interface ServiceLinkListener {
  readonly onReady: () => void
  readonly onNews: (news: ServiceEvent) => void
  /** Called with the number of samples of each audio message that is sent. */
  readonly onSent: (count: Samples) => void
  /** Called once, as the last event; a `retryable` error means that a new link may succeed. */
  readonly onEnd: (error: ProviderFailure) => void
}

/** One connection to a recogniser service: sends audio in messages of the required size, silence for gaps and keep-alives, and reads events. */
export class ServiceLink {
  readonly #protocol: ServiceProtocol
  readonly #time: Time
  readonly #withoutSecret: (text: string) => string
  readonly #listener: ServiceLinkListener
  readonly #connection: Connection
  readonly #read: (message: string) => readonly ServiceEvent[]
  readonly #clock = new StreamClock()
  readonly #chunk: Uint8Array
  #chunkLength = 0
  /** Position on the clock up to which audio or silence was added to the stream; null before the first. */
  #filledTo: Samples | null = null
  #ready = false
  #over = false
  #greeting: Timer | null
  #idle: Timer | null = null
  #sentSomethingAt: Ms
  /** Time of the last message of the service, for stall detection. */
  #heardAt: Ms
  /** Audio that had been sent when the last message arrived. */
  #heardAtSent: Samples = 0
  #wasHeard = false
  #speechIsOpen = false

  constructor(options: ServiceLinkOptions, listener: ServiceLinkListener) {
    this.#protocol = options.protocol
    this.#time = options.time
    this.#withoutSecret = options.withoutSecret ?? (text => text)
    this.#listener = listener
    this.#read = options.protocol.reader()
    this.#chunk = new Uint8Array(options.protocol.mostChunk)
    this.#heardAt = this.#sentSomethingAt = this.#time.now()
    this.#greeting = this.#time.at(this.#time.now() + READY_MS, () =>
      this.#fail('recogniser_unreachable', `sent no greeting within ${READY_MS} ms`),
    )
    this.#connection = options.connect({
      onOpen: () => {
        if (!this.#protocol.greets) this.#becomeReady()
      },
      onText: text => this.#onText(text),
      onEnd: error => this.#end(error),
    })
  }

  /** Whether audio may be written. */
  get isReady(): boolean {
    return this.#ready && !this.#over
  }

  /** Converts a time of the service to a position on the call's clock. */
  toClock(stream: Samples): Samples {
    return this.#clock.toClock(stream)
  }

  /** Sends mu-law audio whose first sample is at `at` on the clock. */
  write(bytes: Uint8Array, at: Samples): void {
    if (!this.isReady) return
    const isFirst = this.#filledTo === null
    if (this.#filledTo !== null && at > this.#filledTo) this.#fill(Math.min(at - this.#filledTo, LONGEST_GAP))
    this.#put(bytes, at)
    if (this.#chunkLength >= this.#protocol.chunk) this.#flush()
    this.#sentSomethingAt = this.#time.now()
    if (isFirst) this.#waitForIdle()
    this.#checkForStall()
  }

  /** Requests final words for all written audio. */
  finalize(): void {
    if (!this.isReady) return
    this.#flushAll()
    this.#connection.send(this.#protocol.finalize)
  }

  /** Sends the close message of the service; no event follows. */
  close(): void {
    if (this.#over) return
    if (this.#ready) {
      if (this.#chunkLength >= this.#protocol.chunk || !this.#protocol.chunkIsRule) this.#flush()
      this.#connection.send(this.#protocol.goodbye)
    }
    this.#finish()
  }

  #becomeReady(): void {
    if (this.#ready || this.#over) return
    this.#ready = true
    this.#greeting?.cancel()
    this.#heardAt = this.#sentSomethingAt = this.#time.now()
    this.#waitForIdle()
    this.#listener.onReady()
  }

  #onText(text: string): void {
    if (this.#over) return
    this.#heardAt = this.#time.now()
    this.#heardAtSent = this.#clock.sent
    this.#wasHeard = true
    for (const news of this.#read(text)) {
      if (this.#over) return
      if (news.type === 'ready') this.#becomeReady()
      else if (news.type === 'failed') this.#fail(`recogniser_${news.kind}`, news.reason)
      else {
        if (news.type === 'speech-started') this.#speechIsOpen ||= this.#protocol.stall.byVoice
        else if (news.type === 'words' && news.final) this.#speechIsOpen = false
        else if (news.type === 'words' && news.words.length > 0) this.#speechIsOpen = true
        this.#listener.onNews(news)
      }
    }
  }

  #put(bytes: Uint8Array, at: Samples): void {
    this.#clock.append(at, bytes.length)
    this.#filledTo = at + bytes.length
    for (let done = 0; done < bytes.length; ) {
      const count = Math.min(bytes.length - done, this.#chunk.length - this.#chunkLength)
      this.#chunk.set(bytes.subarray(done, done + count), this.#chunkLength)
      this.#chunkLength += count
      done += count
      if (this.#chunkLength === this.#chunk.length) this.#flush()
    }
  }

  #fill(count: Samples): void {
    this.#put(new Uint8Array(count).fill(MU_LAW_SILENCE), this.#filledTo ?? 0)
  }

  #flush(): void {
    if (this.#chunkLength === 0) return
    // A copy, because a connection may queue the bytes.
    this.#connection.send(this.#chunk.slice(0, this.#chunkLength))
    this.#listener.onSent(this.#chunkLength)
    this.#chunkLength = 0
  }

  #flushAll(): void {
    const { chunk, chunkIsRule } = this.#protocol
    if (chunkIsRule && this.#chunkLength > 0 && this.#chunkLength < chunk) this.#fill(chunk - this.#chunkLength)
    this.#flush()
  }

  #waitForIdle(): void {
    const { say } = this.#protocol.idle
    const isRinging = say === null && this.#filledTo === null
    const afterMs = isRinging ? RINGING_MS : this.#protocol.idle.afterMs
    const due = this.#sentSomethingAt + afterMs
    this.#idle?.cancel()
    this.#idle = this.#time.at(due, () => {
      if (this.#over) return
      if (this.#time.now() >= this.#sentSomethingAt + afterMs) this.#keepAlive(this.#time.now() - due)
      this.#waitForIdle()
    })
  }

  #keepAlive(lateMs: Ms): void {
    const { afterMs, say } = this.#protocol.idle
    this.#sentSomethingAt = this.#time.now()
    // The timer is late because the process was blocked; the audio of that time arrives now.
    if (say === null && lateMs > MOST_LATE_MS) return
    if (this.#chunkLength > 0) this.#flushAll()
    if (say !== null) this.#connection.send(say)
    else if (this.#filledTo !== null) {
      this.#fill(msToSamples(afterMs, NARROWBAND))
      this.#flush()
    } else {
      this.#fill(this.#protocol.chunk)
      this.#flush()
      // This silence has no position on the clock, so no gap follows it.
      this.#filledTo = null
    }
  }

  #checkForStall(): void {
    const { stall, muteAfterMs } = this.#protocol
    const limit = this.#speechIsOpen ? stall.afterMs : this.#wasHeard ? null : muteAfterMs
    if (limit === null || this.#time.now() - this.#heardAt < limit) return
    if (samplesToMs(this.#clock.sent - this.#heardAtSent, NARROWBAND) < limit) return
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
    this.#greeting?.cancel()
    this.#idle?.cancel()
    this.#connection.close()
  }
}
