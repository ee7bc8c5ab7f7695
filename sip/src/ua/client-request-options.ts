import type { Ms } from '@parley/kernel'
import type { NameAddr, SipRequest, SipResponse } from '../message/message.ts'
import type { ClientTransaction, RequestFailure } from '../transaction/client-transaction.ts'
import type { Destination } from '../transaction/message-sender.ts'
import type { Flow, NextHop, Target } from '../transport/transport.ts'
import type { CallIdentity } from './call-identity.ts'

interface SilencePolicy {
  /** The next target, if there is one, is tried after this long. */
  readonly limitMs: Ms
  /** The attempt is given up: `build` makes the request for the next target, which must not be taken for the same one. */
  onGivenUp(): void
  /** A response to an attempt that was given up; its transaction lives until Timer B. */
  onLate(invite: ClientTransaction, response: SipResponse, flow: Flow): void
}

export interface ClientRequestOptions {
  /** The request with this CSeq number and Contact, without Via. */
  build(sequence: number, contact: NameAddr): SipRequest
  /** User part of Contact. */
  readonly contactUser: string | undefined
  /** CSeq number of the first attempt. */
  readonly sequence: number
  /** For an attempt with credentials: the same Call-ID, the next number (RFC 3261 section 22.2). */
  reserveSequence(): number
  /** Preferred while it lives: the dialog's connection. */
  readonly flow: Flow | undefined
  /** Where to send without that connection; undefined: the request then fails. */
  readonly hop: NextHop | undefined
  /** The only target; absent: those of `hop`. */
  readonly target?: Target
  /** An answer says that the target is alive, and nothing about calls. */
  readonly isPing?: boolean
  readonly identity: CallIdentity
  /** Never sent again on another connection once it may have arrived, because its effect would happen twice. UDP retransmissions are not affected. */
  readonly once?: boolean
  /** True for the call's first request: the addresses of its hop, and the realms that challenge it, are those of the call's next hop. */
  readonly adoptTargets?: boolean
  /** Called with a refusal; true sends the request that `build` makes now to the same target (RFC 4028 section 7.3). */
  revise?(response: SipResponse): boolean
  /** Whether a refusal sends the request to the next target, if there is one, besides 503. */
  failsOver?(response: SipResponse): boolean
  /**
   * Called with the request and its Via before each new transaction, which starts when this resolves and not at all when
   * it rejects: then `onWithheld` follows instead of anything else. Absent: at once.
   */
  beforeAttempt?(request: SipRequest, to: Destination): Promise<void>
  onWithheld?(error: unknown): void
  /** For an INVITE: what happens when a target sends no response at all; absent: Timer B decides. */
  readonly silence?: SilencePolicy
  /** The request with its Via, each time that it goes out in a new transaction. */
  onAttempt?(request: SipRequest): void
  /** Called with provisional responses, the final response, and for INVITE with every further 2xx. */
  onResponse(response: SipResponse, flow: Flow): void
  /** Called instead of a final response. */
  onFailure(failure: RequestFailure): void
}
