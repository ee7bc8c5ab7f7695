import { type Ms, ParleyError } from '@parley/kernel'
import {
  type Credentials,
  Endpoint,
  type EndpointOptions,
  type InviteSession,
  type LegEnd,
  type LegTransport,
  receiveLeg,
} from '@parley/leg'
import type { SpeechToText } from '@parley/providers'
import { isSipUri } from '@parley/sip'
import type { CallerScript, CallerStep } from './caller-script.ts'
import type { HeardLine } from './heard-transcript.ts'
import { PhoneCall } from './phone-call.ts'

export interface AnsweringPhoneOptions {
  /** It listens on TLS alone. */
  readonly endpoint: Omit<EndpointOptions, 'guard' | 'onInvite' | 'udpPort' | 'tcpPort'>
  /** Realm of the digest challenge that every request outside a dialog gets. */
  readonly realm: string
  /** The one account that may call. */
  readonly credentials: Credentials
  /**
   * The part to play for the number that was called, the user part of the Request-URI; null: nobody has that number
   * (404). It rings until the part is ready; 480 where it cannot be had.
   */
  readonly partFor: (number: string) => Promise<CallerScript> | null
  /** What it understands the far end with. `language`: BCP 47. */
  readonly recogniser: SpeechToText
  readonly language: string
  /** Calls at once; another is busy (486). Default 20. */
  readonly maxCalls?: number
  /** It hangs up on a call that is older than this. Default 10 minutes. */
  readonly maxCallMs?: Ms
  readonly onCall?: (call: AnsweredCall) => void
  /** Told of each step of a part as it begins. */
  readonly onStep?: (callId: string, description: string, step: CallerStep) => void
}

/** One call that reached the phone. */
export interface AnsweredCall {
  readonly callId: string
  /** What was called, and who calls as far as From says; null: it does not. */
  readonly number: string
  readonly from: string | null
  /** Null until audio is agreed. */
  readonly transport: LegTransport | null
  /** What the far end said so far, as the phone understood it. */
  readonly heardLines: readonly HeardLine[]
  /** Resolves when the call is over; never rejects. `failure`: where the part could not be played to its end. */
  readonly ended: Promise<{ readonly end: LegEnd; readonly failure: ParleyError | null }>
}

const MAX_CALLS = 20
const MAX_CALL_MS: Ms = 10 * 60_000
/** Nobody listens to the audio again: the part is played by what was understood. */
const MEMORY_MS: Ms = 1000

/**
 * A phone behind a trunk: takes calls over TLS from whoever proves to know the password (RFC 8760), with SRTP alone, and
 * plays a scripted human's part on each, many at once. When the part cannot go on it hangs up.
 */
export class AnsweringPhone {
  readonly #options: AnsweringPhoneOptions
  #endpoint: Endpoint | null = null
  /** Being opened, ringing or talking. */
  #live = 0

  private constructor(options: AnsweringPhoneOptions) {
    this.#options = options
  }

  /** Throws "address_in_use" and the like, with nothing left open. */
  static async open(options: AnsweringPhoneOptions): Promise<AnsweringPhone> {
    const { realm, credentials } = options
    const passwordOf = (username: string) => (username === credentials.username ? credentials.password : undefined)
    const phone = new AnsweringPhone(options)
    phone.#endpoint = await Endpoint.open({
      ...options.endpoint,
      udpPort: null,
      tcpPort: null,
      guard: () => ({ action: 'challenge', realm, passwordOf }),
      onInvite: session => void phone.#receive(session).catch(() => session.hangUp()),
    })
    return phone
  }

  /** The port of its TLS. */
  get port(): number {
    return this.#open.port('tls')
  }

  /** Calls that it has now. */
  get calls(): number {
    return this.#live
  }

  /** Hangs up everything and leaves nothing open. */
  async close(): Promise<void> {
    await this.#endpoint?.close()
  }

  get #open(): Endpoint {
    if (this.#endpoint === null) throw new ParleyError('not_started', 'the phone is not open yet')
    return this.#endpoint
  }

  async #receive(session: InviteSession): Promise<void> {
    const { uri } = session.invite
    const number = isSipUri(uri) ? (uri.user ?? '') : ''
    const part = this.#options.partFor(number)
    if (part === null) return session.reject(404)
    // Where the call is refused below nobody waits for it.
    part.catch(() => {})
    if (this.#live >= (this.#options.maxCalls ?? MAX_CALLS)) return session.reject(486)
    this.#live++
    try {
      const leg = await receiveLeg(this.#open, session, { security: 'srtp-required' })
      if (leg === null) return
      const call = new PhoneCall(leg, this.#open.time, MEMORY_MS)
      leg.ring()
      const failure = this.#play(call, part)
      this.#options.onCall?.(this.#told(call, number, failure))
      await call.ended
    } finally {
      this.#live--
    }
  }

  /** Null when the part was played to its end; never rejects. The call is over then, or being ended. */
  async #play(call: PhoneCall, part: Promise<CallerScript>): Promise<ParleyError | null> {
    const { time } = this.#open
    const limit = time.at(time.now() + (this.#options.maxCallMs ?? MAX_CALL_MS), () => call.leg.hangUp())
    void call.ended.then(() => limit.cancel())
    try {
      const script = await part.catch(error => {
        call.leg.reject(480)
        throw error
      })
      if (call.leg.state === 'ended') throw new ParleyError('call_ended', 'the caller gave up while it rang')
      call.understand(this.#options.recogniser, this.#options.language)
      call.leg.answer()
      const { callId } = call.leg
      await script.follow(call, { onStep: (description, step) => this.#options.onStep?.(callId, description, step) })
      return null
    } catch (error) {
      return error instanceof ParleyError ? error : new ParleyError('internal', String(error), { cause: error })
    } finally {
      call.leg.hangUp()
    }
  }

  #told(call: PhoneCall, number: string, failure: Promise<ParleyError | null>): AnsweredCall {
    const ended = Promise.all([call.ended, failure]).then(([end, failure]) => ({ end, failure }))
    const { from } = call.leg.parties
    return {
      ...{ callId: call.leg.callId, number, from, ended },
      get transport() {
        return call.leg.transport
      },
      get heardLines() {
        return call.heardLines
      },
    }
  }
}
