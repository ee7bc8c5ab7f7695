import { hasFields } from '../dialog/stored-fields.ts'
import { HeaderList } from '../message/header-list.ts'
import type { SipRequest } from '../message/message.ts'
import { createRequest } from '../message/message-factory.ts'
import { parseNameAddr, serialiseNameAddr } from '../message/name-addr.ts'
import { parseUri, serialiseUri } from '../message/uri.ts'
import type { Destination } from '../transaction/message-sender.ts'
import type { Target, TransportName } from '../transport/transport.ts'

/**
 * An initial INVITE that is about to leave, as plain data, JSON-safe: enough for another process to send the CANCEL that
 * matches it (RFC 3261 section 9.1). URIs and addresses are in wire form.
 */
export type InviteAttempt = {
  readonly requestUri: string
  readonly callId: string
  /** With our tag: `"Name" <sip:…>;tag=…`. */
  readonly from: string
  readonly to: string
  /** Number of the CSeq. */
  readonly sequence: number
  /** Of the top Via, as is what follows. */
  readonly branch: string
  readonly sentBy: { readonly host: string; readonly port: number | null; readonly transport: TransportName }
  /** Route headers, in their order: `<sip:…;lr>`. */
  readonly routeSet: readonly string[]
  /** The address that it is sent to, already resolved, and the name that TLS has to prove there. */
  readonly nextHop: {
    readonly address: string
    readonly port: number
    readonly transport: TransportName
    readonly serverName: string
  }
  /** INVITEs of the same call to other targets, which were silent and may still ring; absent: none. */
  readonly earlier?: readonly InviteAttempt[]
}

/** Most earlier attempts of one call: it has at most eight targets. */
const MAX_EARLIER = 8

/** The attempts of one call, oldest first. */
export class AttemptLog {
  readonly #earlier: InviteAttempt[] = []
  #last: InviteAttempt | undefined

  describe(invite: SipRequest, to: Destination): InviteAttempt {
    const attempt = describeAttempt(invite, to)
    this.#last = attempt
    return this.#earlier.length === 0 ? attempt : { ...attempt, earlier: [...this.#earlier] }
  }

  /** The last attempt is given up: it may still ring, and the next one names it. */
  giveUp(): void {
    if (this.#last !== undefined && this.#earlier.length < MAX_EARLIER) this.#earlier.push(this.#last)
  }
}

const TRANSPORTS: ReadonlySet<unknown> = new Set<TransportName>(['udp', 'tcp', 'tls'])

/** Type guard for stored values. It does not parse the addresses; `restoreInvite` does. */
export function isInviteAttempt(value: unknown): value is InviteAttempt {
  const outer = { requestUri: 'text', callId: 'text', from: 'text', to: 'text', sequence: 'number' } as const
  if (!hasFields(value, { ...outer, branch: 'text', routeSet: 'texts' })) return false
  const {
    sentBy,
    nextHop,
    earlier = [],
  } = value as {
    readonly sentBy?: unknown
    readonly nextHop?: unknown
    readonly earlier?: unknown
  }
  if (!Array.isArray(earlier) || earlier.length > MAX_EARLIER || !earlier.every(isInviteAttempt)) return false
  return (
    hasFields(sentBy, { host: 'text', port: 'number or null', transport: 'text' }) &&
    hasFields(nextHop, { address: 'text', port: 'number', transport: 'text', serverName: 'text' }) &&
    [sentBy, nextHop].every(place => TRANSPORTS.has((place as { readonly transport: unknown }).transport))
  )
}

/** `invite` has its Via. */
function describeAttempt(invite: SipRequest, to: Destination): InviteAttempt {
  const via = invite.via[0]
  const { address, port, transport, serverName } = targetOf(to)
  return {
    requestUri: serialiseUri(invite.uri),
    callId: invite.callId,
    from: serialiseNameAddr(invite.from),
    to: serialiseNameAddr(invite.to),
    sequence: invite.cseq.sequence,
    branch: via?.params.get('branch') ?? '',
    sentBy: { host: via?.host ?? '', port: via?.port ?? null, transport },
    routeSet: invite.route.map(route => serialiseNameAddr(route)),
    nextHop: { address, port, transport, serverName },
  }
}

/** Rebuilds the INVITE as far as its CANCEL repeats it, with its target; undefined if the attempt is unreadable. */
export function restoreAttempt(
  attempt: InviteAttempt,
): { readonly invite: SipRequest; readonly target: Target } | undefined {
  if (!isInviteAttempt(attempt)) return undefined
  const uri = parseUri(attempt.requestUri)
  const from = parseNameAddr(attempt.from)
  const to = parseNameAddr(attempt.to)
  const route = attempt.routeSet.map(line => parseNameAddr(line)).filter(address => address !== undefined)
  if (uri === undefined || from === undefined || to === undefined) return undefined
  if (route.length !== attempt.routeSet.length) return undefined
  const { host, port, transport } = attempt.sentBy
  const params = new Map<string, string | null>(transport === 'udp' ? [['rport', null]] : [])
  params.set('branch', attempt.branch)
  const invite = createRequest({
    method: 'INVITE',
    uri,
    via: [{ transport: transport.toUpperCase(), host, port: port ?? undefined, params }],
    from,
    to,
    callId: attempt.callId,
    cseq: { sequence: attempt.sequence, method: 'INVITE' },
    route,
    headers: HeaderList.empty,
  })
  return { invite, target: attempt.nextHop }
}

function targetOf(to: Destination): Target {
  if ('target' in to) return to.target
  const { remote, transport, serverName } = to.flow
  return { ...remote, transport, serverName: serverName ?? remote.address }
}
