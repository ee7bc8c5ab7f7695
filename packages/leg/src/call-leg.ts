import { type AudioFormat, BufferedEmitter, type Ms, ParleyError, type Samples } from '@parley/kernel'
import type {
  MediaEvent,
  MediaParameters,
  MediaReport,
  MediaSession,
  MediaStatistics,
  VoiceDetection,
  VoiceEdge,
} from '@parley/media'
import type {
  Body,
  DialogSnapshot,
  InviteSession,
  ReferOptions,
  SessionEnd,
  SessionEvent,
  SipRequest,
  Uri,
} from '@parley/sip'
import { OfferAnswerExchange } from './exchange.ts'
import { isDigits, readInfoDigit, writeInfoDigit } from './info-digits.ts'
import {
  type LegDirection,
  type LegEnd,
  type LegEvent,
  type LegState,
  type LegTransport,
  mediaSecurity,
  type ReofferPurpose,
} from './leg.ts'
import type { Negotiation } from './negotiation.ts'

/** Why a leg ends before the far end or the signalling says so. */
type OwnFailure = { readonly cause: LegEnd['cause']; readonly detail: string }

const INFO_DIGIT_MS = 100

/**
 * One call leg: an INVITE session and a media session that live and die together, the same for both directions.
 * Made by `dialLeg` and `receiveLeg`. Owned by one caller, who listens to `onEvent` and ends it with `hangUp`.
 */
export class CallLeg {
  readonly direction: LegDirection
  readonly #session: InviteSession
  readonly #media: MediaSession
  readonly #exchange: OfferAnswerExchange
  /** A listener's error ends this call and no other. */
  readonly #events = new BufferedEmitter<LegEvent>({
    onListenerError: error => this.#failAndHangUp('internal', textOf(error)),
  })
  #state: LegState
  #parameters: MediaParameters | null = null
  #answered = false
  #held = false
  #ownFailure: OwnFailure | null = null
  /** Digits on their way by INFO, for a far end without telephone-event. */
  #infoDigits = ''

  constructor(session: InviteSession, media: MediaSession, negotiation: Negotiation) {
    this.direction = session.direction
    this.#session = session
    this.#media = media
    this.#state = session.direction === 'inbound' ? 'offered' : 'dialing'
    this.#exchange = new OfferAnswerExchange(session, negotiation, {
      apply: parameters => this.#apply(parameters),
      confirmed: () => this.#confirmed(),
      unusable: detail => this.#unusable(detail),
      reoffered: purpose => this.#events.emit({ type: 'reoffered', purpose }),
      reofferRefused: (purpose, status) => this.#events.emit({ type: 'reoffer-refused', purpose, status }),
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

  /** Address that the last SIP message came from or went to; null before the first. */
  get peerAddress(): string | null {
    return this.#session.flow?.remote.address ?? null
  }

  /** Host of the far end's own URI, where other numbers of its network are reached; null where it hides it. */
  get peerHost(): string | null {
    const uri = this.direction === 'outbound' ? this.#session.invite.uri : this.#session.invite.from.uri
    return 'host' in uri && !uri.host.endsWith('.invalid') ? uri.host : null
  }

  /** The initial INVITE: inbound as received, outbound as last sent. Read only. */
  get invite(): SipRequest {
    return this.#session.invite
  }

  /**
   * What another process needs to end the call (`UserAgent.bye`), as of now. Inbound from the start, so that it can be kept
   * before the answer leaves; outbound null until the far end answered.
   */
  get dialog(): DialogSnapshot | null {
    return this.#session.dialog ?? null
  }

  /** Users of From and To, as the caller wrote them; null where that side has none. */
  get parties(): { readonly from: string | null; readonly to: string | null } {
    const { from, to } = this.#session.invite
    return { from: userOf(from.uri), to: userOf(this.direction === 'outbound' ? this.#session.invite.uri : to.uri) }
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
    if (this.#state !== 'offered' || !this.#unanswered) return
    this.#state = 'ringing'
    this.#session.progress(180)
  }

  /**
   * Inbound: 200 with our SDP; "answered" follows with the ACK. A refused offer is answered 488 and ends the leg. Does
   * nothing a second time, and once the caller has given up. There is no hurry: the caller waits, and hears ringing after
   * `ring`.
   */
  answer(): void {
    if (this.#unanswered) this.#exchange.answerInvite()
  }

  /** Inbound, before the answer left: 300 to 699. Does nothing afterwards, and once the caller has given up. */
  reject(status: number, options: { readonly reason?: string; readonly retryAfterS?: number } = {}): void {
    if (this.#unanswered) this.#session.reject(status, options)
  }

  /** Asks the session too: what ended it may not have been told here yet. */
  get #unanswered(): boolean {
    if (this.direction !== 'inbound' || (this.#state !== 'offered' && this.#state !== 'ringing')) return false
    return this.#session.state === 'incoming' || this.#session.state === 'early'
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

  /** By RFC 4733 where the far end takes it, else one INFO after the other. "digits-sent" follows. */
  sendDigits(digits: string, options?: { readonly durationMs?: Ms; readonly gapMs?: Ms }): void {
    if (this.#parameters === null || this.#parameters.dtmfPayloadType !== null || this.#state !== 'active')
      return this.#media.sendDigits(digits, options)
    if (!isDigits(digits)) throw new ParleyError('invalid_digits', `"${digits}" are not DTMF digits: 0-9 * # A-D`)
    const idle = this.#infoDigits === ''
    this.#infoDigits += digits
    if (idle) this.#nextInfoDigit()
  }

  /** Of what is played and heard. */
  get format(): AudioFormat {
    return this.#media.format
  }

  readHeard(into: Int16Array): Samples {
    return this.#media.readHeard(into)
  }

  /** See `MediaSession.detectVoice`. */
  detectVoice(options: VoiceDetection): void {
    this.#media.detectVoice(options)
  }

  /** See `MediaSession.nextVoiceEdge`. */
  nextVoiceEdge(): VoiceEdge | null {
    return this.#media.nextVoiceEdge()
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

  /**
   * Blind transfer: asks the far end to call `target` in our place. Once it was taken the leg hangs up; outcome by
   * "transfer-result". Throws "wrong_state" while another one is under way.
   */
  transfer(target: Uri, options: Pick<ReferOptions, 'headers'> = {}): void {
    if (this.#state === 'active') this.#session.refer(target, options)
  }

  /** Receives the events of the INVITE session, those from before the leg was made included. */
  handleSession(event: SessionEvent): void {
    if (event.type === 'ended') return void this.#onEnded(event.end)
    // What still comes after we hung up changes nothing.
    if (this.#state === 'ending' && event.type !== 'refer-result') return
    switch (event.type) {
      case 'progress':
        this.#state = 'ringing'
        return this.#events.emit({
          type: 'ringing',
          status: event.status,
          earlyMedia: this.#exchange.onProgress(event),
        })
      case 'answered':
        return this.#exchange.onAnswered(event)
      case 'acknowledged':
        return this.#exchange.onAcknowledged(event)
      case 'offer':
        return this.#exchange.onOffer(event)
      case 'offer-answered':
        return this.#exchange.onOfferAnswered(event)
      case 'offer-withdrawn':
        return this.#exchange.onOfferWithdrawn()
      case 'reoffer-answered':
        return this.#exchange.onReofferAnswered(event)
      case 'reoffer-rejected':
        return this.#exchange.onReofferRejected(event)
      case 'refresh':
        return this.#reoffer('refresh')
      case 'refer-result':
        return this.#onReferResult(event)
      case 'info':
        return this.#onInfo(event.body)
      case 'info-result':
        return this.#onInfoResult()
      case 'refer-progress':
      case 'refreshed':
      case 'trying':
        return
    }
  }

  #reoffer(purpose: ReofferPurpose): void {
    if (this.#state === 'active') this.#exchange.reoffer(purpose)
  }

  #confirmed(): void {
    this.#state = 'active'
    this.#answered = true
    this.#events.emit({ type: 'answered' })
  }

  #apply(parameters: MediaParameters): void {
    const wasHeld = this.#held
    this.#parameters = parameters
    this.#held = this.#exchange.heldByPeer
    this.#media.apply(parameters)
    if (this.#answered && wasHeld !== this.#held) this.#events.emit({ type: this.#held ? 'held' : 'resumed' })
  }

  #onReferResult(event: SessionEvent & { type: 'refer-result' }): void {
    const { referStatus, finalSipStatus, subscriptionReason } = event
    const accepted = referStatus !== null && referStatus < 300
    // A far end that reports nothing (RFC 4488) has the transfer in its hands all the same.
    const taken = accepted && (finalSipStatus === null || finalSipStatus < 300)
    const receipt = { referStatus, finalSipStatus, disconnectReason: subscriptionReason }
    this.#events.emit({ type: 'transfer-result', taken, receipt })
    if (taken) this.hangUp()
  }

  #onInfo(body: Body): void {
    const read = readInfoDigit(body)
    if (read === null) return
    this.#events.emit({ type: 'digit', ...read, atSample: this.heardPosition(), source: 'info' })
  }

  #nextInfoDigit(): void {
    const digit = this.#infoDigits[0]
    if (digit !== undefined && this.#state === 'active') this.#session.info(writeInfoDigit(digit, INFO_DIGIT_MS))
  }

  #onInfoResult(): void {
    const sent = this.#infoDigits[0]
    if (sent === undefined) return
    this.#infoDigits = this.#infoDigits.slice(1)
    this.#events.emit({ type: 'digits-sent', digits: sent })
    this.#nextInfoDigit()
  }

  #onMedia(event: MediaEvent): void {
    if (this.#state === 'ended') return
    switch (event.type) {
      case 'failed':
        return this.#failAndHangUp('media-lost', event.detail)
      case 'silent-remote':
        if (this.#state === 'active')
          this.#failAndHangUp('media-lost', `no RTP came for ${Math.round(event.forMs / 1000)} s`)
        return
      case 'remote-back':
        return
      default:
        return this.#events.emit(event)
    }
  }

  #unusable(detail: string): void {
    this.#ownFailure ??= { cause: 'media-refused', detail }
    // An inbound INVITE gets its own refusal; everything else is hung up.
    if (this.direction === 'outbound' || this.#session.state === 'confirmed') this.hangUp()
  }

  #failAndHangUp(cause: LegEnd['cause'], detail: string): void {
    this.#ownFailure ??= { cause, detail }
    this.hangUp()
  }

  async #onEnded(end: SessionEnd): Promise<void> {
    this.#state = 'ended'
    const closed = await closeMedia(this.#media)
    const failure = this.#ownFailure ?? closed.failure
    this.#events.emit({
      type: 'ended',
      end: {
        direction: this.direction,
        answered: this.#answered,
        by: end.by,
        cause: failure?.cause ?? end.cause,
        sipStatus: end.cause === 'withheld' && !end.inviteLeft ? null : end.status,
        reason: end.reason,
        inviteLeft: end.inviteLeft,
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
    return { report: null, failure: { cause: 'recording-unavailable', detail: textOf(error) } }
  }
}

function userOf(uri: Uri): string | null {
  return 'user' in uri ? (uri.user ?? null) : null
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
