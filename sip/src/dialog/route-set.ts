import type { NameAddr, SipUri, Uri } from '../message/message.ts'
import { isSipUri } from '../message/message.ts'
import type { NextHop, TransportName } from '../transport/transport.ts'

/** Request-URI, Route headers and first hop of a request. */
interface RequestRoute {
  readonly uri: Uri
  readonly route: readonly NameAddr[]
  /** Undefined when neither the first route nor the target is a SIP URI, so that the request cannot be sent. */
  readonly hop: NextHop | undefined
}

/**
 * RFC 3261 section 12.2.1.1: with a loose first route (`;lr`) the Request-URI is the remote target and Route the whole
 * set; with a strict one the Request-URI is that route, and the remote target travels last in Route.
 */
export function routeRequest(target: Uri, routeSet: readonly NameAddr[], serverName?: string): RequestRoute {
  const first = routeSet[0]
  if (first === undefined) return { uri: target, route: [], hop: hopOf(target, serverName) }
  const hop = hopOf(first.uri, serverName)
  if (isSipUri(first.uri) && first.uri.params.has('lr')) return { uri: target, route: routeSet, hop }
  return {
    uri: isSipUri(first.uri) ? asRequestUri(first.uri) : first.uri,
    route: [...routeSet.slice(1), { displayName: undefined, uri: target, params: new Map() }],
    hop,
  }
}

/** Section 19.1.1: removes the parts of a strict router's URI that a Request-URI must not contain. */
function asRequestUri(uri: SipUri): SipUri {
  const params = new Map(uri.params)
  params.delete('method')
  return { ...uri, params, headers: [] }
}

/** RFC 3263 section 4.1's input. `maddr` is ignored: it would let a peer direct our requests at third parties. */
export function hopOf(uri: Uri, serverName?: string): NextHop | undefined {
  if (!isSipUri(uri)) return undefined
  const named = uri.params.get('transport')?.toLowerCase()
  const transport: TransportName | undefined =
    uri.scheme === 'sips' ? 'tls' : named === 'udp' || named === 'tcp' || named === 'tls' ? named : undefined
  return { host: uri.host, port: uri.port, transport, serverName }
}
