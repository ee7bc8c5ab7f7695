import { RecentMap } from '@parley/kernel'
import {
  LOWEST_PEER_PORT,
  type MediaParameters,
  packSourceRules,
  type SourceRule,
  type SourceRules,
} from '@parley/media'
import { type IpNetwork, isInNetworks, parseIpNetwork } from '@parley/sip'

/** An address with its first and last port. */
interface OwnPorts {
  readonly address: string
  readonly from: number
  readonly to: number
}

/** Where an endpoint may send media. */
export interface MediaDestinations {
  /** Private networks that its peers may be in. */
  readonly localNetworks: readonly IpNetwork[]
  /** Whether a socket of this endpoint has the address. */
  readonly isOwnSocket: (address: string, port: number) => boolean
  /** Addresses of this endpoint, each with the ports that its sockets have or may get. */
  readonly ownPorts: readonly OwnPorts[]
}

/** The destinations of one leg. */
export interface LegDestinations extends MediaDestinations {
  /** Networks of the trunk. */
  readonly sources: readonly IpNetwork[]
  /** Address that the peer's SIP messages come from; undefined before the first. */
  readonly signallingAddress: () => string | undefined
}

type Permitted =
  | { readonly ok: true; readonly parameters: MediaParameters }
  | { readonly ok: false; readonly detail: string }

/** For an endpoint that calls only whom its user names, such as a phone: media may be sent to every private address. */
export const ALL_NETWORKS = networks('0.0.0.0/0')

const LINK_LOCAL = networks('169.254.0.0/16')
/** RFC 1918, RFC 6598 and loopback. */
const PRIVATE = networks('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '127.0.0.0/8')

/**
 * The parameters with the limits on where media is sent: to what the description names, and to sources that are heard. A destination that is never allowed is refused. A private address
 * outside of the permitted networks is that of a peer behind a NAT: nothing is sent there, and the peer is learnt from its
 * first packet, when that comes from where its signalling comes from or from the trunk's networks.
 */
export function permitDestination(parameters: MediaParameters, destinations: LegDestinations): Permitted {
  const { remote } = parameters
  const sourceRules = sourceRulesOf(destinations)
  if (remote === null) return { ok: true, parameters: { ...parameters, sourceRules } }
  const refused = refusalOf(remote, destinations)
  if (refused !== null) return { ok: false, detail: refused }
  return {
    ok: true,
    parameters: {
      ...parameters,
      sourceRules,
      remoteRtcp: permittedRtcp(parameters, remote, destinations),
      ...(isInNetworks(remote.address, PRIVATE) && {
        remoteReachable: isReachable(remote, destinations),
        learnFrom: learnableFrom(destinations),
      }),
    },
  }
}

/** Undefined: the port above RTP's. Null: nothing may be sent there either, because the socket is ours. */
function permittedRtcp(
  { remoteRtcp }: MediaParameters,
  remote: { readonly address: string; readonly port: number },
  destinations: LegDestinations,
): MediaParameters['remoteRtcp'] {
  const isNamed = remoteRtcp !== undefined && remoteRtcp !== null
  if (isNamed && refusalOf(remoteRtcp, destinations) === null && isReachable(remoteRtcp, destinations))
    return remoteRtcp
  return destinations.isOwnSocket(remote.address, remote.port + 1) ? null : undefined
}

function refusalOf(
  { address, port }: { readonly address: string; readonly port: number },
  { isOwnSocket }: MediaDestinations,
): string | null {
  if (isInNetworks(address, LINK_LOCAL)) return `media is not sent to the link-local address ${address}`
  if (port < LOWEST_PEER_PORT) return `media is not sent to port ${port}: ports below ${LOWEST_PEER_PORT} are reserved`
  if (isOwnSocket(address, port)) return `media is not sent to our own port ${address}:${port}`
  return null
}

function isReachable(
  { address }: { readonly address: string },
  { localNetworks, sources }: Pick<LegDestinations, 'localNetworks' | 'sources'>,
): boolean {
  return !isInNetworks(address, PRIVATE) || isInNetworks(address, localNetworks) || isInNetworks(address, sources)
}

/** Signalling addresses of a trunk whose rules are remembered. */
const REMEMBERED_PEERS = 256

type RulesByPeer = RecentMap<string, SourceRules>

/**
 * By the list of own ports, which is one for all calls of an endpoint as its local networks are, and by the networks of the
 * trunk. A call needs its rules at least twice, before and after its media are opened, and so does the next one of the trunk.
 */
const known = new WeakMap<LegDestinations['ownPorts'], WeakMap<LegDestinations['sources'], RulesByPeer>>()

/** What holds for addresses in a description, for sources that no description named; a peer is heard at its signalling address as well. */
function sourceRulesOf(destinations: LegDestinations): SourceRules {
  const { ownPorts, sources, signallingAddress } = destinations
  const ofEndpoint = entryOf(known, ownPorts, () => new WeakMap<LegDestinations['sources'], RulesByPeer>())
  const ofTrunk = entryOf(ofEndpoint, sources, () => new RecentMap<string, SourceRules>(REMEMBERED_PEERS))
  return entryOf(ofTrunk, signallingAddress() ?? '', () =>
    packSourceRules([...neverFollowed(ownPorts), ...followed(destinations), ...NOT_FOLLOWED_PRIVATE]),
  )
}

function entryOf<Key, Value>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

const NOT_FOLLOWED_PRIVATE = rulesFor(PRIVATE, false)

function neverFollowed(ownPorts: LegDestinations['ownPorts']): readonly SourceRule[] {
  const own = ownPorts.flatMap(({ address, ...ports }) =>
    rulesFor(networkOf(address), false).map(rule => ({ ...rule, ports })),
  )
  return [...rulesFor(LINK_LOCAL, false), ...own]
}

function followed(destinations: LegDestinations): readonly SourceRule[] {
  return rulesFor([...destinations.localNetworks, ...peerNetworks(destinations)], true)
}

function rulesFor(networks: readonly IpNetwork[], isFollowed: boolean): readonly SourceRule[] {
  return ipv4Networks(networks).map(network => ({ ...network, isFollowed }))
}

function learnableFrom(destinations: LegDestinations): NonNullable<MediaParameters['learnFrom']> {
  return ipv4Networks(peerNetworks(destinations))
}

/** Where the peer is known to be: the networks of the trunk, and where its signalling comes from. */
function peerNetworks({ sources, signallingAddress }: LegDestinations): readonly IpNetwork[] {
  return [...sources, ...networkOf(signallingAddress() ?? '')]
}

function networkOf(address: string): readonly IpNetwork[] {
  const network = parseIpNetwork(address)
  return network === undefined ? [] : [network]
}

function ipv4Networks(of: readonly IpNetwork[]): NonNullable<MediaParameters['learnFrom']> {
  return of.flatMap(({ bytes, prefixBits }) =>
    bytes.length === 4 ? [{ ipv4: Buffer.from(bytes).readUInt32BE(), prefixBits }] : [],
  )
}

function networks(...texts: string[]): readonly IpNetwork[] {
  return texts.map(text => parseIpNetwork(text)!)
}
