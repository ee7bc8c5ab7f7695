import { type Ms, randomBelow, type Timer } from '@parley/kernel'
import { readBindingAnswer, stunBindingRequest } from '../../transport/stun.ts'
import type { Flow } from '../../transport/transport.ts'
import type { UaContext } from '../ua-context.ts'

/** Address translators forget a UDP path sooner than any other (RFC 5626 section 4.4.2: 24 to 29 s). */
const UDP_MS: Ms = 29_000
/** A registrar that asks for more than this gets no more. */
const LEAST_MS: Ms = 5_000
/** RFC 5626 section 4.4: the interval is drawn anew from 80 to 100 % of its upper bound. */
const LEAST_SHARE = 0.8
const CRLF_CRLF = new TextEncoder().encode('\r\n\r\n')
/** RFC 8489 section 6.2.1: a request is sent seven times, each wait twice as long as the one before; the last one lasts 16 of the first. */
const STUN_RTO_MS: Ms = 500
const STUN_SENDS = 7
const STUN_LAST_WAIT_MS: Ms = 16 * STUN_RTO_MS

/** What the registrar said of its end of the flow, and the trunk's own setting. */
interface KeepAliveTerms {
  /** `Flow-Timer` in seconds (RFC 5626 section 10): it takes the flow for dead when it hears nothing for this long. */
  readonly flowTimerS: number | undefined
  /** It keeps flows (`Require: outbound`), and so answers STUN on its SIP port. */
  readonly isOutbound: boolean
  /** What the trunk asks for besides. */
  readonly keepAliveMs: Ms | undefined
}

interface KeptFlow {
  readonly flow: Flow
  /** Upper bound of the time between two keep-alives. */
  readonly withinMs: Ms
  readonly isOutbound: boolean
  /** Our address as the registrar sees it; null: it has not said. */
  mapped: string | null
}

/**
 * Keeps the path of a registration open (RFC 5626 section 4.4). Connections have keep-alives of their own, which a `Flow-Timer`
 * makes more frequent. Over UDP it sends CRLF CRLF, which every server ignores, and to a registrar that keeps flows STUN binding
 * requests: the flow is lost when the registrar sees us at another address, answers with an error, or, having answered before,
 * answers no more.
 */
export class FlowKeepAlive {
  readonly #ctx: UaContext
  readonly #onLost: (why: string) => void
  /** The registrar answered STUN once. One that never does is no reason to doubt the path: a refresh finds a registrar that is gone. */
  #answersStun = false
  #timer: Timer | undefined
  #endWait: (() => void) | undefined

  /** `onLost`: the registrar's calls do not reach us over the flow; nothing more is sent on it. */
  constructor(ctx: UaContext, onLost: (why: string) => void) {
    this.#ctx = ctx
    this.#onLost = onLost
  }

  /** From now on this flow is kept, and no other. The registrar has just answered on it. */
  keep(flow: Flow, { flowTimerS, isOutbound, keepAliveMs = Number.POSITIVE_INFINITY }: KeepAliveTerms): void {
    this.stop()
    const ofRegistrar = flowTimerS === undefined ? Number.POSITIVE_INFINITY : flowTimerS * 1000
    const asked = Math.max(LEAST_MS, Math.min(ofRegistrar, keepAliveMs))
    if (flow.transport === 'udp') this.#arm({ flow, withinMs: Math.min(UDP_MS, asked), isOutbound, mapped: null })
    else if (asked < Number.POSITIVE_INFINITY) this.#ctx.layer.sender.keepWithin(flow, asked)
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#endWait?.()
    this.#endWait = undefined
  }

  #arm(kept: KeptFlow): void {
    const { random } = this.#ctx
    const least = Math.round(kept.withinMs * LEAST_SHARE)
    this.#after(least + randomBelow(random, kept.withinMs - least + 1), () => {
      if (kept.isOutbound) return this.#ask(kept)
      this.#send(kept.flow, CRLF_CRLF)
      this.#arm(kept)
    })
  }

  #ask(kept: KeptFlow): void {
    const { random, layer } = this.#ctx
    const request = stunBindingRequest(random)
    this.#endWait = layer.sender.awaitStun(request, (from, bytes) => {
      if (from.id === kept.flow.id) this.#onAnswer(kept, bytes)
    })
    this.#sendUntilAnswered(kept, request, 1)
  }

  #sendUntilAnswered(kept: KeptFlow, request: Uint8Array, sends: number): void {
    this.#send(kept.flow, request)
    if (sends < STUN_SENDS) {
      const waitMs = STUN_RTO_MS * 2 ** (sends - 1)
      this.#after(waitMs, () => this.#sendUntilAnswered(kept, request, sends + 1))
    } else
      this.#after(STUN_LAST_WAIT_MS, () => {
        this.stop()
        if (this.#answersStun) this.#onLost('the registrar stopped answering keep-alives')
        else this.#arm(kept)
      })
  }

  #onAnswer(kept: KeptFlow, bytes: Uint8Array): void {
    const answer = readBindingAnswer(bytes)
    if (answer === null) return
    this.stop()
    if (answer.type === 'error') return this.#onLost('the registrar answered a keep-alive with an error')
    this.#answersStun = true
    const moved = kept.mapped !== null && answer.mapped !== null && answer.mapped !== kept.mapped
    if (moved) return this.#onLost('the registrar sees us at another address')
    kept.mapped ??= answer.mapped
    this.#arm(kept)
  }

  #send(flow: Flow, bytes: Uint8Array): void {
    this.#ctx.layer.sender.sendBytes({ flow }, bytes, { sent: () => {}, failed: () => {} })
  }

  #after(ms: Ms, work: () => void): void {
    const { time } = this.#ctx
    this.#timer = time.at(time.now() + ms, work)
  }
}
