import type { Random, Time } from '@parley/kernel'
import type { KeyedHash } from '../auth/keyed-hash.ts'
import { HeaderList } from '../message/header-list.ts'
import { isSipUri, type NameAddr, type SipRequest, type SipResponse, tagOf, type Uri } from '../message/message.ts'
import { createResponse, type ResponseOptions } from '../message/message-factory.ts'
import { advertisedFor } from '../transaction/client-transactions.ts'
import type { TimerSettings } from '../transaction/timers.ts'
import type { TransactionLayer } from '../transaction/transaction-layer.ts'
import type { SipTransport, TransportName } from '../transport/transport.ts'
import type { EventDispatcher } from './event-dispatcher.ts'
import type { HeaderPairs } from './session.ts'
import type { SessionTimerOptions } from './session-timer-options.ts'
import type { UdpOnlyTargets } from './udp-only-targets.ts'
import type { LogEntry } from './user-agent-options.ts'

/** Dependencies shared by all parts of the user agent. */
export interface UaContext {
  /** Timers run like transport inputs: events are delivered after them. */
  readonly time: Time
  readonly random: Random
  readonly transport: SipTransport
  readonly layer: TransactionLayer
  readonly pump: EventDispatcher
  readonly timers: TimerSettings
  readonly userAgentName: string | undefined
  readonly acceptedInfoTypes: readonly string[]
  readonly sessionTimer: SessionTimerOptions
  readonly streamRefusals: UdpOnlyTargets
  readonly statelessTags: KeyedHash
  log(level: LogEntry['level'], event: string, detail: string): void
}

/** Our Contact on a transport (RFC 3261 section 8.1.1.8). Never `sips:`, which breaks peers; the transport is named instead. */
export function contactFor(ctx: UaContext, transport: TransportName, user: string | undefined): NameAddr {
  const at = advertisedFor(ctx.transport, transport)
  const params = new Map<string, string | null>(transport === 'udp' ? [] : [['transport', transport]])
  return {
    displayName: undefined,
    uri: {
      scheme: 'sip',
      user,
      password: undefined,
      host: at?.host ?? 'localhost',
      port: at?.port,
      params,
      headers: [],
    },
    params: new Map(),
  }
}

/** A response with our Server header. */
export function respond(
  ctx: UaContext,
  request: SipRequest,
  status: number,
  options: ResponseOptions & { readonly extra?: HeaderPairs } = {},
): SipResponse {
  const { extra, ...rest } = options
  let headers = rest.headers ?? HeaderList.empty
  for (const [name, value] of extra ?? []) headers = headers.with(name, value)
  if (ctx.userAgentName !== undefined) headers = headers.with('Server', ctx.userAgentName)
  return createResponse(request, status, { ...rest, headers })
}

/** The To tag of a stateless response: every retransmission of the request gets the same (RFC 3261 section 8.2.7). */
export function statelessTag(ctx: UaContext, request: SipRequest): string {
  const branch = request.via[0]?.params.get('branch') ?? ''
  return ctx.statelessTags
    .of(`${request.callId} ${tagOf(request.from)} ${request.cseq.sequence} ${branch}`)
    .slice(0, 16)
}

/** The user part that our Contact carries: that of the called address. */
export function userOf(uri: Uri): string | undefined {
  return isSipUri(uri) ? uri.user : undefined
}
