import type { Ms, Random, Time, UnixMs } from '@parley/kernel'
import type { MediaPlane } from '@parley/media'
import {
  type Credentials,
  type HeaderPairs,
  isSipUri,
  type LogEntry,
  type NameAddr,
  parseUri,
  type SipTransport,
  type SipUri,
  type Uri,
  UserAgent,
} from '@parley/sip'
import { LoadtestError } from '../errors.ts'
import { CallWatch } from './call-watch.ts'
import { type CallPlant, type CallProgramme, CarrierCall, openAudio } from './carrier-call.ts'
import type { CarrierLedger } from './carrier-ledger.ts'
import { type DigestAccount, DigestGate } from './digest-gate.ts'
import { NumberPlan, type NumberRuleInput } from './number-plan.ts'
import { type TransferPolicy, TransferTap } from './transfer-tap.ts'
import { WireTap } from './wire-tap.ts'

export interface CarrierOptions {
  readonly time: Time
  /** Wall clock at `time.now()` 0. */
  readonly wallAtZero: UnixMs
  readonly random: Random
  readonly transport: SipTransport
  /** null: no media at all. */
  readonly plane: MediaPlane | null
  readonly security: 'srtp-required' | 'rtp-only'
  /** Audio that is sent on answered calls; default silence. */
  readonly play?: 'silence' | 'tone'
  /** Address for session descriptions where there is no plane, and of the carrier's own URIs. */
  readonly address: string
  readonly digest: DigestAccount | null
  readonly numbers: readonly NumberRuleInput[]
  readonly ledger: CarrierLedger
  /** Handling of REFER: "take" calls its target according to `numbers`; a number is the status that refuses it. Default 403. */
  readonly transfers?: TransferPolicy
  /** Calls at once; one more is answered 503. Default 5000. */
  readonly mostCalls?: number
  readonly log?: (entry: LogEntry) => void
}

/** A call from the carrier to the engine. */
interface CarrierDial extends CallProgramme {
  /** SIP URI of the engine: `sip:<token>@host:5061;transport=tls`. */
  readonly uri: string
  /** Caller, a number or a SIP URI. */
  readonly from: string
  /** Called number, in To; default: To is `uri`. */
  readonly called?: string
  readonly headers?: HeaderPairs
  readonly credentials?: Credentials
  readonly ringTimeoutMs?: Ms
}

const MAX_CALLS = 5000
/** Watched calls per live call: ended calls are remembered for 40 s. */
const WATCHED_PER_CALL = 40

/** A carrier on any transport and clock: answers calls by rule, places calls, and records what was on the wire. */
export class Carrier {
  readonly ledger: CarrierLedger
  readonly #plant: CallPlant
  readonly #watch: CallWatch
  readonly #userAgent: UserAgent
  readonly #calls = new Set<CarrierCall>()
  readonly #address: string

  constructor(options: CarrierOptions) {
    const { time, random, plane, security, address, digest, ledger, mostCalls = MAX_CALLS } = options
    this.ledger = ledger
    this.#address = address
    const plan = new NumberPlan(options.numbers)
    this.#watch = new CallWatch({
      time,
      wallAtZero: options.wallAtZero,
      ledger,
      plan,
      gate: digest === null ? null : new DigestGate(digest, time, random),
      most: mostCalls * WATCHED_PER_CALL,
    })
    const log = (event: string, detail: string) => options.log?.({ level: 'warn', event, detail })
    const tone = options.play === 'tone'
    this.#plant = { time, random, watch: this.#watch, plane, security, tone, address, log }
    this.#userAgent = new UserAgent({
      time,
      random,
      transport: this.#transport(options, plan),
      // The watch has already checked the credentials on the wire.
      guard: () => ({ action: 'accept' }),
      onInvite: session => {
        const rule = this.#watch.ruleOf(session.invite)
        if (rule === undefined) return session.reject(500)
        this.#keep(CarrierCall.receive(this.#plant, session, rule))
      },
      userAgentName: 'parley-test-carrier',
      limits: {
        sessions: mostCalls,
        serverTransactions: mostCalls * WATCHED_PER_CALL,
        serverTransactionsPerFlow: mostCalls * WATCHED_PER_CALL,
        clientTransactions: mostCalls * 4,
      },
      ...(options.log && { log: options.log }),
    })
  }

  /** Places a call; the ledger records its outcome. Rejects with "bad_uri", or with an error of the media plane ("too_many_sessions"). */
  async call(dial: CarrierDial): Promise<CarrierCall> {
    const uri = sipUri(dial.uri)
    const from = dial.from.includes(':') ? sipUri(dial.from) : this.#numberAt(dial.from, this.#address, undefined)
    const audio = await openAudio(this.#plant, `to ${uri.user ?? ''}`)
    try {
      const session = this.#userAgent.invite({
        uri,
        from: address(from),
        body: audio.agreement.offer(),
        ...(dial.called !== undefined && { to: address(this.#numberAt(dial.called, uri.host, uri.port)) }),
        ...(dial.headers && { headers: dial.headers }),
        ...(dial.credentials && { credentials: dial.credentials }),
        ...(dial.ringTimeoutMs !== undefined && { ringTimeoutMs: dial.ringTimeoutMs }),
      })
      return this.#keep(CarrierCall.follow(this.#plant, session, audio, dial))
    } catch (error) {
      await audio.session?.close()
      throw error
    }
  }

  /** Milliseconds on the ledger's clock, `at_ms` of a row written now. */
  now(): Ms {
    return this.#watch.now()
  }

  get liveCalls(): number {
    return this.#calls.size
  }

  /** INVITEs dropped because too many calls were watched; if not 0, the ledger is incomplete. */
  get droppedInvites(): number {
    return this.#watch.dropped
  }

  /** Hangs up everything; resolves when every call is over, after 32 s at the latest. Idempotent. */
  async close(): Promise<void> {
    const over = [...this.#calls].map(call => call.ended)
    await this.#userAgent.close()
    await Promise.all(over)
  }

  #transport({ transport, transfers, time, random }: CarrierOptions, plan: NumberPlan): SipTransport {
    const tapped = new WireTap(transport, this.#watch)
    if (transfers === undefined) return tapped
    return new TransferTap(tapped, {
      policy: transfers,
      time,
      random,
      dialogOf: callId => [...this.#calls].find(call => call.callId === callId)?.dialog ?? null,
      ruleOf: called => plan.ruleOf(called),
      onOutcome: (refer, target, status) => this.#watch.note(refer, 'transferred', { target, status }),
    })
  }

  #keep(call: CarrierCall): CarrierCall {
    this.#calls.add(call)
    void call.ended.then(() => this.#calls.delete(call))
    return call
  }

  #numberAt(user: string, host: string, port: number | undefined): SipUri {
    return { scheme: 'sip', user, password: undefined, host, port, params: new Map(), headers: [] }
  }
}

function sipUri(text: string): SipUri {
  const uri = parseUri(text)
  if (uri === undefined || !isSipUri(uri))
    throw new LoadtestError('bad_uri', `"${text.slice(0, 128)}" is not a SIP URI`)
  return uri
}

function address(uri: Uri): NameAddr {
  return { displayName: undefined, uri, params: new Map() }
}
