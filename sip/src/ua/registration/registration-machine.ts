import { type Ms, type Random, randomBelow } from '@parley/kernel'

/** Shortest and longest wait after failures in a row. */
const MIN_BACKOFF_MS: Ms = 30_000
const MAX_BACKOFF_MS: Ms = 30 * 60_000
/** A registrar that grants less is not asked more often than this. */
const MIN_REFRESH_MS: Ms = 10_000
/** A connection that closes so soon after a registration counts as a failure, so that REGISTERs do not follow each other at once. */
const STABLE_MS: Ms = 30_000
/** Longest interval that a 423 can make us request. */
const MAX_EXPIRES_S = 86_400

export type RegistrationInput =
  | { readonly type: 'start' }
  /** 2xx. `grantedS`: seconds until the binding expires. */
  | { readonly type: 'accepted'; readonly grantedS: number }
  /** Final response of 300 or above, after every challenge that could be answered. */
  | {
      readonly type: 'refused'
      readonly status: number
      readonly minExpiresS: number | undefined
      readonly retryAfterS: number | undefined
    }
  /** No final response. */
  | { readonly type: 'failed' }
  /** The connection of the registration closed, or its path over UDP no longer leads to us. */
  | { readonly type: 'flow-lost' }
  /** The time of the last `wait` has come. */
  | { readonly type: 'due' }
  | { readonly type: 'stop' }

export type RegistrationOutput =
  /** Send a REGISTER; 0 removes the binding. One of accepted, refused and failed must follow. */
  | { readonly type: 'register'; readonly expiresS: number }
  /** `due` must follow at this time, unless another output comes first. */
  | { readonly type: 'wait'; readonly until: Ms }

export type RegistrationState = 'registering' | 'registered' | 'failed' | 'unregistered'

/**
 * A registration as the client keeps it (RFC 3261 section 10.2), without clock and network.
 *
 *     requesting --2xx--> waiting (half the granted time) --due--> requesting
 *     requesting --423--> requesting with Min-Expires, once for each attempt
 *     requesting --other refusal, no response--> waiting (back-off) --due--> requesting
 *     any --stop--> removing, if there may be a binding --response or failure--> over
 */
export class RegistrationMachine {
  readonly #random: Random
  #expiresS: number
  #phase: 'idle' | 'requesting' | 'waiting' | 'removing' | 'over' = 'idle'
  #failures = 0
  #wasRaised = false
  #isStopping = false
  /** A REGISTER was sent, so that the registrar may have a binding. */
  #wasSent = false
  #acceptedAt: Ms = Number.NEGATIVE_INFINITY
  #expiresAt: Ms = Number.NEGATIVE_INFINITY

  constructor(expiresS: number, random: Random) {
    this.#expiresS = expiresS
    this.#random = random
  }

  state(now: Ms): RegistrationState {
    if (this.#phase === 'over') return 'unregistered'
    if (now < this.#expiresAt) return 'registered'
    return this.#failures > 0 ? 'failed' : 'registering'
  }

  /** When the binding expires; null: there is none. */
  expiresAt(now: Ms): Ms | null {
    return now < this.#expiresAt ? this.#expiresAt : null
  }

  get isOver(): boolean {
    return this.#phase === 'over'
  }

  handle(input: RegistrationInput, now: Ms): readonly RegistrationOutput[] {
    if (input.type === 'stop') return this.#stop()
    if (this.#phase === 'removing') return input.type === 'due' || input.type === 'flow-lost' ? [] : this.#end()
    switch (input.type) {
      case 'start':
        return this.#phase === 'idle' ? this.#register() : []
      case 'due':
        return this.#phase === 'waiting' ? this.#register() : []
      case 'flow-lost':
        return this.#phase === 'waiting' && now < this.#expiresAt ? this.#flowLost(now) : []
      case 'accepted':
        return this.#phase === 'requesting' ? this.#accepted(input.grantedS, now) : []
      case 'refused':
        return this.#phase === 'requesting' ? this.#refused(input, now) : []
      case 'failed':
        return this.#phase === 'requesting' ? this.#backOff(now) : []
    }
  }

  #register(): readonly RegistrationOutput[] {
    this.#wasRaised = false
    return this.#request(this.#expiresS)
  }

  #request(expiresS: number): readonly RegistrationOutput[] {
    this.#phase = 'requesting'
    this.#wasSent = true
    return [{ type: 'register', expiresS }]
  }

  #accepted(grantedS: number, now: Ms): readonly RegistrationOutput[] {
    if (this.#isStopping) return this.#remove()
    if (grantedS <= 0) return this.#backOff(now)
    this.#phase = 'waiting'
    this.#failures = 0
    this.#acceptedAt = now
    this.#expiresAt = now + grantedS * 1000
    return [{ type: 'wait', until: now + Math.max(MIN_REFRESH_MS, grantedS * 500) }]
  }

  /** 10.2.8: after a 423 the interval is the registrar's Min-Expires. */
  #refused(
    { status, minExpiresS, retryAfterS }: RegistrationInput & { type: 'refused' },
    now: Ms,
  ): readonly RegistrationOutput[] {
    const wanted = status === 423 ? (minExpiresS ?? 0) : 0
    if (wanted > this.#expiresS && wanted <= MAX_EXPIRES_S && !this.#wasRaised && !this.#isStopping) {
      this.#wasRaised = true
      this.#expiresS = wanted
      return this.#request(wanted)
    }
    return this.#backOff(now, (retryAfterS ?? 0) * 1000)
  }

  #flowLost(now: Ms): readonly RegistrationOutput[] {
    // RFC 5626 section 4.4.1: the binding cannot be reached over a closed connection.
    this.#expiresAt = Number.NEGATIVE_INFINITY
    return now - this.#acceptedAt < STABLE_MS ? this.#backOff(now) : this.#register()
  }

  #backOff(now: Ms, atLeastMs: Ms = 0): readonly RegistrationOutput[] {
    if (this.#isStopping) return this.#remove()
    this.#phase = 'waiting'
    const base = MIN_BACKOFF_MS * 2 ** Math.min(this.#failures++, 10)
    const jitter = randomBelow(this.#random, Math.ceil(base / 4))
    const wait = Math.min(MAX_BACKOFF_MS, Math.max(base + jitter, atLeastMs))
    return [{ type: 'wait', until: now + wait }]
  }

  #stop(): readonly RegistrationOutput[] {
    if (this.#isStopping) return []
    this.#isStopping = true
    // A request in progress is awaited: REGISTERs of one registration must not overlap (section 10.2).
    if (this.#phase === 'requesting') return []
    return this.#wasSent ? this.#remove() : this.#end()
  }

  #remove(): readonly RegistrationOutput[] {
    this.#phase = 'removing'
    return [{ type: 'register', expiresS: 0 }]
  }

  #end(): readonly RegistrationOutput[] {
    this.#phase = 'over'
    return []
  }
}
