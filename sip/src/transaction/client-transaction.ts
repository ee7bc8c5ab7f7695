import { MachineDriver, type Ms, type Time, type Timer } from '@parley/kernel'
import type { SipRequest, SipResponse } from '../message/message.ts'
import type { Flow } from '../transport/transport.ts'
import { ackToFailure } from './failure-ack.ts'
import { InviteClientTransaction } from './invite-client.ts'
import { type Destination, type MessageSender, transportOf } from './message-sender.ts'
import { NonInviteClientTransaction } from './non-invite-client.ts'
import { type TimerSettings, timersFor } from './timers.ts'

/** Why a request has no final response. */
export interface RequestFailure {
  readonly cause: 'timeout' | 'transport'
  /** "timeout", or the transport's code: "refused", "tls_identity", … */
  readonly code: string
  readonly detail: string
  /** The transport accepted the request, so the peer may have received it. */
  readonly handedOver?: boolean
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
  /** Discards the transaction: nothing more is sent and no handler is called. */
  abandon(): void
  /** Abandons the transaction at `deadline` unless a final response has arrived by then. */
  abandonAt(deadline: Ms): void
}

type Signal = { readonly type: 'response'; readonly response: SipResponse } | { readonly type: 'transport-error' }

/** One client transaction: its state machine, its destination and its handlers. */
export class ClientTransactionEntry implements ClientTransaction {
  readonly key: string
  readonly request: SipRequest
  readonly destination: Destination
  readonly handlers: ClientHandlers
  readonly #layer: { transmit(message: SipRequest): void; forget(): void }
  flow: Flow | undefined
  /** Some response has come. */
  answered = false
  /** The single resend on a new connection has been used. */
  resent = false
  /** The transport has accepted the request. */
  handedOver = false
  readonly #once: boolean
  #driver: { handle(input: Signal): void; stop(): void } | undefined
  #time: Time | undefined
  #limit: Timer | undefined
  #lastFlow: Flow | undefined
  #failure: RequestFailure | undefined
  #over = false

  constructor(
    spec: { key: string; request: SipRequest; destination: Destination; handlers: ClientHandlers; once: boolean },
    layer: { transmit(message: SipRequest): void; forget(): void },
  ) {
    this.key = spec.key
    this.request = spec.request
    this.destination = spec.destination
    this.handlers = spec.handlers
    this.#once = spec.once
    this.#layer = layer
  }

  start(time: Time, settings: TimerSettings): void {
    this.#time = time
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
        // The handler runs after the transaction has left the maps, so that a new attempt finds no leftovers.
        this.abandon()
        if (this.#failure !== undefined) this.handlers.onFailure({ ...this.#failure, handedOver: this.handedOver })
        return
    }
  }

  receive(response: SipResponse, flow: Flow): void {
    this.answered = true
    this.#lastFlow = flow
    if (response.status >= 200) this.#limit?.cancel()
    this.#driver?.handle({ type: 'response', response })
  }

  transportFailed(code: string, detail: string): void {
    this.#failure ??= { cause: 'transport', code, detail }
    this.#driver?.handle({ type: 'transport-error' })
  }

  mayResend(): boolean {
    return (
      !this.#over && !this.resent && !this.answered && 'target' in this.destination && !(this.#once && this.handedOver)
    )
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
    this.#limit?.cancel()
    this.#driver?.stop()
    this.#layer.forget()
  }

  abandonAt(deadline: Ms): void {
    if (!this.#over) this.#limit = this.#time?.at(deadline, () => this.abandon())
  }
}
