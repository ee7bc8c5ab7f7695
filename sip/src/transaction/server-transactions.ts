import { MachineDriver, type Time, TransientMap } from '@parley/kernel'
import { type SipRequest, type SipResponse, tagOf, type Via } from '../message/message.ts'
import { createResponse } from '../message/message-factory.ts'
import { serialise } from '../message/serialise.ts'
import type { Flow } from '../transport/transport.ts'
import { type FinishedTransaction, FinishedTransactions } from './finished-transactions.ts'
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
  /** The transaction user repeats its 2xx to an INVITE no more. No other response needs this. */
  finish(): void
}

export interface ServerLimits {
  /** Transactions that have work to do: a response is due, or an ACK. More are refused. */
  readonly total: number
  /** The same, per flow. */
  readonly perFlow: number
  /** Transactions that only absorb or answer retransmissions; the oldest of more are forgotten early. */
  readonly finished: number
}

/** The server transactions of one element (RFC 3261 section 17.2). */
export class ServerTransactions {
  readonly #sender: MessageSender
  readonly #time: Time
  readonly #timers: TimerSettings
  readonly #limits: ServerLimits
  readonly #byKey = new TransientMap<string, Entry>()
  readonly #finished: FinishedTransactions
  /** Number of transactions of requests without To tag per merge key; another such request is a merged request. */
  readonly #merging = new Map<string, number>()
  readonly #perFlow = new Map<string, number>()

  constructor(options: { sender: MessageSender; time: Time; timers: TimerSettings; limits: ServerLimits }) {
    this.#sender = options.sender
    this.#time = options.time
    this.#timers = options.timers
    this.#limits = options.limits
    this.#finished = new FinishedTransactions(options.time, options.limits.finished, ({ mergeKey }) => {
      if (mergeKey !== undefined) decrement(this.#merging, mergeKey)
    })
  }

  get size(): number {
    return this.#byKey.size + this.#finished.size
  }

  /** True if the request matched a transaction, which has handled it (17.2.3); otherwise the TU handles it. */
  absorb(request: SipRequest): boolean {
    if (request.method === 'ACK') {
      const key = serverKey(request, 'INVITE')
      // The ACK to a 2xx is a transaction of its own (13.2.2.4): it belongs to the dialog even where a peer reuses the branch.
      return this.#byKey.get(key)?.acknowledged() ?? this.#finished.get(key)?.absorbsAck ?? false
    }
    const key = serverKey(request)
    const entry = this.#byKey.get(key)
    if (entry !== undefined) {
      entry.retransmitted()
      return true
    }
    const finished = this.#finished.get(key)
    if (finished?.repeated !== undefined) {
      const { to, latin1 } = finished.repeated
      this.#sender.sendBytes(to, Buffer.from(latin1, 'latin1'), IGNORED)
    }
    return finished !== undefined
  }

  /** RFC 3261 section 9.2: notifies the INVITE transaction that `cancel` matches. False if there is none. */
  cancel(cancel: SipRequest, flow: Flow): boolean {
    const key = serverKey(cancel, 'INVITE')
    const invite = this.#byKey.get(key)
    const found = invite ?? this.#finished.get(key)
    if (found === undefined) return false
    const toTag = found.localTag
    this.respondStatelessly(cancel, flow, createResponse(cancel, 200, toTag === undefined ? {} : { toTag }))
    invite?.handlers.onCancel?.(cancel)
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
      finish: finished => {
        if (this.#remove(entry)) this.#finished.add(finished)
      },
      forget: () => {
        if (this.#remove(entry) && entry.mergeKey !== undefined) decrement(this.#merging, entry.mergeKey)
      },
    })
    this.#byKey.set(entry.key, entry)
    this.#perFlow.set(flow.id, onFlow + 1)
    if (entry.mergeKey !== undefined) this.#merging.set(entry.mergeKey, (this.#merging.get(entry.mergeKey) ?? 0) + 1)
    entry.start(this.#time, this.#timers)
    return entry
  }

  respondStatelessly(request: SipRequest, flow: Flow, response: SipResponse): void {
    this.#transmit(request.via[0], flow, response)
  }

  /** The bytes that were sent; undefined: the response cannot be written, because of a field of the request. */
  #transmit(top: Via | undefined, flow: Flow, response: SipResponse): Buffer | undefined {
    if (top === undefined) return undefined
    const bytes = bytesOf(response)
    if (bytes === undefined) return undefined
    const first = responseDestination(top, flow)
    // 18.2.2: on a stream the connection of the request; when that is gone, a new one to the source at the sent-by port.
    if (flow.transport === 'udp') this.#sender.sendBytes(first, bytes, IGNORED)
    else if (!this.#sender.isLiveStream(flow)) this.#sendAfresh(top, flow, bytes)
    else this.#sender.sendBytes(first, bytes, { sent: () => {}, failed: () => this.#sendAfresh(top, flow, bytes) })
    return bytes
  }

  #sendAfresh(top: Via, flow: Flow, bytes: Buffer): void {
    this.#sender.sendBytes({ target: responseTarget(top, flow) }, bytes, IGNORED)
  }

  /** False: it was removed before. */
  #remove(entry: Entry): boolean {
    if (this.#byKey.get(entry.key) !== entry) return false
    this.#byKey.delete(entry.key)
    decrement(this.#perFlow, entry.flow.id)
    return true
  }

  stop(): void {
    for (const entry of [...this.#byKey.values()]) entry.abandon()
    this.#finished.stop()
  }
}

const IGNORED = { sent: () => {}, failed: () => {} }

function bytesOf(response: SipResponse): Buffer | undefined {
  try {
    return serialise(response)
  } catch {
    return undefined
  }
}

interface Layer {
  transmit(response: SipResponse): Buffer | undefined
  finish(finished: FinishedTransaction): void
  forget(): void
}

class Entry implements ServerTransaction {
  readonly request: SipRequest
  readonly flow: Flow
  readonly handlers: ServerHandlers
  readonly key: string
  /** Undefined: the request has a To tag, so it is never compared. */
  readonly mergeKey: string | undefined
  readonly #layer: Layer
  #machine: InviteServerTransaction | NonInviteServerTransaction | undefined
  #driver: { handle(input: InviteServerInput): void; stop(): void } | undefined
  #localTag: string | undefined
  #lastSent: Buffer | undefined
  /** The transaction user sends no further 2xx. */
  #isFinished = false

  constructor(request: SipRequest, flow: Flow, handlers: ServerHandlers, layer: Layer) {
    this.request = request
    this.flow = flow
    this.handlers = handlers
    this.key = serverKey(request)
    this.mergeKey = tagOf(request.to) === undefined ? ownCopy(mergeKey(request)) : undefined
    this.#layer = layer
  }

  start(time: Time, settings: TimerSettings): void {
    const timers = timersFor(settings, this.flow.transport !== 'udp')
    const trying = () => createResponse(this.request, 100)
    const deliver = (output: { readonly type: string; readonly response?: SipResponse }) => {
      if (output.type === 'send-response' && output.response !== undefined)
        this.#lastSent = this.#layer.transmit(output.response)
      else if (output.type === 'terminated') this.abandon()
    }
    if (this.request.method === 'INVITE') {
      const machine = new InviteServerTransaction(time.now(), timers, trying)
      this.#machine = machine
      this.#driver = new MachineDriver(machine, time, deliver)
    } else {
      const machine = new NonInviteServerTransaction(time.now(), timers, trying)
      this.#machine = machine
      this.#driver = new MachineDriver<NonInviteServerInput, NonInviteServerOutput>(machine, time, deliver)
    }
  }

  /** The tag that we put into To: a CANCEL is answered with the same (RFC 3261 section 9.2). */
  get localTag(): string | undefined {
    return this.#localTag
  }

  respond(response: SipResponse): void {
    this.#localTag ??= tagOf(response.to)
    this.#driver?.handle({ type: 'respond', response })
    this.#settle()
  }

  finish(): void {
    this.#isFinished = true
    this.#settle()
  }

  retransmitted(): void {
    this.#driver?.handle({ type: 'request' })
  }

  /** False: it acknowledges a 2xx and belongs to the dialog. */
  acknowledged(): boolean {
    if (this.#machine?.state === 'accepted') return false
    if (this.#machine instanceof InviteServerTransaction) this.#driver?.handle({ type: 'ack' })
    this.#settle()
    return true
  }

  /** Leaves only what the rest of its time needs. */
  #settle(): void {
    const state = this.#machine?.state
    const until = this.#machine?.deadline()
    const isDone = state === 'completed' && !(this.#machine instanceof InviteServerTransaction)
    if (until === undefined || !(isDone || state === 'confirmed' || (state === 'accepted' && this.#isFinished))) return
    const { mergeKey, flow } = this
    const top = this.request.via[0]
    const latin1 = isDone ? this.#lastSent?.toString('latin1') : undefined
    this.#driver?.stop()
    this.#layer.finish({
      key: ownCopy(this.key),
      mergeKey,
      absorbsAck: state === 'confirmed',
      localTag: this.#localTag,
      repeated: latin1 !== undefined && top ? { to: responseDestination(top, flow), latin1 } : undefined,
      until,
    })
  }

  abandon(): void {
    this.#driver?.stop()
    this.#layer.forget()
  }
}

/** V8 cuts strings out of a message without copying them: a part that is stored keeps the whole message in memory. */
function ownCopy(text: string): string {
  return Buffer.from(text).toString()
}

function decrement(counts: Map<string, number>, key: string): void {
  const count = counts.get(key) ?? 0
  if (count <= 1) counts.delete(key)
  else counts.set(key, count - 1)
}
