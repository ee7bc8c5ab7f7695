import type { DialogSnapshot } from '../dialog/dialog-snapshot.ts'
import { SipStateError } from '../errors.ts'
import type { NameAddr, SipRequest, Uri } from '../message/message.ts'
import { parseNameAddr } from '../message/name-addr.ts'
import { serialiseUri } from '../message/uri.ts'
import type { ServerTransaction } from '../transaction/server-transactions.ts'
import type { Flow } from '../transport/transport.ts'
import { type ByeOutcome, sendBye } from './bye.ts'
import { reasonText } from './cancel.ts'
import { ConnectionRecovery } from './connection-recovery.ts'
import { IncomingOffers } from './incoming-offers.ts'
import { InfoExchange } from './info.ts'
import { offerRefusal } from './offer-refusal.ts'
import { OutgoingRefer } from './refer.ts'
import { OutgoingReinvite } from './reinvite.ts'
import { RepeatedRequests } from './repeated-requests.ts'
import type {
  AnswerOptions,
  Body,
  Direction,
  HeaderPairs,
  HeaderReason,
  InviteSession,
  OutboundCall,
  ReferOptions,
  SessionEnd,
  SessionEvent,
} from './session.ts'
import type { SessionCore } from './session-core.ts'
import { SessionTimer } from './session-timer.ts'
import { respond } from './ua-context.ts'
import { UacInvite } from './uac-invite.ts'
import { UasInvite } from './uas-invite.ts'
import { OutgoingRefresh } from './update.ts'

/** Refused REFERs of one call that are reported; a peer may send any number. */
const MAX_REPORTED_REFERS = 8

type Ending = Pick<SessionEnd, 'cause' | 'by' | 'detail'>

/** One INVITE session of either direction. It combines parts that each handle one kind of exchange. */
export class DialogSession implements InviteSession {
  readonly core: SessionCore
  #uac: UacInvite | undefined
  #uas: UasInvite | undefined
  readonly offers: IncomingOffers
  readonly #reoffers: OutgoingReinvite
  readonly infos: InfoExchange
  readonly refers: OutgoingRefer
  readonly repeated: RepeatedRequests
  readonly #connection: ConnectionRecovery
  readonly #timer: SessionTimer
  #stopBye: (() => void) | undefined
  #refusedRefers = 0

  constructor(core: SessionCore) {
    this.core = core
    const gone = (cause: 'timeout' | 'protocol', detail: string) => this.#terminate({ cause, by: 'remote', detail })
    const timer: SessionTimer = new SessionTimer(core, {
      refresh: () => refreshes.start(),
      expired: () => gone('timeout', 'the session was not refreshed in time'),
    })
    const refreshes: OutgoingRefresh = new OutgoingRefresh(core, timer, {
      isReofferUnderWay: () => !this.#reoffers.isIdle,
      onGone: gone,
    })
    this.#timer = timer
    this.#reoffers = new OutgoingReinvite(core, timer, () => this.offers.isUnderWay || this.#initialUnderWay(), gone)
    this.offers = new IncomingOffers(core, timer, {
      isOurs: () => this.#reoffers.isUnderWay || this.#initialUnderWay(),
      onSettled: () => this.#reoffers.resume(),
      onUnacknowledged: () => gone('timeout', 'no ACK to the answer of a re-INVITE'),
    })
    this.infos = new InfoExchange(core, status => gone('protocol', `INFO answered ${status}`))
    this.refers = new OutgoingRefer(core, detail => gone('protocol', detail))
    this.repeated = new RepeatedRequests(core.ctx)
    this.#connection = new ConnectionRecovery(core, gone)
  }

  startOutbound(call: OutboundCall): void {
    if (call.sessionTimer !== undefined) this.#timer.configure(call.sessionTimer)
    this.#uac = new UacInvite(this.core, this.#timer, call, () => this.#reoffers.resume())
    this.#uac.start()
  }

  startInbound(transaction: ServerTransaction): void {
    this.#uas = new UasInvite(this.core, this.#timer, transaction, () =>
      this.#terminate({ cause: 'timeout', by: 'remote', detail: 'no ACK to the 200' }),
    )
  }

  #initialUnderWay(): boolean {
    return (this.#uas?.awaitsAck ?? false) || (this.#uac?.owesAck ?? false)
  }

  /** Inbound, before the 2xx: the peer's offer was answered reliably. */
  get offerAnswered(): boolean {
    return this.#uas?.offerAnswered ?? false
  }

  receivePrack(transaction: ServerTransaction): void {
    if (this.#uas !== undefined) this.#uas.receivePrack(transaction)
    else transaction.respond(respond(this.core.ctx, transaction.request, 481))
  }

  /** An early dialog of an outbound call. */
  earlyDialog(id: string): ReturnType<UacInvite['earlyDialog']> {
    return this.#uac?.earlyDialog(id)
  }

  get direction(): Direction {
    return this.core.direction
  }

  get callId(): string {
    return this.core.callId
  }

  get state(): InviteSession['state'] {
    return this.core.state
  }

  get invite(): SipRequest {
    return this.core.invite
  }

  get flow(): Flow | undefined {
    return this.core.flow
  }

  get dialog(): DialogSnapshot | undefined {
    return this.core.dialog?.snapshot()
  }

  onEvent(listener: (event: SessionEvent) => void): void {
    this.core.listen(listener)
  }

  progress(status: number, body?: Body): void {
    this.#inbound('progress').progress(status, body)
  }

  answer(body: Body, options: AnswerOptions = {}): void {
    const uas = this.#inbound('answer')
    if (options.sessionTimer !== undefined) this.#timer.configure(options.sessionTimer)
    uas.answer(body)
  }

  reject(
    status: number,
    options?: { readonly reason?: string; readonly retryAfterS?: number; readonly headers?: HeaderPairs },
  ): void {
    this.#inbound('reject').reject(status, options)
  }

  acknowledge(body: Body): void {
    if (this.core.state !== 'confirmed') throw new SipStateError('acknowledge', this.core.state)
    if (this.#uac?.owesAnswer) this.#uac.acknowledge(body)
    else this.#reoffers.acknowledge(body)
    this.#reoffers.resume()
  }

  hangUp(options: { readonly reason?: HeaderReason } = {}): void {
    switch (this.core.state) {
      case 'calling':
        this.#uac?.hangUp(options.reason)
        return
      case 'early':
        if (this.#uac !== undefined) this.#uac.hangUp(options.reason)
        else this.#uas?.reject(480)
        return
      case 'incoming':
        this.#uas?.reject(480)
        return
      case 'confirmed':
        this.#terminate({ cause: 'bye', by: 'local', detail: 'hung up' }, options.reason)
        return
      case 'terminating':
      case 'terminated':
        return
    }
  }

  reoffer(body: Body | undefined): void {
    this.#confirmed('reoffer')
    if (this.offers.isPending) throw new SipStateError('reoffer during an offer', this.core.state)
    this.#reoffers.start(body)
  }

  acceptOffer(body: Body): void {
    const prack = this.#uas?.prackOffer
    if (prack !== undefined) return prack.accept(body)
    this.#confirmed('acceptOffer')
    this.offers.accept(body)
  }

  rejectOffer(status: number, warning?: string): void {
    const prack = this.#uas?.prackOffer
    if (prack !== undefined) return prack.reject(status, offerRefusal(this.core, status, warning))
    this.#confirmed('rejectOffer')
    this.offers.reject(status, warning)
  }

  info(body: Body): void {
    this.#confirmed('info')
    this.infos.send(body)
  }

  refer(target: NameAddr | Uri, options: ReferOptions = {}): void {
    this.#confirmed('refer')
    this.refers.send(target, options)
  }

  #inbound(command: string): UasInvite {
    if (this.#uas === undefined) throw new SipStateError(command, `${this.core.direction} and ${this.core.state}`)
    return this.#uas
  }

  #confirmed(command: string): void {
    if (this.core.state !== 'confirmed') throw new SipStateError(command, this.core.state)
  }

  /** Ends an established session by a BYE of ours (RFC 3261 section 15.1.1). */
  #terminate(ending: Ending, reason?: HeaderReason): void {
    const { dialog } = this.core
    if (this.core.state !== 'confirmed' || dialog === undefined) return
    this.core.state = 'terminating'
    this.#stopExchanges()
    const bye = () => {
      if (this.core.ended) return
      const { ctx, identity, flow } = this.core
      this.#stopBye = sendBye(ctx, { dialog, identity, flow, reason }, outcome => this.#ended(ending, outcome))
    }
    if (this.#uac !== undefined) this.#uac.whenAcknowledged(bye)
    else this.#uas?.whenSettled(bye)
  }

  #ended(ending: Ending, outcome: ByeOutcome): void {
    this.#stop()
    this.core.end({
      ...ending,
      status: 200,
      reason: 'OK',
      confirmed: outcome.confirmed,
      byeStatus: outcome.status,
      detail: `${ending.detail}; ${outcome.detail}`,
      retryAfterS: undefined,
    })
  }

  #stop(): void {
    this.#stopExchanges()
    this.#uac?.settle()
    this.#stopBye?.()
    this.#uas?.stop()
  }

  #stopExchanges(): void {
    this.#reoffers.stop()
    this.offers.stop()
    this.refers.stop()
    this.#connection.stop()
    this.#timer.stop()
  }

  /** Ends the session because the user agent closes: nothing more is sent. */
  abandon(): void {
    if (this.core.ended) return
    const { state, dialog } = this.core
    const stood = state === 'confirmed' || (state === 'terminating' && dialog !== undefined)
    this.#uac?.abandon()
    this.#stop()
    this.core.end({
      cause: 'timeout',
      by: 'local',
      status: stood ? 200 : 487,
      reason: 'Closed',
      confirmed: false,
      detail: 'the user agent closed before the peer confirmed the end',
      retryAfterS: undefined,
    })
  }

  /** The session's connection, or another one, closed. The ACK of a call that is being established dials by itself. */
  onFlowClosed(flow: Flow, code: string): void {
    if (!this.#initialUnderWay()) this.#connection.onFlowClosed(flow, code)
  }

  /** A REFER of the peer: transfers are decided by our own policy, never by the far end. */
  refuseRefer(transaction: ServerTransaction): void {
    const { request } = transaction
    transaction.respond(respond(this.core.ctx, request, 403))
    if (this.#refusedRefers++ >= MAX_REPORTED_REFERS) return
    const uri = parseNameAddr(request.headers.get('Refer-To') ?? '')?.uri
    this.core.emit({ type: 'refer-refused', status: 403, target: uri && serialiseUri(uri) })
  }

  /** The ACK to a 2xx of ours. */
  receiveAck(ack: SipRequest, flow: Flow): void {
    const { flow: before } = this.core
    this.core.flow = flow
    if (this.#uas?.acknowledge(ack) || this.offers.reinvites.acknowledge(ack)) this.#reoffers.resume()
    // It belongs to no 2xx of ours.
    else this.core.flow = before
  }

  /** The INVITE's CANCEL, answered 200 already (RFC 3261 section 9.2). */
  receiveCancel(cancel: SipRequest): void {
    this.#uas?.withdrawn(`CANCEL${reasonText(cancel)}`)
  }

  /** A BYE of the peer, answered 200 already (RFC 3261 section 15.1.2). */
  receiveBye(request: SipRequest): void {
    if (this.#uas !== undefined && !this.#uas.isAnswered) {
      this.#uas.withdrawn('BYE')
      return
    }
    // BYEs that cross, or a BYE while ours still waits for the ACK: the call is over, and the peer confirmed it.
    const by = this.core.state === 'terminating' ? 'local' : 'remote'
    this.#stop()
    this.core.end({
      cause: 'bye',
      by,
      status: 200,
      reason: 'OK',
      confirmed: true,
      detail: `BYE received${reasonText(request)}`,
      retryAfterS: undefined,
    })
  }
}
