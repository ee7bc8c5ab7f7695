import type { Ms } from '@parley/kernel'
import {
  ALL_NETWORKS,
  type Credentials,
  dialLeg,
  Endpoint,
  type EndpointOptions,
  type InviteSession,
  type LegOptions,
  type LegSecurity,
  parseUri,
  receiveLeg,
  type SipUri,
} from '@parley/leg'
import { PhoneError } from './errors.ts'
import { PhoneCall, type PhoneCallOptions } from './phone-call.ts'

export interface PhoneOptions {
  readonly endpoint: Omit<EndpointOptions, 'guard' | 'onInvite'>
  /** User part of the phone's address; default "phone". */
  readonly name?: string
  /** Default "srtp-required". */
  readonly security?: LegSecurity
  /** Live inbound calls not yet returned by `nextCall`; beyond that another is answered 486. Default 16. */
  readonly maxWaitingCalls?: number
  /** Offered and accepted codecs, in order of preference; default PCMU, PCMA. */
  readonly codecs?: LegOptions['codecs']
  /** How long inbound calls ring; default 0. */
  readonly answerAfterMs?: Ms
  /** Options of each call; called once for each. Default none. */
  readonly callOptions?: () => PhoneCallOptions
}

const MAX_WAITING_CALLS = 16

/** What a phone does with an inbound call. */
type PhoneBehaviour =
  | { readonly type: 'answer'; readonly afterMs: Ms }
  | { readonly type: 'reject'; readonly status: number }
  /** Rings until the caller gives up. */
  | { readonly type: 'ignore' }

export interface PhoneDial {
  readonly credentials?: Credentials
  readonly recording?: LegOptions['recording']
  readonly ringTimeoutMs?: Ms
  readonly delayedOffer?: boolean
  /** Default: the phone's. */
  readonly security?: LegSecurity
  /** SIP URI of the caller; default the phone's. */
  readonly from?: string
  /** Default: those of the phone. */
  readonly callOptions?: PhoneCallOptions
}

/** A simulated phone: it calls, answers, talks, presses keys, holds, and stores the audio that it receives. */
export class VirtualPhone {
  /** Applies to later inbound calls; initially they are answered, after `answerAfterMs`. */
  behaviour: PhoneBehaviour
  readonly #options: PhoneOptions
  #endpoint: Endpoint | null = null
  /** Inbound calls not yet returned by `nextCall`, including calls that have ended. */
  #arrived: PhoneCall[] = []
  /** Inbound calls whose media is being opened. */
  #opening = 0
  readonly #waiting: ((call: PhoneCall) => void)[] = []

  private constructor(options: PhoneOptions) {
    this.#options = options
    this.behaviour = { type: 'answer', afterMs: options.answerAfterMs ?? 0 }
  }

  static async open(options: PhoneOptions): Promise<VirtualPhone> {
    const phone = new VirtualPhone(options)
    phone.#endpoint = await Endpoint.open({
      ...options.endpoint,
      rtp: { localNetworks: ALL_NETWORKS, ...options.endpoint.rtp },
      guard: () => ({ action: 'accept' }),
      onInvite: session => void phone.#receive(session).catch(() => session.hangUp()),
    })
    return phone
  }

  /** The URI at which this phone is called. */
  uri(transport: 'udp' | 'tcp' | 'tls' = 'tls'): string {
    const host = this.#options.endpoint.advertisedHost ?? this.#options.endpoint.bind ?? '127.0.0.1'
    return `sip:${this.#name}@${host}:${this.#openEndpoint.port(transport)};transport=${transport}`
  }

  /** Dials `target`, a SIP URI; throws "bad_uri". Errors of the call are in its events. */
  async call(target: string, dial: PhoneDial = {}): Promise<PhoneCall> {
    const { recording, credentials, ringTimeoutMs, delayedOffer } = dial
    const leg = await dialLeg(this.#openEndpoint, {
      uri: sipUri(target),
      from: { displayName: undefined, uri: sipUri(dial.from ?? this.uri()), params: new Map() },
      security: dial.security ?? this.#options.security ?? 'srtp-required',
      codecs: this.#options.codecs,
      ...(recording && { recording }),
      ...(credentials && { credentials }),
      ...(ringTimeoutMs && { ringTimeoutMs }),
      ...(delayedOffer && { delayedOffer }),
    })
    return new PhoneCall(leg, this.#openEndpoint.time, dial.callOptions ?? this.#options.callOptions?.())
  }

  /** Resolves with the oldest inbound call not yet returned, or else with the next one. */
  nextCall(): Promise<PhoneCall> {
    const call = this.#arrived.shift()
    if (call !== undefined) return Promise.resolve(call)
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  /** Load and punctuality of the media threads; lateness counts since the last call of this function. */
  mediaThreads(): ReturnType<Endpoint['mediaThreads']> {
    return this.#openEndpoint.mediaThreads()
  }

  /** Hangs up all calls and closes all sockets. */
  async close(): Promise<void> {
    await this.#endpoint?.close()
  }

  get #openEndpoint(): Endpoint {
    if (this.#endpoint === null)
      throw new PhoneError('not_started', 'the phone is not open: await VirtualPhone.open() first')
    return this.#endpoint
  }

  get #name(): string {
    return this.#options.name ?? 'phone'
  }

  async #receive(session: InviteSession): Promise<void> {
    const { behaviour } = this
    if (behaviour.type === 'reject') return session.reject(behaviour.status)
    if (!this.#mayWait()) return session.reject(486)
    const endpoint = this.#openEndpoint
    this.#opening++
    const { security = 'srtp-required', codecs } = this.#options
    const leg = await receiveLeg(endpoint, session, { security, codecs }).finally(() => this.#opening--)
    if (leg === null) return
    leg.ring()
    if (behaviour.type === 'answer') {
      if (behaviour.afterMs === 0) leg.answer()
      else endpoint.time.at(endpoint.time.now() + behaviour.afterMs, () => leg.answer())
    }
    const call = new PhoneCall(leg, endpoint.time, this.#options.callOptions?.())
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#arrived.push(call)
    else waiting(call)
  }

  /** Whether one more inbound call may wait for `nextCall`. Calls that ended are removed first. */
  #mayWait(): boolean {
    const maxWaiting = this.#options.maxWaitingCalls ?? MAX_WAITING_CALLS
    const waiting = () => this.#arrived.length + this.#opening - this.#waiting.length
    if (waiting() >= maxWaiting) this.#arrived = this.#arrived.filter(call => call.leg.state !== 'ended')
    return waiting() < maxWaiting
  }
}

function sipUri(text: string): SipUri {
  const uri = parseUri(text)
  if (uri === undefined || (uri.scheme !== 'sip' && uri.scheme !== 'sips'))
    throw new PhoneError('bad_uri', `"${text}" is not a SIP URI, such as sip:token@host:5061;transport=tls`)
  return uri as SipUri
}
