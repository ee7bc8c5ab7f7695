import { type IpNetwork, type NameAddr, parseNameAddrList } from '@parley/sip'
import type { DialableTrunk, Sealer } from '@parley/store'
import type { DialRequest } from '../engine.ts'
import type { TrunkMedia } from '../inbound-router.ts'
import { numberAt, outboundIdentity } from './outbound-identity.ts'
import { trunkHop } from './trunk-address.ts'
import { trunkKeepAlive, trunkMedia, trunkSources } from './trunk-details.ts'
import { writtenCalledNumber } from './trunk-numbers.ts'

/** What the settings of a trunk say about a call: its addresses, headers, credentials and media. */
type DialTarget = Pick<
  DialRequest,
  'uri' | 'from' | 'headers' | 'nextHop' | 'credentials' | 'sessionTimer' | 'keepAliveMs' | 'route'
> & { readonly sources: readonly IpNetwork[] | undefined } & TrunkMedia

/** `from`: E.164; null: the call has no number. `to`: E.164. Throws what the sealer throws for a password that it cannot open. */
export function dialTarget(trunk: DialableTrunk, from: string | null, to: string, sealer: Sealer): DialTarget {
  const { details, termination_uri: host, auth } = trunk
  const { session_expires } = details
  const identity = outboundIdentity(from, trunk)
  const route = serviceRoute(trunk)
  return {
    uri: numberAt(writtenCalledNumber(to, trunk), host),
    from: identity.from,
    headers: identity.headers,
    ...trunkMedia(details),
    nextHop: trunkHop(host, details),
    sources: trunkSources(details),
    ...(auth?.secret != null && {
      credentials: {
        username: auth.username,
        password: sealer.open(auth.secret.sealed, auth.secret.context).toString('utf8'),
        ...(details.realms && { realms: details.realms }),
      },
    }),
    ...(session_expires !== undefined && { sessionTimer: { expiresS: session_expires } }),
    ...trunkKeepAlive(details),
    ...(route.length > 0 && { route }),
  }
}

/** RFC 3608 section 6.1: calls of a registered trunk take the route that its registrar asked for. */
function serviceRoute({ service_route }: DialableTrunk): readonly NameAddr[] {
  return service_route.flatMap(value => parseNameAddrList(value) ?? [])
}
