import { MachineDriver, type Random, randomToken, type Time } from '@parley/kernel'
import type { SipRequest, SipResponse, Via } from '../message/message.ts'
import type { Flow, SipTransport, TransportName } from '../transport/transport.ts'
import { ackToFailure } from './failure-ack.ts'
import { InviteClientTransaction } from './invite-client.ts'
import type { Destination, MessageSender } from './message-sender.ts'
import { NonInviteClientTransaction } from './non-invite-client.ts'
import { type TimerSettings, timersFor } from './timers.ts'
import { clientKey, MAGIC_COOKIE } from './transaction-key.ts'

/** Why a request has no final response. */
export interface RequestFailure {
  readonly cause: 'timeout' | 'transport'
  /** "timeout", or the transport's code: "refused", "tls_identity", … */
  readonly code: string
  readonly detail: string
}

export interface ClientHandlers {
  /** Provisional and final responses; for INVITE every 2xx, retransmitted or of another fork, until Timer M. */
  onResponse(response: SipResponse, flow: Flow): void
  /** At most once, and never after a final response. */
  onFailure(failure: RequestFailure): void
  onSent?(flow: Flow): void
}

export interface ClientTransaction {
  /** With its Via. */
  readonly request: SipRequest
  /** The flow that the request went out on last; undefined until it has. */
  readonly flow: Flow | undefined
  readonly destination: Destination
  /** Forgets the transaction: nothing more is sent or told. */
  abandon(): void
}

type Signal = { readonly type: 'response'; readonly response: SipResponse } | { readonly type: 'transport-error' }

/** The client transactions of one element (RFC 3261 section 17.1). */
export class ClientTransactions {
  readonly #sender: MessageSender
  readonly #transport: SipTransport
  readonly #time: Time
  readonly #random: Random
  readonly #timers: TimerSettings
  readonly #limit: number
  readonly #byKey = new Map<string, Entry>()
  readonly #byFlow = new Map<string, Set<Entry>>()

  constructor(options: {
    sender: MessageSender
    transport: SipTransport
    time: Time
    random: Random
    timers: TimerSettings
    limit: number
  }) {
    this.#sender = options.sender
    this.#transport = options.transport
    this.#time = options.time
    this.#random = options.random
    this.#timers = options.timers
    this.#limit = options.limit
  }

  get size(): number {
    return this.#byKey.size
  }

  /**
   * Starts a transaction for `request`, which has no Via yet. Undefined when the cap on transactions is reached or this
   * element has no address to put into Via.
   */
  start(request: SipRequest, destination: Destination, handlers: ClientHandlers): ClientTransaction | undefined {
    const via = this.via(transportOf(destination))
    return via === undefined ? undefined : this.#start({ ...request, via: [via] }, destination, handlers)
  }

  /** CANCEL goes out with the Via of its INVITE, to the same place (RFC 3261 section 9.1). */
  startCancel(cancel: SipRequest, invite: ClientTransaction, handlers: ClientHandlers): ClientTransaction | undefined {
    const { flow } = invite
    const usable = flow !== undefined && (flow.transport === 'udp' || this.#sender.isLiveStream(flow))
    return this.#start(cancel, usable ? { flow } : invite.destination, handlers)
  }

  /** A Via of our own with a new branch (RFC 3261 sections 8.1.1.7, 18.1.1); `;rport` on UDP (RFC 3581 section 3). */
  via(transport: TransportName): Via | undefined {
    const sentBy = advertisedFor(this.#transport, transport)
    if (sentBy === undefined) return undefined
    const params = new Map<string, string | null>()
    if (transport === 'udp') params.set('rport', null)
    params.set('branch', `${MAGIC_COOKIE}${randomToken(this.#random, 24)}`)
    return { transport: transport.toUpperCase(), host: sentBy.host, port: sentBy.port, params }
  }

  #start(request: SipRequest, destination: Destination, handlers: ClientHandlers): ClientTransaction | undefined {
    if (this.#byKey.size >= this.#limit) return undefined
    const key = `${request.via[0]?.params.get('branch')} ${request.method}`
    const entry = new Entry(key, request, destination, handlers, {
      transmit: message => this.#transmit(entry, message),
      forget: () => this.#forget(entry),
    })
    this.#byKey.set(key, entry)
    entry.start(this.#time, this.#timers)
    return entry
  }

  #transmit(entry: Entry, message: SipRequest): void {
    this.#sender.send(entry.currentDestination(this.#sender), message, {
      sent: flow => this.#bind(entry, flow),
      failed: (code, detail) => {
        // A connection that was being reused had died under us: one fresh one at once, Timer B is not waited out.
        if (code === 'closed' && entry.mayResend()) this.#resend(entry)
        else if (message.method !== 'ACK') entry.transportFailed(code, detail)
      },
    })
  }

  #resend(entry: Entry): void {
    entry.resent = true
    this.#unbind(entry)
    this.#transmit(entry, entry.request)
  }

  #bind(entry: Entry, flow: Flow): void {
    if (this.#byKey.get(entry.key) !== entry) return
    if (entry.flow?.id !== flow.id) {
      this.#unbind(entry)
      entry.flow = flow
      const others = this.#byFlow.get(flow.id)
      if (others === undefined) this.#byFlow.set(flow.id, new Set([entry]))
      else others.add(entry)
    }
    entry.handlers.onSent?.(flow)
  }

  #unbind(entry: Entry): void {
    const { flow } = entry
    if (flow === undefined) return
    entry.flow = undefined
    const entries = this.#byFlow.get(flow.id)
    entries?.delete(entry)
    if (entries?.size === 0) this.#byFlow.delete(flow.id)
  }

  #forget(entry: Entry): void {
    if (this.#byKey.get(entry.key) === entry) this.#byKey.delete(entry.key)
    this.#unbind(entry)
  }

  /** False when it belongs to no transaction of ours: then it is dropped. */
  receive(response: SipResponse, flow: Flow): boolean {
    // 8.1.3.3: more than one Via in a response means that it was misrouted.
    if (response.via.length !== 1) return false
    const key = clientKey(response)
    const entry = key === undefined ? undefined : this.#byKey.get(key)
    if (entry === undefined) return false
    // 18.1.2: the sent-by has to be ours.
    const [ours, theirs] = [entry.request.via[0], response.via[0]]
    if (ours?.host.toLowerCase() !== theirs?.host.toLowerCase() || ours?.port !== theirs?.port) return false
    // 17.1.3 does not ask for it, but a response that answers another dialog or number is garbled or forged.
    if (response.callId !== entry.request.callId || response.cseq.sequence !== entry.request.cseq.sequence) return false
    entry.receive(response, flow)
    return true
  }

  /** The connection is gone: what still has no response at all goes out again at once, on a new one. */
  flowClosed(flow: Flow): void {
    for (const entry of [...(this.#byFlow.get(flow.id) ?? [])]) {
      if (entry.answered) this.#unbind(entry)
      else if (entry.mayResend()) this.#resend(entry)
      else {
        this.#unbind(entry)
        entry.transportFailed('closed', 'the connection closed before any response')
      }
    }
  }

  stop(): void {
    for (const entry of [...this.#byKey.values()]) entry.abandon()
  }
}

class Entry implements ClientTransaction {
  readonly key: string
  readonly request: SipRequest
  readonly destination: Destination
  readonly handlers: ClientHandlers
  readonly #layer: { transmit(message: SipRequest): void; forget(): void }
  flow: Flow | undefined
  /** Some response has come. */
  answered = false
  /** The one resend on a new connection has been used up. */
  resent = false
  #driver: { handle(input: Signal): void; stop(): void } | undefined
  #lastFlow: Flow | undefined
  #failure: RequestFailure | undefined
  #over = false

  constructor(
    key: string,
    request: SipRequest,
    destination: Destination,
    handlers: ClientHandlers,
    layer: { transmit(message: SipRequest): void; forget(): void },
  ) {
    this.key = key
    this.request = request
    this.destination = destination
    this.handlers = handlers
    this.#layer = layer
  }

  start(time: Time, settings: TimerSettings): void {
    const timers = timersFor(settings, transportOf(this.destination) !== 'udp')
    if (this.request.method === 'INVITE') {
      const machine = new InviteClientTransaction(time.now(), timers)
      this.#driver = new MachineDriver(machine, time, output => {
        if (output.type === 'send-ack') this.#layer.transmit(ackToFailure(this.request, output.response))
        else this.#deliver(output)
      })
    } else {
      this.#driver = new MachineDriver(new NonInviteClientTransaction(time.now(), timers), time, output =>
        this.#deliver(output),
      )
    }
  }

  #deliver(
    output:
      | { readonly type: 'send-request' | 'timeout' | 'transport-error' | 'terminated' }
      | { readonly type: 'response'; readonly response: SipResponse },
  ): void {
    if (this.#over) return
    switch (output.type) {
      case 'send-request':
        this.#layer.transmit(this.request)
        return
      case 'response':
        if (this.#lastFlow !== undefined) this.handlers.onResponse(output.response, this.#lastFlow)
        return
      case 'timeout':
        this.#failure = { cause: 'timeout', code: 'timeout', detail: `no response to ${this.request.method}` }
        return
      case 'transport-error':
        return
      case 'terminated':
        // Told once the transaction is out of the maps, so that the next attempt starts from a clean book.
        this.abandon()
        if (this.#failure !== undefined) this.handlers.onFailure(this.#failure)
        return
    }
  }

  receive(response: SipResponse, flow: Flow): void {
    this.answered = true
    this.#lastFlow = flow
    this.#driver?.handle({ type: 'response', response })
  }

  transportFailed(code: string, detail: string): void {
    this.#failure ??= { cause: 'transport', code, detail }
    this.#driver?.handle({ type: 'transport-error' })
  }

  mayResend(): boolean {
    return !this.#over && !this.resent && !this.answered && 'target' in this.destination
  }

  /** Retransmissions and ACK follow the request's flow as long as there is one. */
  currentDestination(sender: MessageSender): Destination {
    const { flow } = this
    if (flow === undefined) return this.destination
    return flow.transport === 'udp' || sender.isLiveStream(flow) ? { flow } : this.destination
  }

  abandon(): void {
    if (this.#over) return
    this.#over = true
    this.#driver?.stop()
    this.#layer.forget()
  }
}

export function transportOf(destination: Destination): TransportName {
  return 'flow' in destination ? destination.flow.transport : destination.target.transport
}

/** Our host and port for Via and Contact; an element that only dials on a stream transport names another listener. */
export function advertisedFor(
  transport: SipTransport,
  name: TransportName,
): { readonly host: string; readonly port: number } | undefined {
  return (
    transport.advertised(name) ??
    transport.advertised('tls') ??
    transport.advertised('tcp') ??
    transport.advertised('udp')
  )
}
