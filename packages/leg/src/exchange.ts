import type { MediaParameters } from '@parley/media'
import type { InviteSession, SessionEvent } from '@parley/sip'
import type { ReofferPurpose } from './leg.ts'
import { inviteOffer, type Negotiation } from './negotiation.ts'
import { Reoffers } from './reoffers.ts'

type Event<Type extends SessionEvent['type']> = Extract<SessionEvent, { type: Type }>

/** Callbacks from the exchange to its leg. */
interface ExchangeOutcome {
  /** Media parameters for sending and receiving from now on. */
  readonly apply: (parameters: MediaParameters) => void
  /** Audio is agreed and the dialog confirmed. */
  readonly confirmed: () => void
  /** The far end's session description is unusable; the call has to end. */
  readonly unusable: (detail: string) => void
  readonly reoffered: (purpose: ReofferPurpose) => void
  readonly reofferRefused: (purpose: ReofferPurpose, status: number) => void
}

/** Maps messages of the INVITE session to offers and answers (RFC 3261 section 13.2.1, RFC 6337). */
export class OfferAnswerExchange {
  readonly #session: InviteSession
  readonly #negotiation: Negotiation
  readonly #outcome: ExchangeOutcome
  readonly #reoffers: Reoffers
  #agreed = false

  constructor(session: InviteSession, negotiation: Negotiation, outcome: ExchangeOutcome) {
    this.#session = session
    this.#negotiation = negotiation
    this.#outcome = outcome
    this.#reoffers = new Reoffers(negotiation, offer => {
      if (session.state === 'confirmed') session.reoffer(offer)
    })
  }

  get heldByPeer(): boolean {
    return this.#negotiation.heldByPeer
  }

  reoffer(purpose: ReofferPurpose): void {
    this.#reoffers.add(purpose)
  }

  /** Inbound: sends 200 with our answer, or with our offer if the INVITE has none. An unacceptable offer is answered 488. */
  answerInvite(): void {
    const offer = inviteOffer(this.#session.invite)
    if (offer === undefined) return this.#session.answer(this.#negotiation.offer({}))
    const answer = this.#negotiation.answer(offer)
    if (!answer.ok) {
      this.#outcome.unusable(answer.detail)
      return this.#session.reject(answer.status, { headers: [['Warning', answer.warning]] })
    }
    this.#session.answer(answer.body)
    this.#apply(answer.parameters)
  }

  /**
   * Returns whether early media is agreed: it follows the early dialog that answered last. Our offer stays pending, because
   * each fork answers it for itself (RFC 3261 section 13.2.2.4).
   */
  onProgress(event: Event<'progress'>): boolean {
    if (event.body === undefined || !this.#negotiation.offered) return false
    const accepted = this.#negotiation.acceptAnswer(event.body)
    if (!accepted.ok) return false
    this.#apply(accepted.parameters)
    return true
  }

  /** 2xx: its body is the answer to our offer or, with a delayed offer, the far end's offer, which the ACK answers. */
  onAnswered(event: Event<'answered'>): void {
    if (this.#session.invite.body.length === 0) return this.#onDelayedOffer(event)
    if (event.body !== undefined && this.#negotiation.offered) {
      const accepted = this.#negotiation.acceptAnswer(event.body)
      if (!accepted.ok) return this.#outcome.unusable(accepted.detail)
      this.#apply(accepted.parameters)
    } else if (!this.#agreed) {
      return this.#outcome.unusable('the 200 carries no SDP answer')
    }
    this.#negotiation.settle()
    this.#outcome.confirmed()
  }

  #onDelayedOffer(event: Event<'answered'>): void {
    const answer = event.body === undefined ? undefined : this.#negotiation.answer(event.body)
    if (answer === undefined || !answer.ok) {
      // The ACK must carry an answer (RFC 3261 section 13.2.2.4): refuse every stream, then hang up.
      const refusal = event.body && this.#negotiation.refusal(event.body)
      if (refusal) this.#session.acknowledge(refusal)
      return this.#outcome.unusable(answer?.detail ?? 'the 200 carries no offer')
    }
    this.#session.acknowledge(answer.body)
    this.#apply(answer.parameters)
    this.#outcome.confirmed()
  }

  onAcknowledged(event: Event<'acknowledged'>): void {
    if (this.#negotiation.offered) {
      const accepted = event.body === undefined ? undefined : this.#negotiation.acceptAnswer(event.body)
      if (accepted === undefined || !accepted.ok)
        return this.#outcome.unusable(accepted?.detail ?? 'the ACK carries no SDP answer')
      this.#negotiation.settle()
      this.#apply(accepted.parameters)
    }
    this.#outcome.confirmed()
  }

  onOffer(event: Event<'offer'>): void {
    if (event.body === undefined) return this.#session.acceptOffer(this.#negotiation.offer({}))
    const answer = this.#negotiation.answer(event.body)
    if (!answer.ok) return this.#session.rejectOffer(answer.status, answer.warning)
    this.#session.acceptOffer(answer.body)
    this.#apply(answer.parameters)
  }

  /** ACK to a 200 that carried our offer; without a usable answer the agreed parameters stay in force. */
  onOfferAnswered(event: Event<'offer-answered'>): void {
    const accepted = event.body === undefined ? undefined : this.#negotiation.acceptAnswer(event.body)
    this.#negotiation.settle()
    if (accepted?.ok) this.#apply(accepted.parameters)
  }

  onOfferWithdrawn(): void {
    this.#negotiation.withdraw()
  }

  onReofferAnswered(event: Event<'reoffer-answered'>): void {
    const accepted = event.body === undefined ? undefined : this.#negotiation.acceptAnswer(event.body)
    if (accepted === undefined || !accepted.ok)
      return this.#outcome.unusable(accepted?.detail ?? 'the 200 to the re-INVITE carries no SDP answer')
    this.#negotiation.settle()
    this.#apply(accepted.parameters)
    const purpose = this.#reoffers.done()
    if (purpose !== undefined) this.#outcome.reoffered(purpose)
  }

  onReofferRejected(event: Event<'reoffer-rejected'>): void {
    this.#negotiation.withdraw()
    const purpose = this.#reoffers.done()
    if (purpose !== undefined) this.#outcome.reofferRefused(purpose, event.status)
  }

  #apply(parameters: MediaParameters): void {
    this.#agreed = true
    this.#outcome.apply(parameters)
  }
}
