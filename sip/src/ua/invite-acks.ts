import type { Ms, Timer } from '@parley/kernel'
import type { Dialog } from '../dialog/dialog.ts'
import type { Flow } from '../transport/transport.ts'
import type { ClientRequest } from './client-request.ts'
import { EndToEndAck } from './end-to-end-ack.ts'
import { PendingAttempt } from './pending-attempt.ts'
import type { Body } from './session.ts'
import type { SessionCore } from './session-core.ts'

/** Most dialogs of one INVITE that are tracked, early or answered. */
export const MAX_FORKS = 16

/** Longest wait for `beforeAcknowledging`. Well below 64*T1, after which the far end ends the call (13.3.1.4). */
const MAX_WAIT_MS: Ms = 2000

/** What the ACK of the session's dialog still waits for. */
interface Owed {
  readonly toTag: string
  readonly dialog: Dialog
  /** That of the 2xx. */
  readonly flow: Flow | undefined
  /** To a delayed offer. */
  answer: Body | undefined
  awaitsAnswer: boolean
  awaitsNote: boolean
}

/**
 * The ACKs to the 2xx of one INVITE (RFC 3261 section 13.2.2.4). The ACK of the session's dialog is sent when our answer is
 * available, if the 2xx carried the offer, and when `beforeAcknowledging` has settled or timed out; that of
 * another fork at once.
 */
export class InviteAcks {
  readonly #core: SessionCore
  readonly #invite: Pick<ClientRequest, 'sequence' | 'credentials'>
  readonly #onSettled: () => void
  /** Sent ACKs by To tag. */
  readonly #sent = new Map<string, EndToEndAck>()
  readonly #gate: PendingAttempt
  #limit: Timer | undefined
  #owed: Owed | undefined
  #next: (() => void) | undefined

  /** `onSettled`: the ACK of the session's dialog has been sent. */
  constructor(core: SessionCore, invite: Pick<ClientRequest, 'sequence' | 'credentials'>, onSettled: () => void) {
    this.#core = core
    this.#invite = invite
    this.#onSettled = onSettled
    this.#gate = new PendingAttempt(core.ctx.pump)
  }

  /** Whether the ACK of the session's dialog has not been sent yet. */
  get isOwed(): boolean {
    return this.#owed !== undefined
  }

  get awaitsAnswer(): boolean {
    return this.#owed?.awaitsAnswer ?? false
  }

  get isFull(): boolean {
    return this.#sent.size >= MAX_FORKS
  }

  /** Repeats the ACK for a retransmitted 2xx. False if none was sent in that dialog yet. */
  repeat(toTag: string): boolean {
    const ack = this.#sent.get(toTag)
    ack?.transmit()
    return ack !== undefined
  }

  /** Sends the ACK at once. */
  send(toTag: string, dialog: Dialog, flow: Flow | undefined, body?: Body): void {
    const { ctx, identity } = this.#core
    const ack = new EndToEndAck(ctx, { dialog, identity, invite: this.#invite, flow, body })
    if (!this.isFull || this.#owed?.toTag === toTag) this.#sent.set(toTag, ack)
    ack.transmit()
  }

  /** Schedules the ACK of the session's dialog, once. It is sent when `note` resolves or rejects. */
  owe(
    toTag: string,
    dialog: Dialog,
    flow: Flow,
    { awaitsAnswer, note }: { readonly awaitsAnswer: boolean; readonly note: (() => Promise<void>) | undefined },
  ): void {
    this.#owed = { toTag, dialog, flow, answer: undefined, awaitsAnswer, awaitsNote: note !== undefined }
    if (note !== undefined) this.#ask(note)
    this.#sendIfDue()
  }

  /** Our answer to the offer in the 2xx. */
  answer(body: Body): void {
    if (this.#owed === undefined) return
    Object.assign(this.#owed, { answer: body, awaitsAnswer: false })
    this.#sendIfDue()
  }

  /** Runs `then` after the ACK, which no longer waits for an answer; at once if no ACK is pending. */
  whenSettled(then: () => void): void {
    if (this.#owed === undefined) return then()
    this.#owed.awaitsAnswer = false
    this.#next = then
    this.#sendIfDue()
  }

  /** The far end has hung up: a pending ACK is sent at once, and nothing follows it. */
  settle(): void {
    if (this.#owed === undefined) return
    this.#next = undefined
    this.#send(this.#owed)
  }

  /** Nothing is sent any more: the far end ends an unacknowledged call by itself (13.3.1.4). */
  abandon(): void {
    this.#owed = undefined
    this.#next = undefined
    this.#open()
  }

  #ask(note: () => Promise<void>): void {
    const { time } = this.#core.ctx
    this.#limit = time.at(time.now() + MAX_WAIT_MS, () => this.#pass('not within 2 s'))
    this.#gate.ask(note, {
      pass: () => this.#pass(null),
      fail: error => this.#pass(error instanceof Error ? error.message : String(error)),
    })
  }

  #pass(trouble: string | null): void {
    const { ctx, callId } = this.#core
    this.#open()
    if (trouble !== null)
      ctx.log('warn', 'ack_not_noted', `call ${callId} is acknowledged although beforeAcknowledging failed: ${trouble}`)
    if (this.#owed !== undefined) this.#owed.awaitsNote = false
    this.#sendIfDue()
  }

  #open(): void {
    this.#limit?.cancel()
    this.#gate.close()
  }

  #sendIfDue(): void {
    if (this.#owed !== undefined && !this.#owed.awaitsAnswer && !this.#owed.awaitsNote) this.#send(this.#owed)
  }

  #send({ toTag, dialog, flow, answer }: Owed): void {
    this.#open()
    // In a call that continues, on its current connection.
    this.send(toTag, dialog, this.#core.ended ? flow : this.#core.flow, answer)
    this.#owed = undefined
    const next = this.#next
    this.#next = undefined
    this.#onSettled()
    next?.()
  }
}
