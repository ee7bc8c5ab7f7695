import { type AudioFormat, BufferedEmitter, type Ms, type Samples } from '@parley/kernel'
import type {
  MediaEvent,
  MediaParameters,
  MediaReport,
  MediaSession,
  MediaSessionOptions,
  MediaStatistics,
  RecordingSplit,
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
import { LegError } from './errors.ts'
import { OfferAnswerExchange } from './exchange.ts'
import { isDigits, readInfoDigit, writeInfoDigit } from './info-digits.ts'
import {
  type CallLeg,
  type LegDirection,
  type LegEnd,
  type LegEvent,
  type LegState,
  type LegTransport,
  mediaSecurity,
  type ReofferPurpose,
} from './leg.ts'
import type { Negotiation } from './negotiation.ts'

/** Why our side ended the leg, such as a failure of media. */
type OwnFailure = { readonly cause: LegEnd['cause']; readonly detail: string }

const INFO_DIGIT_MS = 100

/**
 * One call leg over SIP, of either direction: an INVITE session and a media session with the same lifetime. `dialLeg` and `receiveLeg`
 * create it; its owner listens with `onEvent` and ends it with `hangUp`.
 */
export class SipCallLeg implements CallLeg {
  readonly direction: LegDirection
  readonly #session: InviteSession
  readonly #media: MediaSession
  readonly #exchange: OfferAnswerExchange
  readonly #digitsByInfo: boolean
  /** An error of a listener ends this call only. */
  readonly #events = new BufferedEmitter<LegEvent>({
    onListenerError: error => this.#failAndHangUp('internal', textOf(error)),
  })
  #state: LegState
  #parameters: MediaParameters | null = null
  #answered = false
  #held = false
  #ownFailure: OwnFailure | null = null
  /** Digits still to be sent by INFO; the first is in flight. */
  #infoDigits = ''

  constructor(
    session: InviteSession,
    media: MediaSession,
    negotiation: Negotiation,
    { digitsByInfo = false }: { readonly digitsByInfo?: boolean } = {},
  ) {
    this.#digitsByInfo = digitsByInfo
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

  /** Whether the far end has put us on hold. */
  get held(): boolean {
    return this.#held
  }

  /** Null until a SIP message has passed and audio is agreed. */
  get transport(): LegTransport | null {
    const flow = this.#session.flow
    if (flow === undefined || this.#parameters === null) return null
    return { signalling: flow.transport, media: mediaSecurity(this.#parameters) }
  }

  /** Source or destination address of the last SIP message; null before the first. */
  get peerAddress(): string | null {
    return this.#session.flow?.remote.address ?? null
  }

  get sentCredentials(): boolean {
    if (this.direction === 'inbound') return false
    const { headers } = this.#session.invite
    return headers.has('Authorization') || headers.has('Proxy-Authorization')
  }

  /** Host of the far end's URI, at which other numbers of its network are reached; null when the URI hides it. */
  get peerHost(): string | null {
    const uri = this.direction === 'outbound' ? this.#session.invite.uri : this.#session.invite.from.uri
    return 'host' in uri && !uri.host.endsWith('.invalid') ? uri.host : null
  }

  /** The initial INVITE: inbound as received, outbound as last sent. Read-only. */
  get invite(): SipRequest {
    return this.#session.invite
  }

  /**
   * The current dialog state, with which another process can end the call (`UserAgent.bye`). Inbound: available from the
   * start, so that it can be stored before the 200 is sent. Outbound: null until the far end answers.
   */
  get dialog(): DialogSnapshot | null {
    return this.#session.dialog ?? null
  }

  /** User parts of From and To as the caller sent them; null without a user part. */
  get parties(): { readonly from: string | null; readonly to: string | null } {
    const { from, to } = this.#session.invite
    return { from: userOf(from.uri), to: userOf(this.direction === 'outbound' ? this.#session.invite.uri : to.uri) }
  }

  /**
   * Returns a function that removes the listener. Events come one at a time, none after "ended"; the first listener also
   * gets the events from before it was added.
   */
  onEvent(listener: (event: LegEvent) => void): () => void {
    return this.#events.listen(listener)
  }

  /** Inbound: sends 180. Does nothing a second time and in other states. */
  ring(): void {
    if (this.#state !== 'offered' || !this.#unanswered) return
    this.#state = 'ringing'
    this.#session.progress(180)
  }

  /**
   * Inbound: sends 200 with our SDP; "answered" follows with the ACK. An unacceptable offer is answered 488 and ends the
   * leg. Does nothing a second time and after the caller cancelled. There is no time limit of ours: after `ring` the
   * caller hears ringing until then.
   */
  answer(): void {
    if (this.#unanswered) this.#exchange.answerInvite()
  }

  /** Inbound: sends a final status from 300 to 699. Does nothing after `answer` and after the caller cancelled. */
  reject(status: number, options: { readonly reason?: string; readonly retryAfterS?: number } = {}): void {
    if (this.#unanswered) this.#session.reject(status, options)
  }

  /** Checks the session too: it may have ended while its event is still queued. */
  get #unanswered(): boolean {
    if (this.direction !== 'inbound' || (this.#state !== 'offered' && this.#state !== 'ringing')) return false
    return this.#session.state === 'incoming' || this.#session.state === 'early'
  }

  /** Sends CANCEL, BYE or 480, as the state requires. "ended" follows when the far end confirms or the transaction times out. */
  hangUp(): void {
    if (this.#state === 'ended' || this.#state === 'ending') return
    this.#state = 'ending'
    this.#media.flush()
    this.#session.hangUp()
  }

  /** Appends audio to the playout queue; returns the position in the playout stream at which it ends. */
  play(audio: Int16Array): Samples {
    return this.#media.play(audio)
  }

  /** Drops queued audio that was not sent; returns the position in the playout stream up to which it was. */
  flush(): Samples {
    return this.#media.flush()
  }

  played(): Samples {
    return this.#media.played()
  }

  /**
   * Sends digits as telephone-event (RFC 4733) if the far end accepts it and the trunk does not want INFO, else one INFO per digit in
   * sequence. "digits-sent" follows.
   */
  sendDigits(digits: string, options?: { readonly durationMs?: Ms; readonly gapMs?: Ms }): void {
    const takesEvents = !this.#digitsByInfo && this.#parameters?.dtmfPayloadType !== null
    if (this.#parameters === null || takesEvents || this.#state !== 'active')
      return this.#media.sendDigits(digits, options)
    if (!isDigits(digits))
      throw new LegError('invalid_digits', `"${digits}" contains characters that are not DTMF digits: use 0-9 * # A-D`)
    const idle = this.#infoDigits === ''
    this.#infoDigits += digits
    if (idle) this.#nextInfoDigit()
  }

  /** Format of played and heard audio. */
  get format(): AudioFormat {
    return this.#media.format
  }

  readHeard(into: Int16Array): Samples {
    return this.#media.readHeard(into)
  }

  splitRecording(next: NonNullable<MediaSessionOptions['recording']> | null): Promise<RecordingSplit> {
    return this.#media.splitRecording(next)
  }

  setBackground(loop: Int16Array | null, gain: number): void {
    this.#media.setBackground(loop, gain)
  }

  /** See `MediaSession.detectVoice`. */
  playTo(listener: MediaSession): () => void {
    return this.#media.playTo(listener)
  }

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

  /**
   * Holds the call with a re-INVITE (sendonly) until `resume`. "reoffered" or "reoffer-refused" follows. One re-offer is
   * in progress at a time; further ones are queued.
   */
  hold(): void {
    this.#reoffer('hold')
  }

  resume(): void {
    this.#reoffer('resume')
  }

  /** Changes the SRTP keys of our direction during the call. */
  rekey(): void {
    this.#reoffer('rekey')
  }

  /**
   * Blind transfer (RFC 3515): asks the far end to call `target` in our place. "transfer-result" follows; after a
   * successful one the leg hangs up. Throws "wrong_state" while another transfer is in progress.
   */
  transfer(target: Uri, options: Pick<ReferOptions, 'headers'> = {}): void {
    if (this.#state === 'active') this.#session.refer(target, options)
  }

  /** Handles an event of the INVITE session, including those from before the leg was created. */
  handleSession(event: SessionEvent): void {
    if (event.type === 'ended') return void this.#onEnded(event.end)
    // After our own hang-up only the end and the result of a transfer matter.
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
      case 'refer-refused':
        return this.#events.emit({ ...event, target: event.target ?? null })
      case 'redirected':
        return this.#events.emit(event)
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
    // A far end that accepts the REFER without a subscription (RFC 4488) has taken over the transfer too.
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
          this.#failAndHangUp('media-lost', `no RTP was received for ${Math.round(event.forMs / 1000)} s`)
        return
      case 'remote-back':
        return
      default:
        return this.#events.emit(event)
    }
  }

  #unusable(detail: string): void {
    this.#ownFailure ??= { cause: 'media-refused', detail }
    // The exchange refuses an inbound INVITE with a status of its own; other calls are hung up.
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
        inviteSent: end.inviteLeft,
        confirmed: end.confirmed,
        byeStatus: end.byeStatus,
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
