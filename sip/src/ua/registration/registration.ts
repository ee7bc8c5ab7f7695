import type { Ms, Timer } from '@parley/kernel'
import { isSipUri, type NameAddr, type SipRequest, type SipResponse, type SipUri } from '../../message/message.ts'
import { parseNameAddrList } from '../../message/name-addr.ts'
import { parseRetryAfter } from '../../message/retry-after.ts'
import { uriEquals } from '../../message/uri.ts'
import type { RequestFailure } from '../../transaction/client-transaction.ts'
import type { Flow, NextHop } from '../../transport/transport.ts'
import type { CallIdentity } from '../call-identity.ts'
import { METHODS } from '../capabilities.ts'
import { ClientRequest } from '../client-request.ts'
import { createOutboundRequest, firstHop, identityOf } from '../outbound-request.ts'
import type { Credentials } from '../session.ts'
import type { UaContext } from '../ua-context.ts'
import type { OutboundRequest } from '../user-agent-options.ts'
import { FlowKeepAlive } from './flow-keep-alive.ts'
import {
  type RegistrationInput,
  RegistrationMachine,
  type RegistrationOutput,
  type RegistrationState,
} from './registration-machine.ts'

/** A shorter one frees the binding of a crashed engine sooner; registrars raise it by 423. */
const DEFAULT_EXPIRES_S = 600
const MAX_EXPIRES_S = 86_400
const MAX_SERVICE_ROUTES = 10
/** How often a closed connection is looked for. */
const FLOW_CHECK_MS: Ms = 5000

export interface RegistrationOptions {
  /** Request-URI: the registrar's domain without a user (RFC 3261 section 10.2). */
  readonly registrar: SipUri
  /** The address of record. */
  readonly address: SipUri
  /** User part of our Contact, to which the registrar sends calls. */
  readonly contactUser: string
  readonly nextHop?: NextHop
  readonly credentials?: Credentials
  /** UUID of this process in `+sip.instance` (RFC 5626 section 4.1): another process must not replace its binding. */
  readonly instanceId: string
  /** Requested interval in seconds; default 600. */
  readonly expiresS?: number
  /** Most time between two keep-alives on the path; default, and at most, that of {@link FlowKeepAlive}. */
  readonly keepAliveMs?: Ms
  /** Called after every change, not before `registration` has returned. */
  readonly onChange: (status: RegistrationStatus) => void
}

export interface RegistrationStatus {
  readonly state: RegistrationState
  /** When the binding expires, on the user agent's clock; null: there is none. */
  readonly expiresAt: Ms | null
  /** Final status of the last REGISTER; null: there was no response. */
  readonly sipStatus: number | null
  /** One sentence for logs; empty before the first outcome. */
  readonly detail: string
  /** Route set for requests in the registrar's domain (RFC 3608), in its order; empty: none. */
  readonly serviceRoute: readonly NameAddr[]
  /** Over which the registrar sends calls; undefined: there is no binding. */
  readonly flow: Flow | undefined
}

/** Keeps a binding at a registrar until it is stopped. All REGISTERs have one Call-ID and rising CSeq numbers. */
export class Registration {
  readonly #ctx: UaContext
  readonly #options: RegistrationOptions
  readonly #machine: RegistrationMachine
  readonly #call: OutboundRequest
  readonly #template: SipRequest
  readonly #identity: CallIdentity
  readonly #onOver: () => void
  readonly #over = Promise.withResolvers<void>()
  readonly #keepAlive: FlowKeepAlive
  #sequence: number
  #contact: NameAddr | undefined
  #request: ClientRequest | undefined
  #flow: Flow | undefined
  #sipStatus: number | null = null
  #detail = ''
  #serviceRoute: readonly NameAddr[] = []
  #timer: Timer | undefined
  #flowTimer: Timer | undefined
  #isAbandoned = false

  /** Throws SipMessageError for a field that cannot be sent. `onOver`: the registration sends nothing more. */
  constructor(ctx: UaContext, options: RegistrationOptions, onOver: () => void) {
    this.#ctx = ctx
    this.#options = options
    this.#onOver = onOver
    const { registrar, address, nextHop, credentials } = options
    const party: NameAddr = { displayName: undefined, uri: address, params: new Map() }
    this.#call = {
      uri: registrar,
      from: party,
      to: party,
      ...(nextHop && { nextHop }),
      ...(credentials && { credentials }),
    }
    this.#machine = new RegistrationMachine(options.expiresS ?? DEFAULT_EXPIRES_S, ctx.random)
    this.#template = createOutboundRequest(ctx, 'REGISTER', this.#call, [
      ['Allow', METHODS.join(', ')],
      ['Supported', 'path, outbound'],
    ])
    this.#identity = identityOf(ctx, this.#call)
    this.#keepAlive = new FlowKeepAlive(ctx, why => this.#loseFlow(why))
    this.#sequence = this.#template.cseq.sequence
    ctx.time.at(ctx.time.now(), () => this.#handle({ type: 'start' }))
  }

  get status(): RegistrationStatus {
    const now = this.#ctx.time.now()
    const state = this.#machine.state(now)
    return {
      state,
      expiresAt: this.#machine.expiresAt(now),
      sipStatus: this.#sipStatus,
      detail: this.#detail,
      serviceRoute: state === 'registered' ? this.#serviceRoute : [],
      flow: this.flow,
    }
  }

  /** Over which the registrar sends calls; undefined: there is no binding. */
  get flow(): Flow | undefined {
    return this.#machine.state(this.#ctx.time.now()) === 'registered' ? this.#flow : undefined
  }

  /** Removes the binding. Resolves with the registrar's response, or when none came within 64*T1. */
  stop(): Promise<void> {
    this.#handle({ type: 'stop' })
    return this.#over.promise
  }

  /** Sends nothing more; the binding expires by itself. */
  abandon(): void {
    this.#isAbandoned = true
    this.#request?.abandon()
    this.#end()
  }

  #handle(input: RegistrationInput): void {
    if (this.#isAbandoned) return
    const { time } = this.#ctx
    const outputs = this.#machine.handle(input, time.now())
    for (const output of outputs) this.#perform(output)
    if (this.#machine.isOver) this.#end()
    if (input.type !== 'start') this.#options.onChange(this.status)
  }

  #perform(output: RegistrationOutput): void {
    const { time } = this.#ctx
    this.#timer?.cancel()
    if (output.type === 'register') this.#send(output.expiresS)
    else this.#timer = time.at(output.until, () => this.#handle({ type: 'due' }))
  }

  #send(expiresS: number): void {
    this.#request = new ClientRequest(this.#ctx, {
      build: (sequence, contact) => {
        const own = this.#contactWithInstance(contact)
        this.#contact = own
        return {
          ...this.#template,
          cseq: { sequence, method: 'REGISTER' },
          contact: [own],
          headers: this.#template.headers.with('Expires', String(expiresS)),
        }
      },
      contactUser: this.#options.contactUser,
      sequence: ++this.#sequence,
      reserveSequence: () => ++this.#sequence,
      flow: this.#flow,
      hop: firstHop(this.#call),
      identity: this.#identity,
      adoptTargets: true,
      onResponse: (response, flow) => this.#onResponse(response, flow, expiresS),
      onFailure: failure => this.#onFailure(failure),
    })
    this.#request.start()
  }

  /** RFC 5626 section 4.2: a registrar without outbound ignores the parameters. */
  #contactWithInstance(contact: NameAddr): NameAddr {
    const params = new Map<string, string | null>([
      ...contact.params,
      ['+sip.instance', `<urn:uuid:${this.#options.instanceId}>`],
      ['reg-id', '1'],
    ])
    return { ...contact, params }
  }

  #onResponse(response: SipResponse, flow: Flow, requestedS: number): void {
    const { status, reason, headers } = response
    if (status < 200) return
    this.#sipStatus = status
    this.#detail = `REGISTER answered ${status} ${reason}`
    if (status >= 300) {
      const minExpiresS = secondsOf(headers.get('Min-Expires'))
      const retryAfterS = parseRetryAfter(headers.get('Retry-After') ?? '')?.seconds
      return this.#handle({ type: 'refused', status, minExpiresS, retryAfterS })
    }
    this.#flow = flow
    this.#serviceRoute = headers
      .all('Service-Route')
      .flatMap(value => parseNameAddrList(value) ?? [])
      .slice(0, MAX_SERVICE_ROUTES)
    this.#handle({ type: 'accepted', grantedS: this.#granted(response, requestedS) })
    if (this.status.state === 'registered') this.#keepFlow(flow, response)
    this.#watchFlow()
  }

  /** RFC 5626 section 4.2.1: a registrar that keeps flows requires "outbound" in its response. */
  #keepFlow(flow: Flow, { headers }: SipResponse): void {
    const isOutbound = headers.all('Require').some(value => value.split(',').some(tag => tag.trim() === 'outbound'))
    const { keepAliveMs } = this.#options
    this.#keepAlive.keep(flow, { flowTimerS: secondsOf(headers.get('Flow-Timer')), isOutbound, keepAliveMs })
  }

  #onFailure({ code, detail }: RequestFailure): void {
    this.#flow = undefined
    this.#keepAlive.stop()
    this.#sipStatus = null
    this.#detail = `REGISTER: ${code}: ${detail}`
    this.#handle({ type: 'failed' })
  }

  /** 10.2.4: `expires` of our Contact, else the Expires header, else what was requested. */
  #granted(response: SipResponse, requestedS: number): number {
    const contacts = response.contact === '*' ? [] : response.contact
    const own = this.#contact?.uri
    const mine =
      contacts.find(({ uri }) => own !== undefined && uriEquals(uri, own)) ??
      contacts.find(({ uri }) => isSipUri(uri) && uri.user === this.#options.contactUser) ??
      (contacts.length === 1 ? contacts[0] : undefined)
    const granted =
      secondsOf(mine?.params.get('expires') ?? undefined) ?? secondsOf(response.headers.get('Expires')) ?? requestedS
    return Math.min(granted, MAX_EXPIRES_S)
  }

  /** A stream that the registrar closed no longer carries calls: the binding is made anew over another one. */
  #watchFlow(): void {
    const { time, layer } = this.#ctx
    this.#flowTimer?.cancel()
    const flow = this.#flow
    if (this.#machine.isOver || flow === undefined || flow.transport === 'udp') return
    this.#flowTimer = time.at(time.now() + FLOW_CHECK_MS, () => {
      if (this.#flow?.id !== flow.id) return
      if (layer.sender.isLiveStream(flow)) this.#watchFlow()
      else this.#loseFlow('the connection to the registrar closed')
    })
  }

  /** RFC 5626 section 4.4.1, 4.4.2: the binding is made anew. */
  #loseFlow(why: string): void {
    this.#flow = undefined
    this.#keepAlive.stop()
    this.#detail = why
    this.#handle({ type: 'flow-lost' })
  }

  #end(): void {
    this.#timer?.cancel()
    this.#flowTimer?.cancel()
    this.#keepAlive.stop()
    this.#onOver()
    this.#over.resolve()
  }
}

/** Seconds of Expires, Min-Expires or `expires`; undefined: missing or malformed. */
function secondsOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9]{1,10}$/.test(text.trim()) ? Number(text) : undefined
}
