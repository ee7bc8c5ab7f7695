import type { Ms, Timer } from '@parley/kernel'
import type { Dialog } from '../dialog/dialog.ts'
import type { Flow } from '../transport/transport.ts'
import type { ClientRequest } from './client-request.ts'
import { EndToEndAck } from './end-to-end-ack.ts'
import { PendingAttempt } from './pending-attempt.ts'
import type { Body } from './session.ts'
import type { SessionCore } from './session-core.ts'

/** Dialogs of one INVITE, early or answered: beyond this many they are not told apart any more. */
export const MOST_FORKS = 16

/** A call that is answered is not lost for want of a note. Well below 64*T1, at which the far end gives up (13.3.1.4). */
const LONGEST_WAIT_MS: Ms = 2000

/** What the 2xx that counts still waits for. */
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
 * The ACKs to the 2xx of one INVITE (RFC 3261 section 13.2.2.4). That of the dialog that counts leaves when our answer is
 * there, where the 2xx brought the offer, and when whoever has to know of the dialog does, or has had its time; that of
 * another fork at once.
 */
export class InviteAcks {
  readonly #core: SessionCore
  readonly #invite: Pick<ClientRequest, 'sequence' | 'credentials'>
  readonly #onSettled: () => void
  /** By To tag, those that left. */
  readonly #sent = new Map<string, EndToEndAck>()
  readonly #gate: PendingAttempt
  #limit: Timer | undefined
  #owed: Owed | undefined
  #next: (() => void) | undefined

  /** `onSettled`: the ACK of the dialog that counts has left. */
  constructor(core: SessionCore, invite: Pick<ClientRequest, 'sequence' | 'credentials'>, onSettled: () => void) {
    this.#core = core
    this.#invite = invite
    this.#onSettled = onSettled
    this.#gate = new PendingAttempt(core.ctx.pump)
  }

  /** The ACK of the dialog that counts has not left. */
  get isOwed(): boolean {
    return this.#owed !== undefined
  }

  get awaitsAnswer(): boolean {
    return this.#owed?.awaitsAnswer ?? false
  }

  get isFull(): boolean {
    return this.#sent.size >= MOST_FORKS
  }

  /** A 2xx arrived once more: so does its ACK. False: none has left in that dialog. */
  repeat(toTag: string): boolean {
    const ack = this.#sent.get(toTag)
    ack?.transmit()
    return ack !== undefined
  }

  /** At once. */
  send(toTag: string, dialog: Dialog, flow: Flow | undefined, body?: Body): void {
    const { ctx, identity } = this.#core
    const ack = new EndToEndAck(ctx, { dialog, identity, invite: this.#invite, flow, body })
    if (!this.isFull || this.#owed?.toTag === toTag) this.#sent.set(toTag, ack)
    ack.transmit()
  }

  /** Of the dialog that counts, once. `note`: resolves when the ACK may leave; rejecting holds it back no longer. */
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

  /** `then` follows the ACK, which an answer that never came does not hold back: at once where none is owed. */
  whenSettled(then: () => void): void {
    if (this.#owed === undefined) return then()
    this.#owed.awaitsAnswer = false
    this.#next = then
    this.#sendIfDue()
  }

  /** The far end has hung up: an ACK that is owed waits for nothing any more, and nothing follows it. */
  settle(): void {
    if (this.#owed === undefined) return
    this.#next = undefined
    this.#send(this.#owed)
  }

  /** Nothing is sent any more: what has no ACK the far end ends by itself (13.3.1.4). */
  abandon(): void {
    this.#owed = undefined
    this.#next = undefined
    this.#open()
  }

  #ask(note: () => Promise<void>): void {
    const { time } = this.#core.ctx
    this.#limit = time.at(time.now() + LONGEST_WAIT_MS, () => this.#pass('not within 2 s'))
    this.#gate.ask(note, {
      pass: () => this.#pass(null),
      fail: error => this.#pass(error instanceof Error ? error.message : String(error)),
    })
  }

  #pass(trouble: string | null): void {
    const { ctx, callId } = this.#core
    this.#open()
    if (trouble !== null) ctx.log('warn', 'ack_not_noted', `call ${callId} is acknowledged unnoted: ${trouble}`)
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
    // Of a call that goes on, over the connection that it is on by now.
    this.send(toTag, dialog, this.#core.ended ? flow : this.#core.flow, answer)
    this.#owed = undefined
    const next = this.#next
    this.#next = undefined
    this.#onSettled()
    next?.()
  }
}
