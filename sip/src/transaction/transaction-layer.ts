import type { Random, Time } from '@parley/kernel'
import type { SipRequest, SipResponse } from '../message/message.ts'
import type { Flow, SipTransport, TransportInput } from '../transport/transport.ts'
import { ClientTransactions } from './client-transactions.ts'
import { MessageSender } from './message-sender.ts'
import { type ServerLimits, ServerTransactions } from './server-transactions.ts'
import type { TimerSettings } from './timers.ts'
import { markReceived } from './top-via.ts'

/** The transaction user (RFC 3261 section 5): receives the messages that match no transaction. */
interface TransactionUser {
  /** A request that matches no transaction. Never an ACK. */
  onRequest(request: SipRequest, flow: Flow): void
  /** An ACK to a 2xx, or one that matches nothing. */
  onAck(request: SipRequest, flow: Flow): void
}

interface TransactionLayerOptions {
  readonly time: Time
  readonly random: Random
  readonly transport: SipTransport
  readonly timers: TimerSettings
  readonly clientLimit: number
  readonly serverLimits: ServerLimits
  readonly user: TransactionUser
}

/** RFC 3261 section 17: matches messages to transactions; hands the rest to the transaction user. */
export class TransactionLayer {
  readonly sender: MessageSender
  readonly clients: ClientTransactions
  readonly servers: ServerTransactions
  readonly #user: TransactionUser

  constructor(options: TransactionLayerOptions) {
    const { time, random, transport, timers } = options
    this.#user = options.user
    this.sender = new MessageSender(transport, time)
    this.clients = new ClientTransactions({
      sender: this.sender,
      transport,
      time,
      random,
      timers,
      limit: options.clientLimit,
    })
    this.servers = new ServerTransactions({ sender: this.sender, time, timers, limits: options.serverLimits })
  }

  /** Handles every transport event except messages that did not parse. */
  handle(input: TransportInput): void {
    this.sender.handle(input)
    if (input.type === 'flow-closed') {
      this.clients.flowClosed(input.flow)
      return
    }
    if (input.type !== 'message' || !input.result.ok) return
    const { message } = input.result
    if (message.kind === 'response') this.#receiveResponse(message, input.flow)
    else this.#receiveRequest(message, input.flow)
  }

  #receiveResponse(response: SipResponse, flow: Flow): void {
    // 17.1.3, 18.1.2: a response that matches nothing is dropped; a stray 2xx has its Accepted state for 64*T1 (RFC 6026).
    this.clients.receive(response, flow)
  }

  #receiveRequest(arrived: SipRequest, flow: Flow): void {
    const request = markReceived(arrived, flow)
    if (this.servers.absorb(request)) return
    if (request.method === 'ACK') this.#user.onAck(request, flow)
    else if (request.method !== 'CANCEL' || !this.servers.cancel(request, flow)) this.#user.onRequest(request, flow)
  }

  get size(): number {
    return this.clients.size + this.servers.size
  }

  stop(): void {
    this.clients.stop()
    this.servers.stop()
    this.sender.stop()
  }
}
