import {
  type Ms,
  msToSamples,
  NARROWBAND,
  ParleyError,
  type Samples,
  samplesToMs,
  type Time,
  type Timer,
} from '@parley/kernel'
import type { ServiceEvent, ServiceProtocol } from './service-protocol.ts'
import { StreamClock } from './stream-clock.ts'

const READY_MS: Ms = 5000
/** A gap is heard as silence up to here: longer than what any service waits for the end of a turn. */
const LONGEST_GAP: Samples = msToSamples(3000, NARROWBAND)
const MOST_LATE_MS: Ms = 100
const MU_LAW_SILENCE = 0xff
/** A service without a keep-alive is sent something so often while a call rings: no turn is open, and audio is billed. */
const RINGING_MS: Ms = 4000

/** What a link needs of a connection; messages sent before it stands are kept. */
interface Connection {
  send(data: string | Uint8Array): void
  close(): void
}

export interface ConnectionListener {
  onOpen(): void
  onText(text: string): void
  /** Once, last. */
  onEnd(error: ParleyError): void
}

export type Connect = (listener: ConnectionListener) => Connection

interface ServiceLinkOptions {
  readonly protocol: ServiceProtocol
  readonly connect: Connect
  readonly time: Time
  /** Takes out of what the service says for people what nobody may read. Default all may be read. */
  readonly withoutSecret?: (text: string) => string
}

interface ServiceLinkListener {
  readonly onReady: () => void
  readonly onNews: (news: ServiceEvent) => void
  /** Audio left for the service. */
  readonly onSent: (count: Samples) => void
  /** Once, last; `retryable`: a new link may do better. */
  readonly onEnd: (error: ParleyError) => void
}

/** One connection to a recogniser: audio in messages of the right size, silence for gaps, keep-alives, and what it says. */
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
  /** How far on the clock audio or silence was put into the stream; null before the first. */
  #filledTo: Samples | null = null
  #ready = false
  #over = false
  #greeting: Timer | null
  #idle: Timer | null = null
  #sentSomethingAt: Ms
  /** When the service was last heard, and how much had been sent by then; for stalls. */
  #heardAt: Ms
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
      this.#fail('recogniser_unreachable', `did not greet within ${READY_MS} ms`),
    )
    this.#connection = options.connect({
      onOpen: () => {
        if (!this.#protocol.greets) this.#becomeReady()
      },
      onText: text => this.#onText(text),
      onEnd: error => this.#end(error),
    })
  }

  /** Audio may be written. */
  get isReady(): boolean {
    return this.#ready && !this.#over
  }

  /** Place on the call's clock of a time in the service's news. */
  toClock(stream: Samples): Samples {
    return this.#clock.toClock(stream)
  }

  /** Sends mu-law audio that lies at `at` on the clock. */
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

  /** Asks for all that was written. */
  finalize(): void {
    if (!this.isReady) return
    this.#flushAll()
    this.#connection.send(this.#protocol.finalize)
  }

  /** Says goodbye; nothing is told after this. */
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
      else if (news.type === 'failed') this.#fail(`recogniser_${news.kind}`, news.reason, news.kind !== 'refused')
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
    // A copy: a connection may hold on to what it was given.
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
    // The process stood still: the audio of that time comes now.
    if (say === null && lateMs > MOST_LATE_MS) return
    if (this.#chunkLength > 0) this.#flushAll()
    if (say !== null) this.#connection.send(say)
    else if (this.#filledTo !== null) {
      this.#fill(msToSamples(afterMs, NARROWBAND))
      this.#flush()
    } else {
      this.#fill(this.#protocol.chunk)
      this.#flush()
      // It lies nowhere on the clock: no gap follows it.
      this.#filledTo = null
    }
  }

  #checkForStall(): void {
    const { stall, muteAfterMs } = this.#protocol
    const limit = this.#speechIsOpen ? stall.afterMs : this.#wasHeard ? null : muteAfterMs
    if (limit === null || this.#time.now() - this.#heardAt < limit) return
    if (samplesToMs(this.#clock.sent - this.#heardAtSent, NARROWBAND) < limit) return
    this.#fail('recogniser_failed', `said nothing for ${limit} ms while it was sent audio`)
  }

  #fail(code: string, reason: string, retryable = true): void {
    this.#end(new ParleyError(code, `${this.#protocol.name}: ${this.#withoutSecret(reason)}`, { retryable }))
  }

  #end(error: ParleyError): void {
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
