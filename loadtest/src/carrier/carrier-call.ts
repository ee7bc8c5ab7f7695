import type { Ms, Random, Time } from '@parley/kernel'
import type { MediaParameters, MediaPlane, MediaSession } from '@parley/media'
import {
  type Body,
  type DialogSnapshot,
  type InviteSession,
  isSipUri,
  parseUri,
  type SessionEvent,
  SipStateError,
} from '@parley/sip'
import { AudioAgreement } from './audio-agreement.ts'
import type { CallWatch } from './call-watch.ts'
import { MEDIA_SILENCE_MS, MediaWatch } from './media-watch.ts'
import type { CarrierRefer, CarrierReinvite, NumberRule } from './number-plan.ts'

/** Dependencies of every call of a carrier. */
export interface CallPlant {
  readonly time: Time
  readonly random: Random
  readonly watch: CallWatch
  /** null: session descriptions are answered with the discard port, and no media is sent or received. */
  readonly plane: MediaPlane | null
  readonly security: 'srtp-required' | 'rtp-only'
  readonly tone: boolean
  /** Address in session descriptions without a plane. */
  readonly address: string
  /** Reports misbehaviour of the far end. */
  readonly log: (event: string, detail: string) => void
}

const DISCARD_PORT = 9

/** Actions after the call is established. */
export interface CallProgramme {
  readonly refer?: CarrierRefer | undefined
  readonly reinvite?: CarrierReinvite | undefined
  readonly hangUpAfterMs?: Ms | undefined
}

/** One call's media session: opened, but silent until offer and answer are exchanged. */
interface AudioEnd {
  readonly agreement: AudioAgreement
  readonly session: MediaSession | null
}

export async function openAudio(plant: CallPlant, label: string): Promise<AudioEnd> {
  const { plane, security, address, random } = plant
  const session = (await plane?.open({ label, inBandDigits: 'off', silentRemoteAfterMs: MEDIA_SILENCE_MS })) ?? null
  const local = session?.local ?? { address, port: DISCARD_PORT }
  return { session, agreement: new AudioAgreement({ ...local, security }, random) }
}

/** One INVITE session with its audio, in either direction, which follows the rule of its number. */
export class CarrierCall {
  readonly #plant: CallPlant
  readonly #session: InviteSession
  #audio: AudioEnd | null = null
  #media: MediaWatch | null = null
  #playing = false
  #confirmed = false
  /** Actions after the call is established. */
  #then: CallProgramme = {}
  readonly #ended = Promise.withResolvers<void>()

  private constructor(plant: CallPlant, session: InviteSession) {
    this.#plant = plant
    this.#session = session
    session.onEvent(event => this.#attempt(() => this.#onEvent(event)))
  }

  /** Handles an inbound INVITE, synchronously, according to `rule`. */
  static receive(plant: CallPlant, session: InviteSession, rule: NumberRule): CarrierCall {
    const call = new CarrierCall(plant, session)
    const { behaviour, ringAfterMs } = rule
    const waits = behaviour.do === 'ring' ? Number.POSITIVE_INFINITY : 'afterMs' in behaviour ? behaviour.afterMs : 0
    if (ringAfterMs === 0) session.progress(180)
    else if (ringAfterMs !== null && ringAfterMs < waits) call.#later(ringAfterMs, () => call.#ring())
    if (waits !== Number.POSITIVE_INFINITY) call.#later(waits, () => call.#settle(rule))
    return call
  }

  /** Follows an INVITE that was sent with the offer of `audio`. */
  static follow(plant: CallPlant, session: InviteSession, audio: AudioEnd, programme: CallProgramme): CarrierCall {
    const call = new CarrierCall(plant, session)
    call.#use(audio)
    call.#then = programme
    return call
  }

  get callId(): string {
    return this.#session.callId
  }

  /** Our side of the dialog, as of now; null before there is one. */
  get dialog(): DialogSnapshot | null {
    return this.#session.dialog ?? null
  }

  get state(): InviteSession['state'] {
    return this.#session.state
  }

  hangUp(): void {
    this.#session.hangUp()
  }

  /** Resolves when the session is over and its media closed; never rejects. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  #ring(): void {
    if (this.#session.state === 'incoming') this.#session.progress(180)
  }

  #settle({ behaviour }: NumberRule): void {
    const session = this.#session
    if (session.state !== 'incoming' && session.state !== 'early') return
    switch (behaviour.do) {
      case 'answer':
        this.#then = behaviour
        void this.#answer()
        return
      case 'refuse': {
        const { status, retryAfterS } = behaviour
        return session.reject(status, retryAfterS === undefined ? {} : { retryAfterS })
      }
      case 'redirect':
        // The watch adds the Contact, because the user agent cannot send a foreign one.
        return session.reject(302)
    }
  }

  async #answer(): Promise<void> {
    try {
      const audio = await openAudio(this.#plant, this.#session.callId)
      const { state, invite } = this.#session
      // The caller cancelled while the port was opened.
      if (state !== 'incoming' && state !== 'early') return void (await audio.session?.close())
      this.#use(audio)
      if (invite.body.length === 0) return this.#session.answer(audio.agreement.offer())
      const answer = audio.agreement.answer(bodyOf(this.#session))
      if (!answer.ok) {
        this.#plant.log('offer_refused', answer.detail)
        return this.#session.reject(answer.status)
      }
      this.#session.answer(answer.body)
      this.#apply(answer.parameters)
    } catch (error) {
      this.#plant.log('answer_failed', String(error))
      this.#attempt(() => this.#session.reject(500))
    }
  }

  #use(audio: AudioEnd): void {
    const { watch, tone } = this.#plant
    const { invite } = this.#session
    this.#audio = audio
    if (audio.session === null) return
    this.#media = new MediaWatch({
      session: audio.session,
      tone,
      now: () => watch.now(),
      first: (atMs, packets) => watch.note(invite, 'media-first-packet', { atMs, detail: `packet ${packets}` }),
      last: (atMs, packets) => watch.note(invite, 'media-last-packet', { atMs, detail: `${packets} packets` }),
    })
  }

  #onEvent(event: SessionEvent): void {
    switch (event.type) {
      case 'progress':
        return this.#apply(this.#audio?.agreement.accept(event.body) ?? null)
      case 'answered':
        return this.#standsWith(event.body)
      case 'acknowledged':
        return this.#standsWith(event.body)
      case 'offer':
        return this.#onOffer(event.body)
      case 'offer-answered':
      case 'reoffer-answered':
        return this.#apply(this.#audio?.agreement.accept(event.body) ?? null)
      case 'refresh':
        return this.#reinvite()
      case 'refer-result':
        return this.#session.hangUp()
      case 'ended':
        void this.#end(event.end.confirmed ? undefined : `unconfirmed: ${event.end.detail}`)
    }
  }

  /** The dialog is confirmed: the answer came, or the ACK to ours. */
  #standsWith(answer: Body | undefined): void {
    const agreed = this.#audio?.agreement.accept(answer) ?? null
    this.#apply(agreed)
    if (this.#confirmed) return
    this.#confirmed = true
    if (!this.#playing) {
      this.#plant.log('no_audio_agreed', this.#session.callId)
      return this.#session.hangUp()
    }
    const { refer, reinvite, hangUpAfterMs } = this.#then
    if (refer !== undefined) this.#later(refer.afterMs ?? 0, () => this.#refer(refer.to))
    if (reinvite !== undefined) this.#reinvites(reinvite)
    if (hangUpAfterMs !== undefined) this.#later(hangUpAfterMs, () => this.#session.hangUp())
  }

  #reinvites({ afterMs = 0, times = 1, everyMs = 1000 }: CarrierReinvite): void {
    for (let again = 0; again < times; again++) this.#later(afterMs + again * everyMs, () => this.#reinvite())
  }

  #reinvite(): void {
    if (this.#audio !== null && this.#session.state === 'confirmed')
      this.#session.reoffer(this.#audio.agreement.offer())
  }

  #refer(to: string): void {
    const target = parseUri(to)
    if (target === undefined || !isSipUri(target) || this.#session.state !== 'confirmed') return
    this.#session.refer(target)
  }

  #onOffer(offer: Body | undefined): void {
    const agreement = this.#audio?.agreement
    if (agreement === undefined) return this.#session.rejectOffer(488)
    if (offer === undefined) return this.#session.acceptOffer(agreement.offer())
    const answer = agreement.answer(offer)
    if (!answer.ok) return this.#session.rejectOffer(answer.status)
    this.#session.acceptOffer(answer.body)
    this.#apply(answer.parameters)
  }

  #apply(parameters: MediaParameters | null): void {
    if (parameters === null) return
    this.#audio?.session?.apply(parameters)
    if (!this.#playing) this.#media?.play()
    this.#playing = true
  }

  async #end(unconfirmed: string | undefined): Promise<void> {
    const { watch, log } = this.#plant
    watch.over(this.#session.invite, unconfirmed)
    try {
      await this.#media?.close()
    } catch (error) {
      log('media_close_failed', String(error))
    }
    this.#ended.resolve()
  }

  #later(afterMs: Ms, act: () => void): void {
    const { time } = this.#plant
    time.at(time.now() + afterMs, () => {
      if (this.#session.state !== 'terminating' && this.#session.state !== 'terminated') this.#attempt(act)
    })
  }

  /** The far end may have changed the state meanwhile; so a command that is no longer allowed is logged and skipped. */
  #attempt(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#plant.log(error instanceof SipStateError ? 'too_late' : 'call_failed', String(error))
      if (!(error instanceof SipStateError)) this.#session.hangUp()
    }
  }
}

function bodyOf({ invite }: InviteSession): Body {
  return { contentType: invite.headers.get('Content-Type') ?? 'application/sdp', bytes: invite.body }
}
