import { type Ms, systemTime, TransientSet } from '@parley/kernel'
import {
  type CallLeg,
  type DialOptions,
  dialLeg,
  Endpoint,
  type EndpointOptions,
  receiveLeg,
  type SipCallLeg,
} from '@parley/leg'
import { Call, type CallEvent } from './call.ts'
import { CallCapacity, type CallPlace } from './call-capacity.ts'
import type { CallPlan, HandlerFactory } from './call-plan.ts'
import { EngineError } from './errors.ts'
import { InboundCalls } from './inbound-calls.ts'
import type { InboundRouter } from './inbound-router.ts'
import { KnownPeers } from './known-peers.ts'
import { Ticker } from './ticker.ts'

const MAX_CALLS = 500
const MAX_MEDIA_LATENESS_MS: Ms = 40
const MAX_AUDIO_READ_LATENESS_MS: Ms = 250
const RING_TIMEOUT_MS = 60_000

export interface EngineOptions {
  readonly endpoint: Omit<EndpointOptions, 'guard' | 'onInvite' | 'isKnownAddress'>
  /** Finds the routes of inbound calls. */
  readonly router: InboundRouter
  /** Maximum of calls at once in both directions; an inbound call beyond it is answered 503. Default 500. */
  readonly maxCalls?: number
  /** No new call begins while the p99 of the lateness of sent audio packets exceeds this; default 40. */
  readonly maxMediaLatenessMs?: Ms
  /** No new call begins while received audio is read later than this; default 250. */
  readonly maxAudioReadLatenessMs?: Ms
  readonly onCall?: (call: Call) => void
  readonly onEvent?: (call: Call, event: CallEvent) => void
}

/** An outbound call. `ringTimeoutMs` defaults to 60 s. */
export interface DialRequest extends Omit<DialOptions, 'recording' | 'label'> {
  readonly plan: CallPlan
}

/** Owns live calls: inbound calls that its router admits, and outbound calls that it dials. */
export class Engine {
  readonly endpoint: Endpoint
  readonly capacity: CallCapacity
  readonly #options: EngineOptions
  readonly #peers: KnownPeers
  readonly #ticker: Ticker
  readonly #calls = new TransientSet<Call>()

  private constructor(options: EngineOptions, capacity: CallCapacity, peers: KnownPeers, endpoint: Endpoint) {
    this.endpoint = endpoint
    this.capacity = capacity
    this.#options = options
    this.#peers = peers
    this.#ticker = new Ticker(endpoint.time)
  }

  /** Throws what the endpoint throws ("address_in_use"). */
  static async start(options: EngineOptions): Promise<Engine> {
    let opened: Endpoint | null = null
    const capacity = new CallCapacity(options.maxCalls ?? MAX_CALLS, [
      {
        limitMs: options.maxMediaLatenessMs ?? MAX_MEDIA_LATENESS_MS,
        recentMs: () => opened?.mediaLatenessMs ?? 0,
      },
      {
        limitMs: options.maxAudioReadLatenessMs ?? MAX_AUDIO_READ_LATENESS_MS,
        recentMs: () => engine.audioReadLatenessMs,
      },
    ])
    const peers = new KnownPeers()
    const inbound = new InboundCalls({
      router: options.router,
      capacity,
      peers,
      now: () => systemTime.now(),
      openLeg: (session, legOptions) => receiveLeg(engine.endpoint, session, legOptions),
      startCall: (leg, plan, createHandler) => engine.#startCall(leg, plan, createHandler),
    })
    const endpoint = await Endpoint.open({
      ...options.endpoint,
      guard: (request, flow) => inbound.guard(request, flow),
      isKnownAddress: address => inbound.isKnownAddress(address),
      // Never called: the guard names the receiver of every INVITE that it accepts.
      onInvite: session => session.reject(404),
    })
    opened = endpoint
    const engine = new Engine(options, capacity, peers, endpoint)
    return engine
  }

  get calls(): Iterable<Call> & { readonly size: number } {
    return this.#calls
  }

  /**
   * Dials out. `place`: a place reserved before, which the engine releases, also when this throws. Default: reserves one now.
   *
   * Throws, before anything was sent, "too_many_calls" (retryable), "draining", "no_rtp_port" and other errors of the leg. Later
   * errors are in the call's report.
   */
  async dial({ plan, ...target }: DialRequest, place: CallPlace = this.#reserve()): Promise<Call> {
    const { recording, createHandler } = plan
    let leg: SipCallLeg | null = null
    try {
      leg = await dialLeg(this.endpoint, {
        ringTimeoutMs: RING_TIMEOUT_MS,
        ...target,
        ...(recording && { recording }),
      })
      const call = this.#startCall(leg, plan, createHandler)
      void call.report.then(() => place.release())
      this.#notePeer(leg)
      return call
    } catch (error) {
      leg?.hangUp()
      place.release()
      throw error
    }
  }

  /** Starts a call whose leg exists already; releases `place` when it ends. */
  begin(leg: CallLeg, plan: CallPlan, place: CallPlace): Call {
    const call = this.#startCall(leg, plan, plan.createHandler)
    void call.report.then(() => place.release())
    return call
  }

  /** Accepts no new calls from now on. Live calls and calls that are being set up go on. */
  drain(): void {
    this.capacity.drain()
  }

  /** Ends every call and closes all sockets. */
  async close(): Promise<void> {
    this.capacity.drain()
    const reports = [...this.#calls].map(call => {
      call.cancel()
      return call.report
    })
    await this.endpoint.close()
    await Promise.all(reports)
  }

  /** How late the received audio of live calls is read, mean of the last seconds. */
  get audioReadLatenessMs(): Ms {
    return this.#ticker.latenessMs
  }

  #reserve(): CallPlace {
    const place = this.capacity.reserve()
    if (place !== null) return place
    if (this.capacity.isDraining) throw new EngineError('draining', 'the engine drains and dials no new calls')
    if (this.capacity.isLate)
      throw new EngineError(
        'too_many_calls',
        'audio is sent or read late: no new call begins until live calls are served on time',
      )
    throw new EngineError('too_many_calls', `${this.capacity.max} calls are live, as many as the engine may have`)
  }

  /** Records the address of the far end from its first response on. */
  #notePeer(leg: SipCallLeg): void {
    leg.onEvent(({ type }) => {
      if (type !== 'ringing' && type !== 'answered' && type !== 'ended') return
      if (leg.peerAddress !== null) this.#peers.note(leg.peerAddress, this.endpoint.time.now())
    })
  }

  /** Starts a call of either direction. */
  #startCall(leg: CallLeg, plan: CallPlan, createHandler: HandlerFactory): Call {
    const { onCall, onEvent } = this.#options
    const call = new Call({
      leg,
      time: this.endpoint.time,
      ticker: this.#ticker,
      createHandler,
      owner: plan,
      ...(onEvent !== undefined && { onEvent: (event: CallEvent, live: Call) => onEvent(live, event) }),
    })
    void call.report.then(this.#calls.add(call))
    onCall?.(call)
    plan.onCall?.(call)
    return call
  }
}
