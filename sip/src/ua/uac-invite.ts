import { type Ms, randomToken, type Timer } from '@parley/kernel'
import { Dialog } from '../dialog/dialog.ts'
import { SipStateError } from '../errors.ts'
import { type SipResponse, tagOf } from '../message/message.ts'
import { parseRetryAfter } from '../message/retry-after.ts'
import { serialiseUri } from '../message/uri.ts'
import type { RequestFailure } from '../transaction/client-transaction.ts'
import type { Flow } from '../transport/transport.ts'
import { sendBye } from './bye.ts'
import { COMPLETED_ELSEWHERE } from './cancel.ts'
import { ClientRequest } from './client-request.ts'
import { headersWith } from './custom-headers.ts'
import { InviteAcks, MAX_FORKS } from './invite-acks.ts'
import { AttemptLog } from './invite-attempt.ts'
import { LateAnswers } from './late-answers.ts'
import { firstHop } from './outbound-request.ts'
import { PrackClient, type ProgressKind } from './prack-client.ts'
import type { Body, HeaderReason, OutboundCall, SessionEnd } from './session.ts'
import { bodyOf, type SessionCore } from './session-core.ts'
import type { SessionTimer } from './session-timer.ts'
import { userOf } from './ua-context.ts'

/** A target without any response is given up for the next one after this long; Timer B alone would take 32 s. */
const SILENCE_MS: Ms = 4000

/** Failures of the server itself: another server of the trunk may do better, unless this one has reached the callee. */
const SERVER_FAILURES: ReadonlySet<number> = new Set([500, 502])

/** Most targets of a 3xx that are reported. */
const MAX_REDIRECTS = 8

type HangUp = { readonly why: 'local' | 'ring-timeout'; readonly reason: HeaderReason | undefined }

/**
 * The initial INVITE from the caller's side (RFC 3261 section 13.2), until its 2xx is acknowledged.
 *
 *     calling --1xx with tag--> early --2xx--> confirmed
 *     calling, early --300-699, failure--> terminated
 *     calling, early --hang up--> terminating --487--> terminated
 *                                             --2xx: ACK, BYE--> terminated
 */
export class UacInvite {
  readonly #core: SessionCore
  readonly #call: OutboundCall
  readonly #timer: SessionTimer
  readonly #request: ClientRequest
  readonly #pracks: PrackClient
  readonly #early = new Map<string, Dialog>()
  /** Answers to our offer in unreliable provisional responses, by To tag: each early dialog has its own. */
  readonly #earlyAnswers = new Map<string, Body>()
  readonly #acks: InviteAcks
  readonly #attempts = new AttemptLog()
  #trying = false
  /** To tag of the first 2xx, which created the session's dialog. */
  #chosen: string | undefined
  #hangUp: HangUp | undefined
  #ringTimer: Timer | undefined
  #stopBye: (() => void) | undefined

  /** `onAcknowledged`: the ACK of the session's dialog has been sent. */
  constructor(core: SessionCore, timer: SessionTimer, call: OutboundCall, onAcknowledged: () => void) {
    this.#core = core
    this.#timer = timer
    this.#call = call
    this.#pracks = new PrackClient(core)
    let template = core.invite
    const late = new LateAnswers(core.ctx, core.identity)
    let { sequence } = template.cseq
    const { beforeAttempt } = call
    this.#request = new ClientRequest(core.ctx, {
      build: (number, contact) => ({
        ...template,
        cseq: { sequence: number, method: 'INVITE' },
        contact: [contact],
        headers: headersWith(timer.requestHeaders(), template.headers),
      }),
      revise: response => timer.raise(response),
      failsOver: ({ status }) => SERVER_FAILURES.has(status) && core.state === 'calling',
      contactUser: userOf(call.from.uri),
      sequence,
      reserveSequence: () => ++sequence,
      flow: undefined,
      hop: firstHop(call),
      identity: core.identity,
      adoptTargets: true,
      ...(beforeAttempt && { beforeAttempt: (request, to) => beforeAttempt(this.#attempts.describe(request, to)) }),
      silence: {
        limitMs: SILENCE_MS,
        onGivenUp: () => {
          this.#attempts.giveUp()
          // A server behind both targets would take the same Call-ID for a merged request (8.2.2.2).
          template = { ...template, callId: randomToken(core.ctx.random, 24) }
        },
        onLate: (invite, response, flow) => late.receive(invite, response, flow),
      },
      onWithheld: error => this.#onWithheld(error),
      onAttempt: request => {
        core.invite = request
      },
      onResponse: (response, flow) => this.#onResponse(response, flow),
      onFailure: failure => this.#onFailure(failure),
    })
    core.inviteLeft = () => this.#request.mayHaveLeft
    this.#acks = new InviteAcks(core, this.#request, onAcknowledged)
  }

  start(): void {
    const { time } = this.#core.ctx
    this.#ringTimer = time.at(time.now() + (this.#call.ringTimeoutMs ?? 180_000), () =>
      this.#cancel('ring-timeout', undefined),
    )
    this.#request.start()
  }

  #onResponse(response: SipResponse, flow: Flow): void {
    if (!this.#core.ended) this.#core.flow = flow
    const { status } = response
    if (status < 200) this.#onProvisional(response, flow)
    else if (status < 300) this.#onSuccess(response, flow)
    else this.#onRefused(response)
  }

  #onProvisional(response: SipResponse, flow: Flow): void {
    if (response.status === 100) {
      if (!this.#trying) this.#core.emit({ type: 'trying' })
      this.#trying = true
      return
    }
    const toTag = tagOf(response.to)
    // RFC 3262 section 5: a reliable answer is final in its early dialog.
    const body = toTag !== undefined && this.#pracks.answerIn(toTag) !== undefined ? undefined : bodyOf(response)
    // 12.1: only a response with a tag makes an early dialog.
    const kind = toTag === undefined ? 'unreliable' : this.#progressIn(toTag, response, flow)
    if (kind === 'dropped') return
    if (body !== undefined && toTag !== undefined && this.#early.has(toTag)) this.#earlyAnswers.set(toTag, body)
    if (this.#core.state === 'calling') this.#core.state = 'early'
    if (this.#core.state === 'early') {
      const reliable = kind === 'reliable' ? { reliable: true as const } : {}
      this.#core.emit({ type: 'progress', status: response.status, toTag, body, ...reliable })
    }
  }

  #progressIn(toTag: string, response: SipResponse, flow: Flow): ProgressKind {
    const dialog = this.#earlyDialog(toTag, response)
    return this.#early.has(toTag) ? this.#pracks.receive(response, toTag, dialog, flow) : 'unreliable'
  }

  /** The early dialog with this id, in which the callee may already send requests. */
  earlyDialog(id: string): { readonly dialog: Dialog; readonly offerAnswered: boolean } | undefined {
    if (this.#chosen !== undefined) return undefined
    for (const [toTag, dialog] of this.#early) {
      if (dialog.id === id) return { dialog, offerAnswered: this.#pracks.answerIn(toTag) !== undefined }
    }
    return undefined
  }

  #earlyDialog(toTag: string, response: SipResponse): Dialog {
    const known = this.#early.get(toTag)
    if (known !== undefined) return known
    const dialog = Dialog.ofClient(this.#core.invite, response, this.#core.identity.serverName)
    if (this.#early.size < MAX_FORKS) {
      this.#early.set(toTag, dialog)
      this.#core.own(dialog)
    }
    return dialog
  }

  /** 13.2.2.4. The first 2xx makes the session's dialog; one of another fork is acknowledged and ended by BYE at once. */
  #onSuccess(response: SipResponse, flow: Flow): void {
    const toTag = tagOf(response.to) ?? ''
    // While our ACK waits, a retransmitted 2xx has no effect.
    if (this.#acks.repeat(toTag) || this.#chosen === toTag) return
    const dialog =
      this.#early.get(toTag) ?? Dialog.ofClient(this.#core.invite, response, this.#core.identity.serverName)
    // A fork that answers is in a dialog of its own: the Record-Route of its 2xx counts, not that of its 1xx.
    dialog.confirmFrom(response)
    dialog.sequenceUsed(this.#request.sequence)
    if (this.#chosen !== undefined) {
      this.#refuseFork(toTag, dialog, flow)
      return
    }
    this.#chosen = toTag
    this.#ringTimer?.cancel()
    this.#core.dialog = dialog
    this.#core.isSecure = flow.transport === 'tls'
    this.#core.own(dialog)
    const isWanted = this.#hangUp === undefined
    this.#core.keepAliveMs = this.#call.keepAliveMs
    this.#core.keepAlive(flow)
    if (isWanted) {
      this.#core.state = 'confirmed'
      this.#core.noteAbilities(response)
      this.#timer.answered(response)
    }
    this.#acks.owe(toTag, dialog, flow, {
      awaitsAnswer: isWanted && this.#call.body === undefined,
      note: this.#noteOf(dialog),
    })
    if (isWanted) this.#core.emit({ type: 'answered', body: this.#descriptionOf(toTag, response) })
    else this.#endAnswered(dialog, flow)
  }

  /**
   * The session description of the dialog that answered, never that of another fork (13.2.2.4): the answer in its reliable
   * provisional response, else the body of the 2xx, else the answer in its last unreliable provisional response.
   */
  #descriptionOf(toTag: string, response: SipResponse): Body | undefined {
    const offered = this.#call.body !== undefined
    return this.#pracks.answerIn(toTag) ?? bodyOf(response) ?? (offered ? this.#earlyAnswers.get(toTag) : undefined)
  }

  /** Not called once the session has ended: a 2xx is then acknowledged and ended by BYE. */
  #noteOf(dialog: Dialog): (() => Promise<void>) | undefined {
    const { beforeAcknowledging } = this.#call
    if (beforeAcknowledging === undefined || this.#core.ended) return undefined
    return () => beforeAcknowledging(dialog.snapshot())
  }

  #refuseFork(toTag: string, dialog: Dialog, flow: Flow): void {
    if (this.#acks.isFull) return
    this.#acks.send(toTag, dialog, flow)
    const { ctx, identity } = this.#core
    sendBye(ctx, { dialog, identity, flow, reason: COMPLETED_ELSEWHERE }, () => {})
  }

  /** The 2xx crossed our CANCEL (9.1, 15): the call is acknowledged and ended by BYE. */
  #endAnswered(dialog: Dialog, flow: Flow): void {
    this.#acks.whenSettled(() => {
      const { ctx, identity } = this.#core
      this.#stopBye = sendBye(ctx, { dialog, identity, flow, reason: this.#hangUp?.reason }, outcome =>
        this.#end({
          status: 200,
          reason: 'OK',
          confirmed: outcome.confirmed,
          byeStatus: outcome.status,
          detail: `answered while cancelled; ${outcome.detail}`,
        }),
      )
    })
  }

  /** 13.2.2.2 and 13.2.2.3. A 3xx ends the call too: following it would let the peer choose the target of our call. */
  #onRefused(response: SipResponse): void {
    if (response.status < 400) {
      const contacts = response.contact === '*' ? [] : response.contact.slice(0, MAX_REDIRECTS)
      const targets = contacts.map(({ uri }) => serialiseUri(uri))
      this.#core.emit({ type: 'redirected', status: response.status, targets })
    }
    const retryAfter = response.headers.get('Retry-After')
    this.#end({
      status: response.status,
      reason: response.reason,
      confirmed: true,
      detail: `INVITE answered ${response.status} ${response.reason}`,
      retryAfterS: retryAfter === undefined ? undefined : parseRetryAfter(retryAfter)?.seconds,
    })
  }

  #onFailure(failure: RequestFailure): void {
    const timedOut = failure.cause === 'timeout'
    this.#end({
      failure,
      // 8.1.3.1: a timeout counts as 408, a transport error as 503.
      status: timedOut ? 408 : 503,
      reason: timedOut ? 'Request Timeout' : 'Service Unavailable',
      confirmed: false,
      detail: `INVITE: ${failure.code}: ${failure.detail}`,
    })
  }

  #onWithheld(error: unknown): void {
    this.#end({
      failure: { cause: 'withheld' },
      status: 503,
      reason: 'Service Unavailable',
      confirmed: !this.#request.leftUnanswered,
      detail: `the INVITE was withheld: ${error instanceof Error ? error.message : String(error)}`,
    })
  }

  #end(
    facts: Pick<SessionEnd, 'status' | 'reason' | 'confirmed' | 'detail'> & {
      byeStatus?: number | undefined
      retryAfterS?: number | undefined
      failure?: Pick<SessionEnd, 'cause'>
    },
  ): void {
    this.#ringTimer?.cancel()
    const { status, reason, confirmed, byeStatus, detail, retryAfterS, failure } = facts
    const hangUp = this.#hangUp?.why
    this.#core.end({
      cause: hangUp === 'local' ? 'cancelled' : hangUp === 'ring-timeout' ? 'timeout' : (failure?.cause ?? 'rejected'),
      by: hangUp !== undefined || failure !== undefined ? 'local' : 'remote',
      status,
      reason,
      confirmed,
      byeStatus,
      detail,
      retryAfterS,
    })
  }

  /** Hangs up in any state before the 2xx. After it the session sends BYE: see `whenAcknowledged`. */
  hangUp(reason: HeaderReason | undefined): void {
    this.#cancel('local', reason)
  }

  #cancel(why: HangUp['why'], reason: HeaderReason | undefined): void {
    if (this.#hangUp !== undefined || this.#chosen !== undefined || this.#core.ended) return
    this.#hangUp = { why, reason }
    this.#core.state = 'terminating'
    if (this.#request.cancel(reason) === 'nothing-sent') {
      this.#end({
        status: 487,
        reason: 'Request Terminated',
        confirmed: !this.#request.leftUnanswered,
        detail: `given up before the INVITE was sent${this.#request.mayHaveLeft ? ' again' : ''}`,
      })
    }
  }

  /** Our answer to a delayed offer, in the ACK. */
  acknowledge(body: Body): void {
    if (!this.owesAnswer) throw new SipStateError('acknowledge', this.#core.state)
    this.#acks.answer(body)
  }

  /** Before a BYE the 2xx must be acknowledged, even if the application never supplied an answer. */
  whenAcknowledged(then: () => void): void {
    this.#acks.whenSettled(then)
  }

  /** The session is over: a pending ACK is sent at once, and a BYE is not repeated. */
  settle(): void {
    this.#stopBye?.()
    this.#acks.settle()
  }

  /** Nothing more is sent, and no handler is called any more. */
  abandon(): void {
    this.#ringTimer?.cancel()
    this.#stopBye?.()
    this.#acks.abandon()
    this.#request.abandon()
  }

  /** The 2xx has no ACK yet: our answer is missing, or `beforeAcknowledging` has not settled. */
  get owesAck(): boolean {
    return this.#acks.isOwed
  }

  get owesAnswer(): boolean {
    return this.#acks.awaitsAnswer
  }
}
