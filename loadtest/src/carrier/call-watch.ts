import type { Ms, Time, UnixMs } from '@parley/kernel'
import { type SipMessage, type SipRequest, type SipResponse, tagOf } from '@parley/sip'
import type { CarrierLedger } from './carrier-ledger.ts'
import type { DigestGate } from './digest-gate.ts'
import type { CarrierDirection, CarrierLedgerEntry, CarrierLedgerKind } from './ledger-entry.ts'
import type { NumberPlan, NumberRule } from './number-plan.ts'
import { aboutOf, calledIn, contactAt, customHeaders, cut, keyOf, type Line, lineOf, targetOf } from './wire-facts.ts'
import type { FarEnd, WireObserver } from './wire-tap.ts'

/** State of one accepted or outgoing call. */
interface WatchedCall {
  readonly key: string
  readonly direction: CarrierDirection
  readonly rule: NumberRule | null
  readonly about: Pick<CarrierLedgerEntry, 'call_id' | 'from' | 'to' | 'called'>
  authenticated: boolean
  /** Facts of the latest INVITE of the call. */
  cseq: number
  branch: string
  source: string
  /** Kinds already written: each is written once per call, `invite` once per branch. */
  readonly written: Set<string>
  /** Tag of the callee in the newest response to the INVITE; null before the first. */
  calleeTag: string | null
  doneAt: Ms | null
}

interface CallWatchOptions {
  readonly time: Time
  /** Wall clock at `time.now()` 0. */
  readonly wallAtZero: UnixMs
  readonly ledger: CarrierLedger
  readonly plan: NumberPlan
  readonly gate: DigestGate | null
  /** Most calls watched at once; further INVITEs are dropped without a response and counted. */
  readonly most: number
}

/** Longer than a transaction may retransmit (64*T1). */
const REMEMBERED_MS: Ms = 40_000
/** Timer B (RFC 3261 section 17.1.1.2). */
const CALLER_GIVES_UP_MS: Ms = 32_000
/** Most kinds and branches of one call; further INVITEs of the call are ignored. */
const MAX_WRITTEN = 64

/** Writes the ledger from the messages on the wire, and challenges INVITEs before the user agent receives them. */
export class CallWatch implements WireObserver {
  readonly #options: CallWatchOptions
  readonly #startedAt: Ms
  readonly #calls = new Map<string, WatchedCall>()
  /** Ended calls, oldest first. */
  #done: WatchedCall[] = []
  #dropped = 0

  constructor(options: CallWatchOptions) {
    this.#options = options
    this.#startedAt = options.time.now()
  }

  /** INVITEs dropped because too many calls were watched; if it is not 0, the ledger is incomplete. */
  get dropped(): number {
    return this.#dropped
  }

  /** Milliseconds on the ledger's clock. */
  now(): Ms {
    return this.#options.time.now() - this.#startedAt
  }

  ruleOf(invite: SipRequest): NumberRule | undefined {
    return this.#of(invite)?.rule ?? undefined
  }

  /** Writes a row that signalling does not show: media, and the outcome of a transfer. `request`: any request of the call. */
  note(request: SipRequest, kind: CarrierLedgerKind, more: RowDetail = {}): void {
    const call = this.#of(request)
    // Rows of media carry the facts of the latest INVITE.
    const line = request.method === 'INVITE' ? call : { ...lineOf(request, null), source: call?.source ?? '' }
    if (call !== undefined && line !== undefined) this.#append(call, kind, line, more)
  }

  /** The user agent has ended the call, so its state may be dropped. `unconfirmed`: how it ended, if the wire does not show it. */
  over(invite: SipRequest, unconfirmed: string | undefined): void {
    const call = this.#of(invite)
    if (call === undefined) return
    if (unconfirmed !== undefined) this.#end(call, call, unconfirmed)
    this.#markDone(call)
  }

  incoming(message: SipMessage, from: FarEnd): ReturnType<WireObserver['incoming']> {
    if (message.kind === 'response') {
      const call = this.#of(message)
      if (call !== undefined) this.#response(call, message)
      return 'pass'
    }
    if (message.method === 'INVITE' && tagOf(message.to) === undefined) return this.#invited(message, from)
    const call = this.#of(message)
    if (call === undefined) return 'pass'
    if (call.rule?.behaviour.do === 'ignore') return 'drop'
    const line = lineOf(message, from)
    if (message.method === 'CANCEL') this.#write(call, 'cancel', line)
    if (message.method === 'BYE' && isOfDialog(call, message)) this.#write(call, 'bye-received', line)
    if (message.method === 'REFER') this.#referred(call, 'refer-received', message, line)
    if (message.method === 'ACK') this.#acknowledged(call, message, line)
    return 'pass'
  }

  outgoing(message: SipMessage, to: FarEnd): ReturnType<WireObserver['outgoing']> {
    if (message.kind === 'request') {
      if (message.method === 'INVITE' && tagOf(message.to) === undefined) this.#inviting(message, to)
      const call = this.#of(message)
      if (call === undefined) return 'pass'
      if (message.method === 'CANCEL') this.#write(call, 'cancel', lineOf(message, to))
      if (message.method === 'BYE') this.#write(call, 'bye-sent', lineOf(message, to))
      if (message.method === 'REFER') this.#referred(call, 'refer-sent', message, lineOf(message, to))
      if (message.method === 'ACK') this.#acknowledged(call, message, lineOf(message, to))
      return 'pass'
    }
    const call = this.#of(message)
    if (call === undefined) return 'pass'
    const { rule } = call
    const mute = rule?.behaviour.do === 'answer' && rule.behaviour.byes === 'unanswered'
    if (mute && message.cseq.method === 'BYE') return 'withhold'
    this.#response(call, message)
    if (message.status === 302 && rule?.behaviour.do === 'redirect') {
      return { instead: { ...message, contact: contactAt(rule.behaviour.contact) } }
    }
    return 'pass'
  }

  #invited(request: SipRequest, from: FarEnd): ReturnType<WireObserver['incoming']> {
    const { plan, gate } = this.#options
    const line = lineOf(request, from)
    const known = this.#of(request)
    const rule = known?.rule ?? plan.ruleOf(calledIn(request))
    // A retransmitted INVITE: the user agent handles it.
    if (known?.written.has(`invite ${line.branch}`)) return rule.behaviour.do === 'ignore' ? 'drop' : 'pass'
    const outcome = gate?.check(request)
    if (outcome?.proven === false) {
      this.#challenged(request, line, outcome.why, outcome.response.status)
      return { answer: outcome.response }
    }
    const call = known ?? this.#add(request, 'to-carrier', rule)
    if (call === undefined || call.written.size > MAX_WRITTEN) return 'drop'
    this.#beginWith(call, request, line, outcome !== undefined)
    if (rule.behaviour.do !== 'ignore') return 'pass'
    const { time } = this.#options
    // A caller without any response has given up by then and may not send CANCEL (RFC 3261 section 9.1).
    if (known === undefined) time.at(time.now() + CALLER_GIVES_UP_MS, () => this.#end(call, line, 'never answered'))
    return 'drop'
  }

  #inviting(request: SipRequest, to: FarEnd): void {
    const call = this.#of(request) ?? this.#add(request, 'from-carrier', null)
    const line = lineOf(request, to)
    if (call === undefined || call.written.has(`invite ${line.branch}`)) return
    const proves = request.headers.has('Authorization') || request.headers.has('Proxy-Authorization')
    this.#beginWith(call, request, line, proves)
  }

  #beginWith(call: WatchedCall, request: SipRequest, line: Line, authenticated: boolean): void {
    call.authenticated = authenticated
    Object.assign(call, line)
    call.written.add(`invite ${line.branch}`)
    this.#append(call, 'invite', line, { headers: customHeaders(request.headers) })
  }

  #challenged(request: SipRequest, line: Line, why: string, status: number): void {
    const stranger = {
      key: keyOf(request),
      direction: 'to-carrier',
      about: aboutOf(request),
      authenticated: false,
    } as const
    this.#append(stranger, 'challenged', line, { status, detail: why, headers: customHeaders(request.headers) })
  }

  /** Handles a response to a request of the call, in either direction. */
  #response(call: WatchedCall, response: SipResponse): void {
    const { status, cseq } = response
    const line = { ...lineOf(response, null), source: call.source }
    if (cseq.method === 'BYE' && status >= 200 && isOfDialog(call, response))
      this.#end(call, line, `bye answered ${status}`)
    if (cseq.method === 'REFER' && status >= 200 && call.written.has(`refer ${line.branch}`))
      this.#once(call, `refer-answered ${line.branch}`, 'refer-answered', line, { status })
    if (cseq.method !== 'INVITE' || cseq.sequence !== call.cseq || call.written.has('answered')) return
    if (status > 100) call.calleeTag = tagOf(response.to) ?? null
    if (status > 100 && status < 200) this.#write(call, 'ringing', line, { status })
    else if (status >= 200 && status < 300) this.#write(call, 'answered', line, { status })
    else if (call.direction === 'from-carrier' && (status === 401 || status === 407)) {
      this.#write(call, 'challenged', line, { status })
    } else if (status >= 300) {
      this.#write(call, 'refused', line, { status })
      this.#end(call, line, `refused ${status}`)
    }
  }

  /** An ACK to the 2xx of the INVITE; one to a refusal is ignored. */
  #acknowledged(call: WatchedCall, ack: SipRequest, line: Line): void {
    if (call.written.has('answered') && ack.cseq.sequence === call.cseq && isOfDialog(call, ack))
      this.#write(call, 'acknowledged', line)
  }

  #end(call: WatchedCall, line: Line, detail: string): void {
    this.#write(call, 'ended', line, { detail })
  }

  #referred(call: WatchedCall, kind: 'refer-received' | 'refer-sent', refer: SipRequest, line: Line): void {
    if (call.written.size > MAX_WRITTEN) return
    const target = targetOf(refer)
    this.#once(call, `refer ${line.branch}`, kind, line, { ...(target !== null && { target: cut(target) }) })
  }

  #write(call: WatchedCall, kind: CarrierLedgerKind, line: Line, more: RowDetail = {}): void {
    this.#once(call, kind, kind, line, more)
  }

  /** Writes a row once per `key`. */
  #once(call: WatchedCall, key: string, kind: CarrierLedgerKind, line: Line, more: RowDetail): void {
    if (call.written.has(key)) return
    call.written.add(key)
    this.#append(call, kind, line, more)
    if (kind === 'ended') this.#markDone(call)
  }

  #markDone(call: WatchedCall): void {
    if (call.doneAt !== null) return
    call.doneAt = this.#options.time.now()
    this.#done.push(call)
  }

  #append(
    call: Pick<WatchedCall, 'key' | 'direction' | 'about' | 'authenticated'>,
    kind: CarrierLedgerKind,
    { cseq, branch, source }: Line,
    { atMs = this.now(), ...more }: RowDetail,
  ): void {
    this.#options.ledger.append({
      at_ms: atMs,
      wall_ms: this.#options.wallAtZero + this.#startedAt + atMs,
      kind,
      direction: call.direction,
      call: call.key,
      ...call.about,
      cseq,
      branch,
      source,
      authenticated: call.authenticated,
      ...more,
    })
  }

  #add(invite: SipRequest, direction: CarrierDirection, rule: NumberRule | null): WatchedCall | undefined {
    this.#forget()
    if (this.#calls.size >= this.#options.most) {
      this.#dropped++
      return undefined
    }
    const call: WatchedCall = {
      key: keyOf(invite),
      direction,
      rule,
      about: aboutOf(invite),
      authenticated: false,
      cseq: invite.cseq.sequence,
      branch: '',
      source: '',
      written: new Set(),
      calleeTag: null,
      doneAt: null,
    }
    this.#calls.set(call.key, call)
    return call
  }

  #forget(): void {
    const before = this.#options.time.now() - REMEMBERED_MS
    let over = 0
    while (over < this.#done.length && this.#done[over]!.doneAt! < before) this.#calls.delete(this.#done[over++]!.key)
    if (over > 0) this.#done = this.#done.slice(over)
  }

  /** The call that a message belongs to: the caller's tag is in From, or in what the callee sends in To. */
  #of({ callId, from, to }: SipMessage): WatchedCall | undefined {
    return this.#calls.get(`${callId} ${tagOf(from) ?? ''}`) ?? this.#calls.get(`${callId} ${tagOf(to) ?? ''}`)
  }
}

interface RowDetail extends Pick<CarrierLedgerEntry, 'status' | 'target' | 'detail' | 'headers'> {
  readonly atMs?: Ms
}

/** Whether a message has both tags of the call's dialog; a BYE with other tags does not end the call. */
function isOfDialog(call: WatchedCall, { from, to }: SipMessage): boolean {
  const tags = [tagOf(from), tagOf(to)]
  return call.calleeTag === null || tags.includes(call.calleeTag)
}
