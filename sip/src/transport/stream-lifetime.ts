import type { Machine, Ms, Random } from '@parley/kernel'
import { randomBelow } from '@parley/kernel'
import type { StreamLimits } from './stream-limits.ts'

export type StreamLifetimeInput =
  /**
   * Bytes arrived and were framed. `partial`: they end inside a message; `completed`: a message or
   * keep-alive ended in them, so that what is partial now began now.
   */
  | { readonly type: 'received'; readonly completed: boolean; readonly partial: boolean }
  | { readonly type: 'valid-message' }
  | { readonly type: 'ping' }
  | { readonly type: 'pong' }
  | { readonly type: 'sent' }
  /** The peer takes the connection for dead when it hears nothing for this long (`Flow-Timer` of RFC 5626). */
  | { readonly type: 'keep-within'; readonly ms: Ms }

export type StreamLifetimeOutput =
  | { readonly type: 'send-ping' }
  | { readonly type: 'send-pong' }
  | { readonly type: 'close'; readonly code: 'slow_sender' | 'idle' | 'keepalive_timeout' }

type StreamLifetimeLimits = Pick<
  StreamLimits,
  'firstMessageMs' | 'partialMessageMs' | 'idleMs' | 'pingMinMs' | 'pingMaxMs' | 'pongMs'
>

/**
 * Time limits of a stream connection: slow senders, idleness, and RFC 5626 section 4.4.1 keep-alives.
 *
 * An accepted flow on which nothing was ever answered is untrusted: it gets no ping and no pong, and ends after
 * the time for a first message. Otherwise pings go out, and are answered. Many peers never answer a ping, so a missing pong ends only flows whose peer answered one before; anything it sends proves it alive as well.
 */
export class StreamLifetime implements Machine<StreamLifetimeInput, StreamLifetimeOutput> {
  readonly #limits: StreamLifetimeLimits
  readonly #random: Random
  readonly #accepted: boolean
  readonly #openedAt: Ms
  #outputs: StreamLifetimeOutput[] = []
  #closed = false
  /** We dialled the connection, or have sent a response on it. */
  #known: boolean
  #answersPings = false
  #activeAt: Ms
  #partialSince: Ms | undefined
  #pingAt: Ms
  #keepWithin: Ms = Number.POSITIVE_INFINITY
  #pongBy: Ms | undefined

  constructor(now: Ms, origin: 'accepted' | 'dialled', limits: StreamLifetimeLimits, random: Random) {
    this.#limits = limits
    this.#random = random
    this.#accepted = origin === 'accepted'
    this.#known = !this.#accepted
    this.#openedAt = now
    this.#activeAt = now
    this.#pingAt = now + this.#pingInterval()
  }

  handle(now: Ms, input: StreamLifetimeInput): void {
    if (this.#closed) return
    switch (input.type) {
      case 'received':
        this.#pongBy = undefined
        if (!input.partial) this.#partialSince = undefined
        else if (input.completed || this.#partialSince === undefined) this.#partialSince = now
        break
      case 'valid-message':
        this.#activeAt = now
        break
      case 'ping':
        if (!this.#known) break
        this.#activeAt = now
        this.#outputs.push({ type: 'send-pong' })
        break
      case 'pong':
        if (this.#known) this.#activeAt = now
        this.#answersPings = true
        break
      case 'sent':
        // Any data that we send refreshes NAT bindings as a ping would.
        this.#pingAt = now + this.#pingInterval()
        this.#known = true
        this.#activeAt = now
        break
      case 'keep-within':
        this.#keepWithin = input.ms
        this.#pingAt = Math.min(this.#pingAt, now + this.#pingInterval())
        break
    }
  }

  advance(now: Ms): void {
    if (this.#closed) return
    if (now >= this.#slowBy()) this.#close('slow_sender')
    else if (now >= this.#idleBy()) this.#close('idle')
    else if (this.#pongBy !== undefined && now >= this.#pongBy) this.#close('keepalive_timeout')
    else if (this.#pings() && now >= this.#pingAt) this.#ping(now)
  }

  poll(): StreamLifetimeOutput | undefined {
    return this.#outputs.shift()
  }

  deadline(): Ms | undefined {
    if (this.#closed) return undefined
    const next = Math.min(
      this.#slowBy(),
      this.#idleBy(),
      this.#pongBy ?? Number.POSITIVE_INFINITY,
      this.#pings() ? this.#pingAt : Number.POSITIVE_INFINITY,
    )
    return next === Number.POSITIVE_INFINITY ? undefined : next
  }

  #slowBy(): Ms {
    const first = this.#known ? undefined : this.#openedAt + this.#limits.firstMessageMs
    const whole = this.#partialSince === undefined ? undefined : this.#partialSince + this.#limits.partialMessageMs
    return Math.min(first ?? Number.POSITIVE_INFINITY, whole ?? Number.POSITIVE_INFINITY)
  }

  #idleBy(): Ms {
    return this.#accepted ? this.#activeAt + this.#limits.idleMs : Number.POSITIVE_INFINITY
  }

  #pings(): boolean {
    return this.#known
  }

  #ping(now: Ms): void {
    this.#outputs.push({ type: 'send-ping' })
    this.#pingAt = now + this.#pingInterval()
    if (this.#answersPings) this.#pongBy ??= now + this.#limits.pongMs
  }

  #pingInterval(): Ms {
    const { pingMinMs, pingMaxMs } = this.#limits
    const max = Math.min(pingMaxMs, this.#keepWithin)
    // RFC 5626 section 4.4: from 80 to 100 % of what the peer asks for.
    const min = max < pingMaxMs ? Math.round(max * 0.8) : pingMinMs
    return min + randomBelow(this.#random, Math.max(1, Math.round(max - min) + 1))
  }

  #close(code: 'slow_sender' | 'idle' | 'keepalive_timeout'): void {
    this.#closed = true
    this.#outputs.push({ type: 'close', code })
  }
}
