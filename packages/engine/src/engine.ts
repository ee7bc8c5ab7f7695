import type { CallFacts } from '@parley/conversation'
import { ParleyError, systemRandom, systemTime } from '@parley/kernel'
import {
  type CallLeg,
  type Credentials,
  type DialOptions,
  dialLeg,
  Endpoint,
  type EndpointOptions,
  type Flow,
  type GuardDecision,
  type InviteSession,
  type LegSecurity,
  type NameAddr,
  type NextHop,
  receiveLeg,
  type SipRequest,
  type SipUri,
  tagOf,
} from '@parley/leg'
import type { TextToSpeech } from '@parley/providers'
import { Call, type CallEvent } from './call.ts'
import type { CallControl, CallHandler } from './call-handler.ts'
import type { CallPlan } from './call-plan.ts'
import { CallRates, type TrunkRate } from './call-rate.ts'
import { e164Digits } from './called-number.ts'
import type { InboundRoute, InboundRouter } from './inbound-router.ts'
import { KnownPeers } from './known-peers.ts'
import { LineTest } from './line-test.ts'
import { RouteTable, reaches, type StaticRoute } from './routes.ts'
import { Ticker } from './ticker.ts'
import type { VoiceAgent, VoiceCallFacts } from './voice/voice-agent.ts'
import { VoiceConversation } from './voice/voice-conversation.ts'

export interface EngineOptions {
  readonly endpoint: Omit<EndpointOptions, 'guard' | 'onInvite'>
  readonly routes: readonly StaticRoute[]
  /** Ways in besides the routes; default none. */
  readonly router?: InboundRouter
  /** What the line test speaks with, where a route or a dial request names no agent. Not closed by the engine. */
  readonly voice: TextToSpeech
  readonly language: string
  /** Path of the recording of a call that no plan speaks of, or null: not recorded. */
  readonly recordingPath: (callId: string) => string | null
  /** More calls get 503; default 500. */
  readonly maxCalls?: number
  /** Wait before an inbound call is answered; default 0. */
  readonly ringMs?: number
  readonly onCall?: (call: Call) => void
  readonly onEvent?: (call: Call, event: CallEvent) => void
}

export interface DialRequest {
  readonly uri: SipUri
  readonly from: NameAddr
  readonly security: LegSecurity
  readonly nextHop?: NextHop
  readonly credentials?: Credentials
  /** The call waits for its turn behind other calls of the same trunk; default: no limit. */
  readonly trunk?: TrunkRate
  /** Default 60 s. */
  readonly ringTimeoutMs?: number
  /** Who talks; default the line test. */
  readonly agent?: VoiceAgent
  /** What the flow's variables are at first, before its own defaults. */
  readonly variables?: Readonly<Record<string, string>>
  /** Stands for `agent` and `variables`, and says more. */
  readonly plan?: CallPlan
  /** Told of each INVITE before it leaves, which it does only when this resolves. */
  readonly beforeAttempt?: DialOptions['beforeAttempt']
  /** Told of the dialog before the answer is acknowledged; the call goes on meanwhile. */
  readonly beforeAcknowledging?: DialOptions['beforeAcknowledging']
}

/** Owns live calls: inbound ones found by address and token, outbound ones by a dial request. */
export class Engine {
  readonly #options: EngineOptions
  readonly #routes: RouteTable
  readonly #calls = new Set<Call>()
  readonly #called = new KnownPeers()
  readonly #rates = new CallRates({ time: systemTime })
  readonly #ticker = new Ticker(systemTime)
  /** Calls whose media is being opened: they have their place already. */
  #opening = 0
  #isDraining = false
  #endpoint: Endpoint | null = null

  private constructor(options: EngineOptions) {
    this.#options = options
    this.#routes = new RouteTable(options.routes)
  }

  static async start(options: EngineOptions): Promise<Engine> {
    const engine = new Engine(options)
    engine.#endpoint = await Endpoint.open({
      ...options.endpoint,
      guard: (request, flow) => engine.#admit(request, flow),
      onInvite: session => engine.#receive(session),
    })
    return engine
  }

  get calls(): ReadonlySet<Call> {
    return this.#calls
  }

  get endpoint(): Endpoint {
    if (this.#endpoint === null) throw new ParleyError('not_started', 'the engine is not started yet')
    return this.#endpoint
  }

  /**
   * Dials out, as soon as the trunk's rate allows. Throws when nothing could be sent ("no_rtp_port", "too_many_calls",
   * "call_rate_exceeded"); all else is in the call's report.
   */
  async dial(request: DialRequest): Promise<Call> {
    this.#checkRoom()
    if (request.trunk !== undefined) {
      await this.#rates.take(request.trunk)
      this.#checkRoom()
    }
    return this.#placed(async () => {
      const { uri, from, security, nextHop, credentials, beforeAttempt, beforeAcknowledging } = request
      const recording = request.plan === undefined ? this.#recording('out') : request.plan.recording
      const leg = await dialLeg(this.endpoint, {
        ...{ uri, from, security },
        ringTimeoutMs: request.ringTimeoutMs ?? 60_000,
        ...(nextHop && { nextHop }),
        ...(credentials && { credentials }),
        ...(beforeAttempt && { beforeAttempt }),
        ...(beforeAcknowledging && { beforeAcknowledging }),
        ...(recording && { recording }),
      })
      try {
        const call = this.#own(leg, request.plan ?? unplanned(leg, request.agent, request.variables))
        leg.onEvent(event => {
          if (event.type === 'ringing' || event.type === 'answered' || event.type === 'ended') this.#noteCalled(leg)
        })
        return call
      } catch (error) {
        leg.hangUp()
        throw error
      }
    })
  }

  /** No new calls from now on; live ones go on. */
  drain(on: boolean): void {
    this.#isDraining = on
    this.endpoint.userAgent.drain(on)
  }

  /** Ends every call, then leaves nothing open. */
  async close(): Promise<void> {
    this.#rates.stop()
    const reports = [...this.#calls].map(call => {
      call.cancel()
      return call.report
    })
    await this.#endpoint?.close()
    await Promise.all(reports)
  }

  #noteCalled(leg: CallLeg): void {
    if (leg.peerAddress !== null) this.#called.note(leg.peerAddress, this.endpoint.time.now())
  }

  #checkRoom(): void {
    if (this.#isFull) throw new ParleyError('too_many_calls', `${this.#maxCalls} calls are live`, { retryable: true })
  }

  get #isFull(): boolean {
    return this.#calls.size + this.#opening >= this.#maxCalls
  }

  /** Holds a place while `open` makes a call. */
  async #placed<Made>(open: () => Promise<Made>): Promise<Made> {
    this.#opening++
    try {
      return await open()
    } finally {
      this.#opening--
    }
  }

  get #maxCalls(): number {
    return this.#options.maxCalls ?? 500
  }

  /**
   * Asked before anything is kept: a request without a valid token gets no answer at all, unless it comes from an address
   * that a trunk lists or that we called, and is no new call.
   */
  #admit(request: SipRequest, flow: Flow): GuardDecision {
    const { address } = flow.remote
    const route = this.#options.router?.find(request, address) ?? null
    if (route === null && this.#routes.find(request, address) === null) {
      const hasCalled =
        this.#routes.lists(address) ||
        this.#options.router?.lists(address) === true ||
        this.#called.has(address, this.endpoint.time.now())
      return { action: hasCalled && request.method !== 'INVITE' ? 'accept' : 'drop' }
    }
    if (request.method === 'INVITE' && tagOf(request.to) === undefined && (this.#isFull || this.#isDraining)) {
      route?.refused(request, this.#isDraining ? 'draining' : 'overload')
      return { action: 'reject', status: 503, retryAfterS: 5 }
    }
    return { action: 'accept', ...(route?.serverName && { serverName: route.serverName }) }
  }

  #receive(session: InviteSession): void {
    const address = session.flow?.remote.address ?? ''
    const staticRoute = this.#routes.find(session.invite, address)
    const route = staticRoute === null ? (this.#options.router?.find(session.invite, address) ?? null) : null
    const received = this.#placed(async () => {
      if (route !== null) return this.#receiveAt(route, session)
      if (staticRoute === null || !reaches(staticRoute, session.invite)) return session.reject(404)
      const recording = this.#recording('in')
      const leg = await receiveLeg(this.endpoint, session, {
        security: staticRoute.security,
        ...(recording && { recording }),
      })
      if (leg === null) return
      this.#own(leg, unplanned(leg, staticRoute.agent))
      this.#answer(leg)
    })
    received.catch(() => session.hangUp())
  }

  /** A caller who gives up meanwhile is gone; the route learns of it. */
  async #receiveAt(route: InboundRoute, session: InviteSession): Promise<void> {
    const reception = await route.receive(session.invite)
    if (reception.kind === 'refused') {
      const { status, retryAfterS } = reception
      if (session.state === 'incoming') session.reject(status, retryAfterS === undefined ? {} : { retryAfterS })
      return
    }
    const { plan, security } = reception
    if (session.state !== 'incoming') return plan.onAbandoned?.('caller_gone')
    const { recording } = plan
    const leg = await receiveLeg(this.endpoint, session, { security, ...(recording && { recording }) })
    if (leg === null) return plan.onAbandoned?.('not_answered')
    leg.ring()
    const answer = await plan.whileRinging?.(leg)
    if (answer?.kind === 'refuse') {
      leg.reject(answer.status)
      return plan.onAbandoned?.('refused')
    }
    this.#own(leg, plan, answer?.facts)
    leg.answer()
  }

  #answer(leg: CallLeg): void {
    const ringMs = this.#options.ringMs ?? 0
    leg.ring()
    if (ringMs === 0) leg.answer()
    else this.endpoint.time.at(this.endpoint.time.now() + ringMs, () => leg.answer())
  }

  #recording(direction: 'in' | 'out'): CallPlan['recording'] {
    const path = this.#options.recordingPath(`${direction}-${crypto.randomUUID()}`)
    return path === null ? null : { path }
  }

  /** `facts`: newer ones than the plan's. */
  #own(leg: CallLeg, plan: CallPlan, facts = plan.talk?.facts): Call {
    const call = new Call({
      leg,
      time: this.endpoint.time,
      ticker: this.#ticker,
      createHandler: line => this.#handler(line, plan, facts),
      onEvent: (event, owner) => {
        this.#options.onEvent?.(owner, event)
        plan.onEvent?.(event, owner)
      },
    })
    this.#calls.add(call)
    void call.report.then(() => this.#calls.delete(call))
    this.#options.onCall?.(call)
    plan.onCall?.(call)
    return call
  }

  #handler(line: CallControl, { talk, onUsed }: CallPlan, facts: VoiceCallFacts | undefined): CallHandler {
    const { time } = this.endpoint
    const { voice, language } = this.#options
    if (talk === null || facts === undefined) return new LineTest({ line, voice, language, time, wallClock: Date.now })
    return new VoiceConversation({
      ...{ agent: talk.agent, facts, line, time, wallClock: Date.now, random: systemRandom },
      ...(onUsed && { onUsed }),
    })
  }
}

/** A call that nobody planned: of a static route, or dialled by hand. */
function unplanned(leg: CallLeg, agent: VoiceAgent | undefined, variables?: DialRequest['variables']): CallPlan {
  if (agent === undefined) return { talk: null, recording: null }
  return { talk: { agent, facts: { call: callFacts(agent, leg), ...(variables && { variables }) } }, recording: null }
}

function callFacts(agent: VoiceAgent, leg: CallLeg): CallFacts {
  const { from, to } = leg.parties
  return {
    run_id: null,
    agent_id: agent.agentId,
    agent_version: agent.agentVersion,
    channel: 'phone',
    from_number: asE164(from),
    to_number: asE164(to),
  }
}

/** What is no number stays here: the user part of a way in is its token. */
function asE164(user: string | null): string | null {
  const digits = user === null ? null : e164Digits(user)
  return digits === null ? null : `+${digits}`
}
