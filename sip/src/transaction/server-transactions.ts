import { MachineDriver, type Time } from '@parley/kernel'
import { type SipRequest, type SipResponse, tagOf, type Via } from '../message/message.ts'
import { createResponse } from '../message/message-factory.ts'
import type { Flow } from '../transport/transport.ts'
import { type InviteServerInput, InviteServerTransaction } from './invite-server.ts'
import type { MessageSender } from './message-sender.ts'
import {
  type NonInviteServerInput,
  type NonInviteServerOutput,
  NonInviteServerTransaction,
} from './non-invite-server.ts'
import { type TimerSettings, timersFor } from './timers.ts'
import { responseDestination, responseTarget } from './top-via.ts'
import { mergeKey, serverKey } from './transaction-key.ts'

interface ServerHandlers {
  /** A CANCEL for this INVITE came and was answered 200; the INVITE still wants its final response. */
  onCancel?(cancel: SipRequest): void
}

export interface ServerTransaction {
  /** With `received` and `rport` filled in. */
  readonly request: SipRequest
  readonly flow: Flow
  respond(response: SipResponse): void
}

type Signal = { readonly type: 'request' } | { readonly type: 'respond'; readonly response: SipResponse }

export interface ServerLimits {
  readonly total: number
  readonly perFlow: number
}

/** The server transactions of one element (RFC 3261 section 17.2). */
export class ServerTransactions {
  readonly #sender: MessageSender
  readonly #time: Time
  readonly #timers: TimerSettings
  readonly #limits: ServerLimits
  readonly #byKey = new Map<string, Entry>()
  /** Number of transactions per merge key; if there is one, another request without To tag is a merged request. */
  readonly #merging = new Map<string, number>()
  readonly #perFlow = new Map<string, number>()

  constructor(options: { sender: MessageSender; time: Time; timers: TimerSettings; limits: ServerLimits }) {
    this.#sender = options.sender
    this.#time = options.time
    this.#timers = options.timers
    this.#limits = options.limits
  }

  get size(): number {
    return this.#byKey.size
  }

  /** True if the request matched a transaction, which has handled it (17.2.3); otherwise the TU handles it. */
  absorb(request: SipRequest): boolean {
    if (request.method === 'ACK') {
      const invite = this.#byKey.get(serverKey(request, 'INVITE'))
      // The ACK to a 2xx is a transaction of its own (13.2.2.4): it belongs to the dialog even where a peer reuses the branch.
      return invite?.acknowledged() ?? false
    }
    const entry = this.#byKey.get(serverKey(request))
    entry?.retransmitted()
    return entry !== undefined
  }

  /** RFC 3261 section 9.2: notifies the INVITE transaction that `cancel` matches. False if there is none. */
  cancel(cancel: SipRequest, flow: Flow): boolean {
    const invite = this.#byKey.get(serverKey(cancel, 'INVITE'))
    if (invite === undefined) return false
    const toTag = invite.localTag
    this.respondStatelessly(cancel, flow, createResponse(cancel, 200, toTag === undefined ? {} : { toTag }))
    invite.handlers.onCancel?.(cancel)
    return true
  }

  /** RFC 3261 section 8.2.2.2: whether the same request already arrived over another path (merged request). */
  isMerged(request: SipRequest): boolean {
    return tagOf(request.to) === undefined && this.#merging.has(mergeKey(request))
  }

  /** Creates a transaction for `request`. Undefined if a limit is reached. */
  start(request: SipRequest, flow: Flow, handlers: ServerHandlers): ServerTransaction | undefined {
    const onFlow = this.#perFlow.get(flow.id) ?? 0
    if (this.#byKey.size >= this.#limits.total || onFlow >= this.#limits.perFlow) return undefined
    const entry = new Entry(request, flow, handlers, {
      transmit: response => this.#transmit(request.via[0], flow, response),
      forget: () => this.#forget(entry),
    })
    this.#byKey.set(entry.key, entry)
    this.#perFlow.set(flow.id, onFlow + 1)
    this.#merging.set(entry.mergeKey, (this.#merging.get(entry.mergeKey) ?? 0) + 1)
    entry.start(this.#time, this.#timers)
    return entry
  }

  respondStatelessly(request: SipRequest, flow: Flow, response: SipResponse): void {
    this.#transmit(request.via[0], flow, response)
  }

  #transmit(top: Via | undefined, flow: Flow, response: SipResponse): void {
    if (top === undefined) return
    const nothing = () => {}
    const first = responseDestination(top, flow)
    const fresh = { target: responseTarget(top, flow) }
    // 18.2.2: on a stream the connection of the request; when that is gone, a new one to the source at the sent-by port.
    if (flow.transport !== 'udp' && !this.#sender.isLiveStream(flow)) {
      this.#sender.send(fresh, response, { sent: nothing, failed: nothing })
      return
    }
    this.#sender.send(first, response, {
      sent: nothing,
      failed: () => {
        if (flow.transport !== 'udp') this.#sender.send(fresh, response, { sent: nothing, failed: nothing })
      },
    })
  }

  #forget(entry: Entry): void {
    if (this.#byKey.get(entry.key) !== entry) return
    this.#byKey.delete(entry.key)
    decrement(this.#perFlow, entry.flow.id)
    decrement(this.#merging, entry.mergeKey)
  }

  stop(): void {
    for (const entry of [...this.#byKey.values()]) entry.abandon()
  }
}

class Entry implements ServerTransaction {
  readonly request: SipRequest
  readonly flow: Flow
  readonly handlers: ServerHandlers
  readonly key: string
  readonly mergeKey: string
  readonly #layer: { transmit(response: SipResponse): void; forget(): void }
  #driver: { handle(input: Signal): void; stop(): void } | undefined
  #invite: { machine: InviteServerTransaction; handle(input: InviteServerInput): void } | undefined
  #localTag: string | undefined

  constructor(
    request: SipRequest,
    flow: Flow,
    handlers: ServerHandlers,
    layer: { transmit(response: SipResponse): void; forget(): void },
  ) {
    this.request = request
    this.flow = flow
    this.handlers = handlers
    this.key = serverKey(request)
    this.mergeKey = mergeKey(request)
    this.#layer = layer
  }

  start(time: Time, settings: TimerSettings): void {
    const timers = timersFor(settings, this.flow.transport !== 'udp')
    const trying = createResponse(this.request, 100)
    const deliver = (output: { readonly type: string; readonly response?: SipResponse }) => {
      if (output.type === 'send-response' && output.response !== undefined) this.#layer.transmit(output.response)
      else if (output.type === 'terminated') this.abandon()
    }
    if (this.request.method === 'INVITE') {
      const machine = new InviteServerTransaction(timers, trying)
      const driver = new MachineDriver(machine, time, deliver)
      this.#driver = driver
      this.#invite = { machine, handle: input => driver.handle(input) }
      return
    }
    const machine = new NonInviteServerTransaction(time.now(), timers, trying)
    this.#driver = new MachineDriver<NonInviteServerInput, NonInviteServerOutput>(machine, time, deliver)
  }

  /** The tag that we put into To: a CANCEL is answered with the same (RFC 3261 section 9.2). */
  get localTag(): string | undefined {
    return this.#localTag
  }

  respond(response: SipResponse): void {
    this.#localTag ??= tagOf(response.to)
    this.#driver?.handle({ type: 'respond', response })
  }

  retransmitted(): void {
    this.#driver?.handle({ type: 'request' })
  }

  /** False: it acknowledges a 2xx and belongs to the dialog. */
  acknowledged(): boolean {
    if (this.#invite?.machine.state === 'accepted') return false
    this.#invite?.handle({ type: 'ack' })
    return true
  }

  abandon(): void {
    this.#driver?.stop()
    this.#layer.forget()
  }
}

function decrement(counts: Map<string, number>, key: string): void {
  const count = counts.get(key) ?? 0
  if (count <= 1) counts.delete(key)
  else counts.set(key, count - 1)
}
