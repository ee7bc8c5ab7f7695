import { type Random, randomToken, type Time, TransientMap } from '@parley/kernel'
import type { SipRequest, SipResponse, Via } from '../message/message.ts'
import type { Flow, SipTransport, TransportName } from '../transport/transport.ts'
import { type ClientHandlers, type ClientTransaction, ClientTransactionEntry } from './client-transaction.ts'
import { type Destination, type MessageSender, transportOf } from './message-sender.ts'
import type { TimerSettings } from './timers.ts'
import { clientKey, MAGIC_COOKIE } from './transaction-key.ts'

/** The client transactions of one element (RFC 3261 section 17.1). */
export class ClientTransactions {
  readonly #sender: MessageSender
  readonly #transport: SipTransport
  readonly #time: Time
  readonly #random: Random
  readonly #timers: TimerSettings
  readonly #limit: number
  readonly #byKey = new TransientMap<string, ClientTransactionEntry>()
  readonly #byFlow = new Map<string, Set<ClientTransactionEntry>>()
  #stopped = false

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
   * element has no address to put into Via. `branch`: that of an earlier transaction whose connection failed; the peer may
   * have received the request and then recognises the repetition. `once`: do not send it again on another connection if
   * the first may have carried it.
   */
  start(
    request: SipRequest,
    destination: Destination,
    handlers: ClientHandlers,
    options: { readonly branch?: string; readonly once?: boolean } = {},
  ): ClientTransaction | undefined {
    const via = this.via(transportOf(destination), options.branch)
    if (via === undefined) return undefined
    return this.#start({ ...request, via: [via] }, destination, handlers, options.once)
  }

  /** CANCEL goes out with the Via of its INVITE, to the same place (RFC 3261 section 9.1). */
  startCancel(
    cancel: SipRequest,
    invite: Pick<ClientTransaction, 'flow' | 'destination'>,
    handlers: ClientHandlers,
  ): ClientTransaction | undefined {
    const { flow } = invite
    const usable = flow !== undefined && (flow.transport === 'udp' || this.#sender.isLiveStream(flow))
    return this.#start(cancel, usable ? { flow } : invite.destination, handlers)
  }

  /** A Via of our own with a new branch (RFC 3261 sections 8.1.1.7, 18.1.1); `;rport` on UDP (RFC 3581 section 3). */
  via(transport: TransportName, branch?: string): Via | undefined {
    const sentBy = advertisedFor(this.#transport, transport)
    if (sentBy === undefined) return undefined
    const params = new Map<string, string | null>()
    if (transport === 'udp') params.set('rport', null)
    params.set('branch', branch ?? `${MAGIC_COOKIE}${randomToken(this.#random, 24)}`)
    return { transport: transport.toUpperCase(), host: sentBy.host, port: sentBy.port, params }
  }

  #start(
    request: SipRequest,
    destination: Destination,
    handlers: ClientHandlers,
    once = false,
  ): ClientTransaction | undefined {
    if (this.#stopped || this.#byKey.size >= this.#limit) return undefined
    const key = `${request.via[0]?.params.get('branch')} ${request.method}`
    const entry = new ClientTransactionEntry(
      { key, request, destination, handlers, once },
      {
        transmit: message => this.#transmit(entry, message),
        forget: () => this.#forget(entry),
      },
    )
    this.#byKey.set(key, entry)
    entry.start(this.#time, this.#timers)
    return entry
  }

  #transmit(entry: ClientTransactionEntry, message: SipRequest): void {
    this.#sender.send(entry.currentDestination(this.#sender), message, {
      sent: flow => this.#bind(entry, flow),
      failed: (code, detail) => {
        // The reused connection was already dead: dial a new one at once instead of waiting for Timer B.
        if (code === 'closed' && entry.mayResend()) this.#resend(entry)
        else if (message.method !== 'ACK') entry.transportFailed(code, detail)
      },
    })
  }

  #resend(entry: ClientTransactionEntry): void {
    entry.resent = true
    this.#unbind(entry)
    this.#transmit(entry, entry.request)
  }

  #bind(entry: ClientTransactionEntry, flow: Flow): void {
    if (this.#byKey.get(entry.key) !== entry) return
    entry.handedOver = true
    if (entry.flow?.id !== flow.id) {
      this.#unbind(entry)
      entry.flow = flow
      const others = this.#byFlow.get(flow.id)
      if (others === undefined) this.#byFlow.set(flow.id, new Set([entry]))
      else others.add(entry)
    }
    entry.handlers.onSent?.(flow)
  }

  #unbind(entry: ClientTransactionEntry): void {
    const { flow } = entry
    if (flow === undefined) return
    entry.flow = undefined
    const entries = this.#byFlow.get(flow.id)
    entries?.delete(entry)
    if (entries?.size === 0) this.#byFlow.delete(flow.id)
  }

  #forget(entry: ClientTransactionEntry): void {
    if (this.#byKey.get(entry.key) === entry) this.#byKey.delete(entry.key)
    this.#unbind(entry)
  }

  /** False if the response matches no transaction; the caller then drops it. */
  receive(response: SipResponse, flow: Flow): boolean {
    // 8.1.3.3: more than one Via in a response means that it was misrouted.
    if (response.via.length !== 1) return false
    const key = clientKey(response)
    const entry = key === undefined ? undefined : this.#byKey.get(key)
    if (entry === undefined) return false
    // 18.1.2: the sent-by has to be ours.
    const [ours, theirs] = [entry.request.via[0], response.via[0]]
    if (ours?.host.toLowerCase() !== theirs?.host.toLowerCase() || ours?.port !== theirs?.port) return false
    // Beyond 17.1.3: a response with another dialog or CSeq number is garbled or forged.
    if (response.callId !== entry.request.callId || response.cseq.sequence !== entry.request.cseq.sequence) return false
    entry.receive(response, flow)
    return true
  }

  /** The connection closed: requests without any response are sent again at once on a new connection. */
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

  /** Every pending transaction fails with "shutdown"; no new one is started. */
  stop(): void {
    this.#stopped = true
    for (const entry of [...this.#byKey.values()]) {
      entry.transportFailed('shutdown', 'the user agent was closed')
      entry.abandon()
    }
  }
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
