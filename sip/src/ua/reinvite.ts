import { type Ms, type Random, randomBelow, type Timer } from '@parley/kernel'
import { SipStateError } from '../errors.ts'
import type { SipResponse } from '../message/message.ts'
import { abilityHeaders, WITHOUT_100REL } from './capabilities.ts'
import type { ClientRequest } from './client-request.ts'
import { headersWith } from './custom-headers.ts'
import { EndToEndAck } from './end-to-end-ack.ts'
import type { Body } from './session.ts'
import { bodyOf, type SessionCore } from './session-core.ts'
import type { SessionTimer } from './session-timer.ts'

/** Most retries after glare; then the 491 is passed on. */
const MAX_RETRIES = 5

/** RFC 3261 section 14.1: the owner of the Call-ID waits 2.1 to 4 s, the other side 0 to 2 s, in units of 10 ms. */
export function glareBackOff(random: Random, ownsCallId: boolean): Ms {
  return ownsCallId ? 2100 + 10 * randomBelow(random, 191) : 10 * randomBelow(random, 201)
}

type Phase =
  | { readonly name: 'idle' }
  /** Another INVITE is in progress in the dialog, so 14.1 requires us to wait. */
  | { readonly name: 'waiting'; readonly body: Body | undefined; readonly attempt: number }
  | { readonly name: 'backing-off'; readonly body: Body | undefined; readonly attempt: number; readonly timer: Timer }
  | { readonly name: 'sent'; readonly body: Body | undefined; readonly attempt: number }
  /** The 2xx carried the offer: our answer goes into the ACK. */
  | { readonly name: 'ack-owed'; readonly invite: ClientRequest }

/**
 * re-INVITEs that we send (RFC 3261 section 14.1).
 *
 *     idle --reoffer--> sent --2xx: ACK--> idle
 *                        |  ^
 *                    491 v  | back-off over, no other INVITE in progress
 *                   backing-off --> waiting
 *     sent --2xx with the offer--> ack-owed --acknowledge--> idle
 */
export class OutgoingReinvite {
  readonly #core: SessionCore
  readonly #timer: SessionTimer
  readonly #isBlocked: () => boolean
  readonly #onGone: (cause: 'timeout' | 'protocol', detail: string) => void
  #phase: Phase = { name: 'idle' }
  /** The INVITEs whose 2xx may still be repeated, newest last. */
  readonly #acks = new Map<number, EndToEndAck>()
  #limit: Timer | undefined

  /** `isBlocked`: an INVITE of the peer is in progress; `onGone`: the peer has no such dialog or does not answer. */
  constructor(
    core: SessionCore,
    timer: SessionTimer,
    isBlocked: () => boolean,
    onGone: (cause: 'timeout' | 'protocol', detail: string) => void,
  ) {
    this.#core = core
    this.#timer = timer
    this.#isBlocked = isBlocked
    this.#onGone = onGone
  }

  get isIdle(): boolean {
    return this.#phase.name === 'idle'
  }

  /** Our INVITE is in progress: an INVITE of the peer now is glare (14.2). */
  get isUnderWay(): boolean {
    return this.#phase.name === 'sent' || this.#phase.name === 'ack-owed'
  }

  start(body: Body | undefined): void {
    if (!this.isIdle) throw new SipStateError('another reoffer', this.#core.state)
    this.#phase = { name: 'waiting', body, attempt: 0 }
    this.resume()
  }

  /** Continues after another exchange in the dialog has ended. */
  resume(): void {
    if (this.#phase.name !== 'waiting' || this.#isBlocked() || this.#core.state !== 'confirmed') return
    this.#send(this.#phase.body, this.#phase.attempt)
  }

  #send(body: Body | undefined, attempt: number): void {
    const { ctx } = this.#core
    this.#phase = { name: 'sent', body, attempt }
    const request: ClientRequest | undefined = this.#core.request({
      method: 'INVITE',
      withContact: true,
      headers: () => headersWith([...abilityHeaders(WITHOUT_100REL), ...this.#timer.requestHeaders()]),
      revise: response => this.#timer.raise(response),
      body,
      onResponse: response => {
        if (request !== undefined) this.#onResponse(request, response)
      },
      onFailure: failure => {
        if (!this.#isCurrent(body, attempt)) return
        this.#finish({ type: 'reoffer-rejected', status: failure.cause === 'timeout' ? 408 : 503 })
        // 14.1: no answer at all ends the session; a dead connection does not, the next request dials again.
        if (failure.cause === 'timeout') this.#onGone('timeout', `re-INVITE: ${failure.detail}`)
      },
    })
    // No person decides on a re-INVITE, so a peer that only sends 1xx is given no longer than Timer B.
    this.#limit = ctx.time.at(ctx.time.now() + 64 * ctx.timers.t1, () => request?.cancel(undefined))
  }

  #isCurrent(body: Body | undefined, attempt: number): boolean {
    return this.#phase.name === 'sent' && this.#phase.body === body && this.#phase.attempt === attempt
  }

  #onResponse(request: ClientRequest, response: SipResponse): void {
    const { status } = response
    if (status < 200) return
    if (status < 300) this.#onSuccess(request, response)
    else if (this.#phase.name === 'sent') this.#onRefused(this.#phase, response)
  }

  #onSuccess(request: ClientRequest, response: SipResponse): void {
    const known = this.#acks.get(request.sequence)
    if (known !== undefined) {
      known.transmit()
      return
    }
    if (this.#phase.name !== 'sent') return
    this.#limit?.cancel()
    // 12.2.1.2: the 2xx to a re-INVITE moves the remote target.
    this.#core.dialog?.refreshTarget(response)
    this.#core.noteAbilities(response)
    if (this.#core.state === 'confirmed') this.#timer.answered(response)
    if (this.#phase.body === undefined) this.#phase = { name: 'ack-owed', invite: request }
    else {
      this.#acknowledge(request, undefined)
      this.#phase = { name: 'idle' }
    }
    this.#core.emit({ type: 'reoffer-answered', body: bodyOf(response) })
  }

  #acknowledge(invite: ClientRequest, body: Body | undefined): void {
    const { ctx, dialog, identity, flow } = this.#core
    if (dialog === undefined) return
    const ack = new EndToEndAck(ctx, { dialog, identity, invite, flow, body })
    // Two are enough: a 2xx is repeated for 64*T1 at most, and a later re-INVITE implies that the older one was acknowledged.
    if (this.#acks.size >= 2) this.#acks.delete(this.#acks.keys().next().value ?? 0)
    this.#acks.set(invite.sequence, ack)
    ack.transmit()
  }

  #onRefused(sent: { readonly body: Body | undefined; readonly attempt: number }, response: SipResponse): void {
    const { status, reason } = response
    // 14.1: glare; both sides wait, for different times.
    if (status === 491 && sent.attempt < MAX_RETRIES && this.#core.state === 'confirmed') {
      this.#limit?.cancel()
      this.#backOff(sent.body, sent.attempt + 1)
      return
    }
    this.#finish({ type: 'reoffer-rejected', status })
    // 14.1, 12.2.1.2: 481 and 408 mean that there is no dialog any more; everything else leaves the session as it was.
    if (status === 481 || status === 408) {
      this.#onGone(status === 408 ? 'timeout' : 'protocol', `re-INVITE answered ${status} ${reason}`)
    }
  }

  #backOff(body: Body | undefined, attempt: number): void {
    const { time, random } = this.#core.ctx
    const wait = glareBackOff(random, this.#core.direction === 'outbound')
    const timer = time.at(time.now() + wait, () => {
      this.#phase = { name: 'waiting', body, attempt }
      this.resume()
    })
    this.#phase = { name: 'backing-off', body, attempt, timer }
  }

  #finish(event: { readonly type: 'reoffer-rejected'; readonly status: number }): void {
    this.#limit?.cancel()
    this.#phase = { name: 'idle' }
    this.#core.emit(event)
  }

  get owesAck(): boolean {
    return this.#phase.name === 'ack-owed'
  }

  acknowledge(body: Body | undefined): void {
    if (this.#phase.name !== 'ack-owed') throw new SipStateError('acknowledge', this.#core.state)
    const { invite } = this.#phase
    this.#phase = { name: 'idle' }
    this.#acknowledge(invite, body)
  }

  /** The session ends: there is no retry, and a 2xx without ACK is acknowledged. */
  stop(): void {
    if (this.#phase.name === 'ack-owed') this.acknowledge(undefined)
    if (this.#phase.name === 'backing-off') this.#phase.timer.cancel()
    // A pending re-INVITE keeps its time limit, so that it ends even if the peer sends nothing after a 100.
    if (this.#phase.name !== 'sent') this.#phase = { name: 'idle' }
  }
}
