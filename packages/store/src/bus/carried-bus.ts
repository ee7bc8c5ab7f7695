import { type Random, randomToken, type Time, type Timer } from '@parley/kernel'
import type { Bus, Topic } from '../protocol.ts'
import type { Carrier, CarrierConnection } from './carrier.ts'
import { type Change, Changes, nextMessage, readMessage } from './changes.ts'

/** Changes of the same topic and id within this time are delivered once. */
const COALESCE_MS = 5
const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 5000
/** A connection that lasted this long resets the backoff. */
const STEADY_AFTER_MS = 5000
/** Interval of the checks that detect a dead connection. */
const CHECK_EVERY_MS = 15_000
/** How long closing waits for unsent changes. */
const CLOSE_WITHIN_MS = 2000

interface CarriedBusOptions {
  readonly time: Time
  readonly random: Random
  /** Gets one line when the server goes away, when it comes back, and when a listener throws. Default: no log. */
  readonly onProblem?: (line: string) => void
}

interface Listening {
  readonly listener: (id: string) => void
  readonly missed: () => void
}

/**
 * The bus over any carrier. Listeners in this process get a change within a few ms, even while the server is away; other
 * processes get it when the server is back. Unsent changes are bounded: when too many ids of a topic wait, all listeners
 * are notified that messages may have been missed.
 */
export class CarriedBus implements Bus {
  readonly #carrier: Carrier
  readonly #time: Time
  readonly #random: Random
  readonly #onProblem: (line: string) => void
  readonly #sender: string
  readonly #listening = new Map<Topic, Set<Listening>>()
  /** Changes not yet delivered to any listener. */
  readonly #fresh = new Changes()
  /** Changes not yet sent to other processes. */
  readonly #unsent = new Changes()
  readonly #abort = new AbortController()
  #flush: Timer | null = null
  #wake: Timer | null = null
  #connection: CarrierConnection | null = null
  #connectedAt = 0
  #retries = 0
  #sending = false
  #closing: Promise<void> | null = null
  #sent: (() => void) | null = null

  constructor(carrier: Carrier, options: CarriedBusOptions) {
    this.#carrier = carrier
    this.#time = options.time
    this.#random = options.random
    this.#onProblem = options.onProblem ?? (() => {})
    this.#sender = randomToken(options.random, 26)
    void this.#connect()
  }

  publish(topic: Topic, id: string): void {
    if (this.#closing !== null) return
    this.#fresh.add([topic, id])
    this.#flush ??= this.#time.at(this.#time.now() + COALESCE_MS, () => this.#tell())
  }

  /** `reconnected` is also called at the first connection, for listeners that subscribed before it. */
  subscribe(topic: Topic, listener: (id: string) => void, reconnected: () => void = () => {}): () => void {
    const listening = { listener, missed: reconnected }
    const all = this.#listening.get(topic) ?? new Set()
    this.#listening.set(topic, all.add(listening))
    return () => all.delete(listening)
  }

  /** Sends published changes first, if the server takes them within 2 s. No listener is called afterwards. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#flush?.cancel()
    this.#tell()
    if (!this.#unsent.isEmpty || this.#sending) await this.#sentOrLate()
    this.#listening.clear()
    this.#wake?.cancel()
    this.#abort.abort()
    const connection = this.#connection
    this.#connection = null
    await connection?.close()
  }

  #sentOrLate(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const late = this.#time.at(this.#time.now() + CLOSE_WITHIN_MS, resolve)
    this.#sent = resolve
    return promise.finally(() => late.cancel())
  }

  #tell(): void {
    this.#flush = null
    const changes = this.#fresh.takeAll()
    for (const change of changes) this.#unsent.add(change)
    this.#deliver(changes)
    void this.#send()
  }

  #deliver(changes: readonly Change[]): void {
    for (const [topic, id] of changes)
      for (const listening of [...(this.#listening.get(topic) ?? [])]) {
        // The listener may have unsubscribed while another was called.
        if (this.#listening.get(topic)?.has(listening) !== true) continue
        this.#call(id === null ? listening.missed : () => listening.listener(id))
      }
  }

  #call(callback: () => unknown): void {
    const failed = (error: unknown) => this.#onProblem(`a listener of the bus failed: ${messageOf(error)}`)
    try {
      const result = callback()
      if (result instanceof Promise) result.catch(failed)
    } catch (error) {
      failed(error)
    }
  }

  async #send(): Promise<void> {
    if (this.#sending) return
    this.#sending = true
    while (this.#connection !== null && !this.#unsent.isEmpty) {
      const connection = this.#connection
      const { text, sent } = nextMessage(this.#sender, this.#unsent)
      try {
        await connection.send(text)
      } catch (error) {
        // The message may have been sent; a repeated delivery is better than none.
        for (const change of sent) this.#unsent.add(change)
        this.#lost(connection, error)
      }
    }
    this.#sending = false
    if (this.#unsent.isEmpty) this.#sent?.()
  }

  async #connect(): Promise<void> {
    let connection: CarrierConnection | null = null
    let lostEarly: unknown
    const events = {
      message: (text: string) => this.#deliver(readMessage(text, this.#sender)),
      lost: (error: unknown) => {
        if (connection === null) lostEarly = error
        else this.#lost(connection, error)
      },
    }
    try {
      connection = await this.#carrier.open(events, this.#abort.signal)
    } catch (error) {
      this.#retry(error)
      return
    }
    if (this.#abort.signal.aborted) return void (await connection.close())
    this.#connection = connection
    this.#connectedAt = this.#time.now()
    if (lostEarly !== undefined) return this.#lost(connection, lostEarly)
    if (this.#retries > 0) this.#onProblem('the bus is connected again')
    this.#checkLater(connection)
    for (const all of this.#listening.values()) for (const { missed } of [...all]) this.#call(missed)
    void this.#send()
  }

  #lost(connection: CarrierConnection, error: unknown): void {
    if (this.#connection !== connection) return
    this.#connection = null
    void connection.close()
    if (this.#time.now() - this.#connectedAt >= STEADY_AFTER_MS) this.#retries = 0
    this.#retry(error)
  }

  #retry(error: unknown): void {
    if (this.#abort.signal.aborted) return
    if (this.#retries === 0) this.#onProblem(`the bus has no connection: ${messageOf(error)}`)
    const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(this.#retries++, 16))
    // Half of the pause is random, so that processes do not reconnect all at once.
    const delay = longest * (0.5 + this.#random.bytes(1)[0]! / 512)
    this.#wakeIn(delay, () => void this.#connect())
  }

  #checkLater(connection: CarrierConnection): void {
    this.#wakeIn(CHECK_EVERY_MS, () => {
      connection.check().then(
        () => {
          if (this.#connection === connection) this.#checkLater(connection)
        },
        (error: unknown) => this.#lost(connection, error),
      )
    })
  }

  #wakeIn(delay: number, wake: () => void): void {
    this.#wake?.cancel()
    if (!this.#abort.signal.aborted) this.#wake = this.#time.at(this.#time.now() + delay, wake)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
