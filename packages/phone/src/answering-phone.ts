import { type Ms, ParleyError } from '@parley/kernel'
import {
  ALL_NETWORKS,
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
import type { CallerStep } from './caller/caller-step.ts'
import type { CallerScript } from './caller-script.ts'
import { PhoneError } from './errors.ts'
import type { HeardLine } from './heard-transcript.ts'
import { PhoneCall } from './phone-call.ts'

export interface AnsweringPhoneOptions {
  /** The phone listens on TLS only. */
  readonly endpoint: Omit<EndpointOptions, 'guard' | 'onInvite' | 'udpPort' | 'tcpPort'>
  /** Realm of the digest challenge that every request outside a dialog gets. */
  readonly realm: string
  /** The one account that may call. */
  readonly credentials: Credentials
  /**
   * Loads the script for the called number (user part of the Request-URI); null: the number does not exist (404). The phone
   * rings until the script is ready, and answers 480 if loading fails.
   */
  readonly scriptFor: (number: string) => Promise<CallerScript> | null
  /** Recognises what the far end says. `language`: BCP 47. */
  readonly recogniser: SpeechToText
  readonly language: string
  /** Maximum of calls at once; a call beyond it is answered 486. Default 20. */
  readonly maxCalls?: number
  /** Time after which the phone hangs up. Default 10 minutes. */
  readonly maxCallMs?: Ms
  readonly onCall?: (call: AnsweredCall) => void
  /** Called when a step of a script begins. */
  readonly onStep?: (callId: string, description: string, step: CallerStep) => void
}

/** One call that reached the phone. */
export interface AnsweredCall {
  readonly callId: string
  /** `number`: the called number. `from`: user part of the From header; null: it has none. */
  readonly number: string
  readonly from: string | null
  /** Null until audio is agreed. */
  readonly transport: LegTransport | null
  /** Recognised speech of the far end so far. */
  readonly heardLines: readonly HeardLine[]
  /** Keys that the far end pressed so far. */
  readonly digits: string
  /** Resolves when the call is over; never rejects. `failure`: why the script stopped; null: it was played to its end. */
  readonly ended: Promise<{ readonly end: LegEnd; readonly failure: ParleyError | null }>
}

const MAX_CALLS = 20
const MAX_CALL_MS: Ms = 10 * 60_000
/** Little audio is stored, since the script only needs the recognised words. */
const MEMORY_MS: Ms = 1000

/**
 * A phone behind a trunk. It accepts many calls at once, only over TLS with digest credentials (RFC 8760) and SRTP, and plays the
 * script of a human caller on each. When a step fails, it hangs up.
 */
export class AnsweringPhone {
  readonly #options: AnsweringPhoneOptions
  #endpoint: Endpoint | null = null
  /** Number of calls whose media is being opened, that ring, or that are answered. */
  #live = 0

  private constructor(options: AnsweringPhoneOptions) {
    this.#options = options
  }

  /** Throws "address_in_use" and other listen errors, after closing everything that was opened before. */
  static async open(options: AnsweringPhoneOptions): Promise<AnsweringPhone> {
    const { realm, credentials } = options
    const passwordOf = (username: string) => (username === credentials.username ? credentials.password : undefined)
    const phone = new AnsweringPhone(options)
    phone.#endpoint = await Endpoint.open({
      ...options.endpoint,
      rtp: { localNetworks: ALL_NETWORKS, ...options.endpoint.rtp },
      udpPort: null,
      tcpPort: null,
      guard: () => ({ action: 'challenge', realm, passwordOf }),
      onInvite: session => void phone.#receive(session).catch(() => session.hangUp()),
    })
    return phone
  }

  /** The port on which it listens for TLS. */
  get port(): number {
    return this.#open.port('tls')
  }

  /** Number of current calls. */
  get calls(): number {
    return this.#live
  }

  /** Hangs up all calls and closes all sockets. */
  async close(): Promise<void> {
    await this.#endpoint?.close()
  }

  get #open(): Endpoint {
    if (this.#endpoint === null)
      throw new PhoneError('not_started', 'the phone is not open: await AnsweringPhone.open() first')
    return this.#endpoint
  }

  async #receive(session: InviteSession): Promise<void> {
    const { uri } = session.invite
    const number = isSipUri(uri) ? (uri.user ?? '') : ''
    const script = this.#options.scriptFor(number)
    if (script === null) return session.reject(404)
    // If the call is refused below, nothing awaits the script.
    script.catch(() => {})
    if (this.#live >= (this.#options.maxCalls ?? MAX_CALLS)) return session.reject(486)
    this.#live++
    try {
      const leg = await receiveLeg(this.#open, session, { security: 'srtp-required' })
      if (leg === null) return
      const call = new PhoneCall(leg, this.#open.time, { memoryMs: MEMORY_MS })
      leg.ring()
      const failure = this.#play(call, script)
      this.#options.onCall?.(this.#describe(call, number, failure))
      await call.ended
    } finally {
      this.#live--
    }
  }

  /** Resolves with null when the script was played to its end; never rejects. The call is then over or being hung up. */
  async #play(call: PhoneCall, loading: Promise<CallerScript>): Promise<ParleyError | null> {
    const { time } = this.#open
    const limit = time.at(time.now() + (this.#options.maxCallMs ?? MAX_CALL_MS), () => call.leg.hangUp())
    void call.ended.then(() => limit.cancel())
    try {
      const script = await loading.catch(error => {
        call.leg.reject(480)
        throw error
      })
      if (call.leg.state === 'ended') throw new PhoneError('call_ended', 'the caller hung up before the answer')
      call.setRecogniser(this.#options.recogniser, this.#options.language)
      call.leg.answer()
      const { callId } = call.leg
      await script.follow(call, { onStep: (description, step) => this.#options.onStep?.(callId, description, step) })
      return null
    } catch (error) {
      return error instanceof ParleyError ? error : new PhoneError('internal', String(error), { cause: error })
    } finally {
      call.leg.hangUp()
    }
  }

  #describe(call: PhoneCall, number: string, failure: Promise<ParleyError | null>): AnsweredCall {
    const ended = Promise.all([call.ended, failure]).then(([end, failure]) => ({ end, failure }))
    const { from } = call.leg.parties
    return {
      callId: call.leg.callId,
      number,
      from,
      ended,
      get transport() {
        return call.leg.transport
      },
      get heardLines() {
        return call.heardLines
      },
      get digits() {
        return call.digits
      },
    }
  }
}
