import { type Ms, randomBelow, type Timer } from '@parley/kernel'
import { stunBindingRequest } from '../../transport/stun.ts'
import type { Flow } from '../../transport/transport.ts'
import type { UaContext } from '../ua-context.ts'

/** Address translators forget a UDP path sooner than any other (RFC 5626 section 4.4.2: 24 to 29 s). */
const UDP_MS: Ms = 29_000
/** A registrar that asks for more than this gets no more. */
const LEAST_MS: Ms = 5_000
/** RFC 5626 section 4.4: the interval is drawn anew from 80 to 100 % of its upper bound. */
const LEAST_SHARE = 0.8
const CRLF_CRLF = new TextEncoder().encode('\r\n\r\n')

/** What the registrar said of its end of the flow. */
interface KeepAliveTerms {
  /** `Flow-Timer` in seconds (RFC 5626 section 10): it takes the flow for dead when it hears nothing for so long. */
  readonly flowTimerS: number | undefined
  /** It keeps flows (`Require: outbound`), and so answers STUN on its SIP port. */
  readonly isOutbound: boolean
}

/**
 * Keeps the path of a registration open (RFC 5626 section 4.4). Connections have keep-alives of their own, which a `Flow-Timer`
 * makes more frequent. Over UDP it sends STUN binding requests to a registrar that keeps flows, to others CRLF CRLF, which every
 * server ignores. Answers are not waited for: a refresh of the registration finds a registrar that is gone.
 */
export class FlowKeepAlive {
  readonly #ctx: UaContext
  #timer: Timer | undefined

  constructor(ctx: UaContext) {
    this.#ctx = ctx
  }

  /** From now on this flow is kept, and no other. */
  keep(flow: Flow, { flowTimerS, isOutbound }: KeepAliveTerms): void {
    this.stop()
    const asked = flowTimerS === undefined ? Number.POSITIVE_INFINITY : Math.max(LEAST_MS, flowTimerS * 1000)
    if (flow.transport === 'udp') this.#arm(flow, Math.min(UDP_MS, asked), isOutbound)
    else if (asked < Number.POSITIVE_INFINITY) this.#ctx.layer.sender.keepWithin(flow, asked)
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(flow: Flow, withinMs: Ms, isOutbound: boolean): void {
    const { time, random, layer } = this.#ctx
    const least = Math.round(withinMs * LEAST_SHARE)
    this.#timer = time.at(time.now() + least + randomBelow(random, withinMs - least + 1), () => {
      const bytes = isOutbound ? stunBindingRequest(random) : CRLF_CRLF
      layer.sender.sendBytes({ flow }, bytes, { sent: () => {}, failed: () => {} })
      this.#arm(flow, withinMs, isOutbound)
    })
  }
}
