import type { Ms, Samples } from '@parley/kernel'
import type { MediaEvent, MediaParameters, MediaReport, MediaSession, MediaStatistics } from '@parley/media'
import type { InviteSession, SessionEnd, SessionEvent } from '@parley/sip'
import { EventBacklog } from './event-backlog.ts'
import {
  type LegDirection,
  type LegEnd,
  type LegEvent,
  type LegState,
  type LegTransport,
  mediaSecurity,
  type ReofferPurpose,
} from './leg.ts'
import { inviteOffer, type Negotiation } from './negotiation.ts'
import { Reoffers } from './reoffers.ts'

/** Why a leg ends before the far end or the signalling says so. */
type OwnFailure = { readonly cause: LegEnd['cause']; readonly detail: string }

/**
 * One call leg: an INVITE session and a media session that live and die together, the same for both directions.
 * Made by `dialLeg` and `receiveLeg`. Owned by one caller, who listens to `onEvent` and ends it with `hangUp`.
 */
export class CallLeg {
  readonly direction: LegDirection
  readonly #session: InviteSession
  readonly #media: MediaSession
  readonly #negotiation: Negotiation
  readonly #events = new EventBacklog<LegEvent>()
  readonly #reoffers: Reoffers
  #state: LegState
  #parameters: MediaParameters | null = null
  #answered = false
  #held = false
  #ownFailure: OwnFailure | null = null

  constructor(session: InviteSession, media: MediaSession, negotiation: Negotiation) {
    this.direction = session.direction
    this.#session = session
    this.#media = media
    this.#negotiation = negotiation
    this.#state = session.direction === 'inbound' ? 'offered' : 'dialing'
    this.#reoffers = new Reoffers(negotiation, offer => {
      if (this.#state === 'active') session.reoffer(offer)
    })
    media.onEvent(event => this.#onMedia(event))
  }

  get state(): LegState {
    return this.#state
  }

  get callId(): string {
    return this.#session.callId
  }

  /** The far end has put us on hold. */
  get held(): boolean {
    return this.#held
  }

  /** Null until signalling has a flow and audio was agreed. */
  get transport(): LegTransport | null {
    const flow = this.#session.flow
    if (flow === undefined || this.#parameters === null) return null
    return { signalling: flow.transport, media: mediaSecurity(this.#parameters) }
  }

  /**
   * Returns the function that stops listening. Events come one at a time, none after "ended"; the first listener also
   * gets what happened before it came.
   */
  onEvent(listener: (event: LegEvent) => void): () => void {
    return this.#events.listen(listener)
  }

  /** Inbound: 180. Later calls and other states do nothing. */
  ring(): void {
    if (this.direction !== 'inbound' || this.#state !== 'offered') return
    this.#state = 'ringing'
    this.#session.progress(180)
  }

  /** Inbound: 200 with our SDP; "answered" follows with the ACK. A refused offer is answered 488 and ends the leg. */
  answer(): void {
    if (this.direction !== 'inbound' || (this.#state !== 'offered' && this.#state !== 'ringing')) return
    const offer = inviteOffer(this.#session.invite)
    if (offer === undefined) {
      this.#session.answer(this.#negotiation.offer({}))
      return
    }
    const planned = this.#negotiation.answer(offer)
    if (!planned.ok) {
      this.#fail('media-refused', planned.detail)
      this.#session.reject(planned.status, { headers: [['Warning', planned.warning]] })
      return
    }
    this.#session.answer(planned.body)
    this.#apply(planned.parameters)
  }

  /** Inbound, before the answer. */
  reject(status: number, options: { readonly reason?: string; readonly retryAfterS?: number } = {}): void {
    if (this.direction === 'inbound' && (this.#state === 'offered' || this.#state === 'ringing'))
      this.#session.reject(status, options)
  }

  /** CANCEL, BYE or 480, whatever ends the leg now. "ended" follows when the far end confirmed or its time is over. */
  hangUp(): void {
    if (this.#state === 'ended' || this.#state === 'ending') return
    this.#state = 'ending'
    this.#media.flush()
    this.#session.hangUp()
  }

  /** Queues audio behind what is queued; returns the position in the playout stream at which it ends. */
  play(audio: Int16Array): Samples {
    return this.#media.play(audio)
  }

  /** Drops what was not sent yet; returns the playout position that stands. */
  flush(): Samples {
    return this.#media.flush()
  }

  played(): Samples {
    return this.#media.played()
  }

  sendDigits(digits: string, options?: { readonly durationMs?: Ms; readonly gapMs?: Ms }): void {
    this.#media.sendDigits(digits, options)
  }

  readHeard(into: Int16Array): Samples {
    return this.#media.readHeard(into)
  }

  heardPosition(): Samples {
    return this.#media.heardPosition()
  }

  describe(): string {
    return this.#media.describe()
  }

  statistics(): Promise<MediaStatistics> {
    return this.#media.statistics()
  }

  /** Our side stops listening to the far end until `resume`; outcome by event. One re-offer is under way at a time, others wait. */
  hold(): void {
    this.#reoffer('hold')
  }

  resume(): void {
    this.#reoffer('resume')
  }

  /** New SRTP keys for our direction, in mid-call. */
  rekey(): void {
    this.#reoffer('rekey')
  }

  #reoffer(purpose: ReofferPurpose): void {
    if (this.#state === 'active') this.#reoffers.add(purpose)
  }

  /** The session's events, handed over by whoever opened the leg: some happened before its media was open. */
  handleSession(event: SessionEvent): void {
    switch (event.type) {
      case 'progress':
        return this.#onProgress(event)
      case 'answered':
        return this.#onAnswered(event)
      case 'acknowledged':
        return this.#onAcknowledged(event)
      case 'offer':
        return this.#onOffer(event)
      case 'offer-answered':
        return this.#onOfferAnswered(event)
      case 'offer-withdrawn':
        return this.#negotiation.withdraw()
      case 'reoffer-answered':
        return this.#onReofferAnswered(event)
      case 'reoffer-rejected':
        return this.#onReofferRejected(event.status)
      case 'ended':
        return void this.#onEnded(event.end)
      case 'trying':
      case 'info':
      case 'info-result':
        return
    }
  }

  #onProgress(event: SessionEvent & { type: 'progress' }): void {
    if (this.#state === 'ending') return
    this.#state = 'ringing'
    let earlyMedia = false
    if (event.body !== undefined) {
      const accepted = this.#negotiation.acceptAnswer(event.body)
      if (accepted.ok) {
        this.#apply(accepted.parameters)
        earlyMedia = true
      }
    }
    this.#emit({ type: 'ringing', status: event.status, earlyMedia })
  }

  /** 2xx: its body is the answer to our offer, or with a delayed offer the far end's offer, answered in the ACK. */
  #onAnswered(event: SessionEvent & { type: 'answered' }): void {
    if (this.#state === 'ending') return
    if (!this.#negotiation.offered) {
      const planned = event.body === undefined ? undefined : this.#negotiation.answer(event.body)
      if (planned === undefined || !planned.ok) {
        // The ACK must carry an answer (RFC 3261 section 13.2.2.4): refuse every stream, then hang up.
        const refusal = event.body && this.#negotiation.refusal(event.body)
        if (refusal) this.#session.acknowledge(refusal)
        return this.#failAndHangUp('media-refused', planned?.detail ?? 'the 200 carries no offer')
      }
      this.#session.acknowledge(planned.body)
      this.#apply(planned.parameters)
      return this.#confirmed()
    }
    // A 2xx without SDP stands by the answer of a reliable or earlier provisional response, where there was one.
    if (event.body !== undefined) {
      const accepted = this.#negotiation.acceptAnswer(event.body)
      if (!accepted.ok) return this.#failAndHangUp('media-refused', accepted.detail)
      this.#apply(accepted.parameters)
    } else if (this.#parameters === null) {
      return this.#failAndHangUp('media-refused', 'the 200 carries no SDP answer')
    }
    this.#negotiation.settle()
    this.#confirmed()
  }

  #onAcknowledged(event: SessionEvent & { type: 'acknowledged' }): void {
    if (this.#negotiation.offered) {
      const accepted = event.body === undefined ? undefined : this.#negotiation.acceptAnswer(event.body)
      if (accepted === undefined || !accepted.ok)
        return this.#failAndHangUp('media-refused', accepted?.detail ?? 'the ACK carries no SDP answer')
      this.#negotiation.settle()
      this.#apply(accepted.parameters)
    }
    this.#confirmed()
  }

  #confirmed(): void {
    if (this.#state === 'ending' || this.#state === 'ended') return
    this.#state = 'active'
    this.#answered = true
    this.#emit({ type: 'answered' })
  }

  #onOffer(event: SessionEvent & { type: 'offer' }): void {
    if (this.#state === 'ending') return
    if (event.body === undefined) {
      this.#session.acceptOffer(this.#negotiation.offer({}))
      return
    }
    const planned = this.#negotiation.answer(event.body)
    if (!planned.ok) {
      this.#session.rejectOffer(planned.status, planned.warning)
      return
    }
    this.#session.acceptOffer(planned.body)
    this.#apply(planned.parameters)
  }

  #onOfferAnswered(event: SessionEvent & { type: 'offer-answered' }): void {
    const accepted = event.body === undefined ? undefined : this.#negotiation.acceptAnswer(event.body)
    this.#negotiation.settle()
    if (accepted?.ok) this.#apply(accepted.parameters)
  }

  #onReofferAnswered(event: SessionEvent & { type: 'reoffer-answered' }): void {
    const accepted = event.body === undefined ? undefined : this.#negotiation.acceptAnswer(event.body)
    if (accepted === undefined || !accepted.ok)
      return this.#failAndHangUp('media-refused', accepted?.detail ?? 'the 200 to the re-INVITE carries no SDP answer')
    this.#negotiation.settle()
    this.#apply(accepted.parameters)
    const purpose = this.#reoffers.done()
    if (purpose !== undefined) this.#emit({ type: 'reoffered', purpose })
  }

  #onReofferRejected(status: number): void {
    this.#negotiation.withdraw()
    const purpose = this.#reoffers.done()
    if (purpose !== undefined) this.#emit({ type: 'reoffer-refused', purpose, status })
  }

  #apply(parameters: MediaParameters): void {
    const wasHeld = this.#held
    this.#parameters = parameters
    this.#held = this.#negotiation.heldByPeer
    this.#media.apply(parameters)
    if (this.#answered && wasHeld !== this.#held) this.#emit({ type: this.#held ? 'held' : 'resumed' })
  }

  #onMedia(event: MediaEvent): void {
    if (this.#state === 'ended') return
    if (event.type === 'failed') this.#failAndHangUp('media-lost', event.detail)
    else this.#emit(event)
  }

  #emit(event: LegEvent): void {
    this.#events.emit(event)
  }

  #fail(cause: LegEnd['cause'], detail: string): void {
    this.#ownFailure ??= { cause, detail }
  }

  #failAndHangUp(cause: LegEnd['cause'], detail: string): void {
    this.#fail(cause, detail)
    this.hangUp()
  }

  async #onEnded(end: SessionEnd): Promise<void> {
    this.#state = 'ended'
    const closed = await closeMedia(this.#media)
    const failure = this.#ownFailure ?? closed.failure
    this.#emit({
      type: 'ended',
      end: {
        direction: this.direction,
        answered: this.#answered,
        by: end.by,
        cause: failure?.cause ?? end.cause,
        sipStatus: end.status,
        reason: end.reason,
        confirmed: end.confirmed,
        detail: failure?.detail ?? end.detail,
        retryAfterS: end.retryAfterS,
        media: closed.report,
      },
    })
  }
}

async function closeMedia(media: MediaSession): Promise<{ report: MediaReport | null; failure: OwnFailure | null }> {
  try {
    return { report: await media.close(), failure: null }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return { report: null, failure: { cause: 'recording-unavailable', detail } }
  }
}
