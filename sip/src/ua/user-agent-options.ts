import type { Ms, Random, Time } from '@parley/kernel'
import type { NameAddr, SipResponse, SipUri } from '../message/message.ts'
import type { TimerSettings } from '../transaction/timers.ts'
import type { IpNetwork } from '../transport/ip-network.ts'
import type { NextHop, SipTransport } from '../transport/transport.ts'
import type { Credentials, HeaderPairs, InviteSession, RequestGuard } from './session.ts'
import type { SessionTimerOptions } from './session-timer-options.ts'

export interface UserAgentOptions {
  readonly time: Time
  readonly random: Random
  readonly transport: SipTransport
  readonly guard: RequestGuard
  /** A new inbound call; called synchronously, `onEvent` has to be set before it returns. */
  readonly onInvite: (session: InviteSession) => void
  /** User-Agent and Server header; default: none is sent. */
  readonly userAgentName?: string
  readonly limits?: Partial<UserAgentLimits>
  readonly timers?: Partial<TimerSettings>
  /** Accepted media types of INFO bodies; default `application/dtmf-relay`, `application/dtmf`. */
  readonly acceptedInfoTypes?: readonly string[]
  /** Session timers of calls that do not set their own; default: 1800 s. */
  readonly sessionTimer?: SessionTimerOptions
  readonly log?: (entry: LogEntry) => void
}

export interface UserAgentLimits {
  /** Sessions of both directions; more INVITEs get 503, more `invite` calls throw "too_many_sessions"; default 2000. */
  readonly sessions: number
  /** Server transactions at once that wait for our final response, or for the ACK to it; more requests get 503; default 20000. */
  readonly serverTransactions: number
  /** The same, per flow; default 10000. */
  readonly serverTransactionsPerFlow: number
  /** Finished server transactions that are remembered for retransmissions; the oldest of more are forgotten early; default 50000. */
  readonly finishedServerTransactions: number
  /** Client transactions at once; more requests fail at once; default 20000. */
  readonly clientTransactions: number
  /** Seconds in the Retry-After of a 503; default 5. */
  readonly retryAfterS: number
}

export interface LogEntry {
  readonly level: 'debug' | 'warn' | 'error'
  /** Stable, snake_case. */
  readonly event: string
  readonly detail: string
}

/** A request outside any dialog. */
export interface OutboundRequest {
  readonly uri: SipUri
  readonly from: NameAddr
  /** Default: `<uri>`. */
  readonly to?: NameAddr
  readonly nextHop?: NextHop
  readonly route?: readonly NameAddr[]
  readonly credentials?: Credentials
  /** See `OutboundCall`. */
  readonly sources?: readonly IpNetwork[]
  readonly headers?: HeaderPairs
}

/** What a target answered to OPTIONS; any status says that it is alive. */
export type PingOutcome =
  | { readonly type: 'answered'; readonly status: number; readonly reason: string; readonly afterMs: Ms }
  /** No final response in 8 s (code "timeout"), or the target is unreachable (the transport's code). */
  | { readonly type: 'failed'; readonly code: string; readonly detail: string }

/** Outcome of a request; the promise never rejects. */
export type RequestOutcome =
  | { readonly type: 'response'; readonly response: SipResponse }
  /** No final response in 64*T1 (code "timeout"), or the peer is unreachable (the transport's code). */
  | { readonly type: 'failed'; readonly cause: 'timeout' | 'transport'; readonly code: string; readonly detail: string }
