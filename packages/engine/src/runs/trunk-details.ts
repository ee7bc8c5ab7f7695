import type { Ms } from '@parley/kernel'
import type { LegSecurity } from '@parley/leg'
import { type CodecName, isCodecName } from '@parley/media'
import { type IpNetwork, parseIpNetwork } from '@parley/sip'
import type { InboundTrunk, TrunkDetails } from '@parley/store'
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { TrunkMedia } from '../inbound-router.ts'

const MS_PER_S = 1000

/** Parsed sources by trunk: the router needs them for every request, and the settings of a trunk never change in place. */
const sourcesByDetails = new WeakMap<TrunkDetails, readonly IpNetwork[]>()

/** The media of a trunk's calls, as its settings say. */
export function trunkMedia(details: TrunkDetails): TrunkMedia & { readonly security: LegSecurity } {
  const { rtp_timeout, dtmf } = details
  return {
    security: trunkSecurity(details),
    codecs: trunkCodecs(details),
    mediaSources: trunkSources(details),
    silentRemoteAfterMs: rtp_timeout === undefined ? undefined : rtp_timeout * MS_PER_S,
    digitsByInfo: dtmf === 'info',
  }
}

/** Most time between two keep-alives on a trunk's connections; nothing where it has no setting. */
export function trunkKeepAlive({ keep_alive }: TrunkDetails): { readonly keepAliveMs?: Ms } {
  return keep_alive === undefined ? {} : { keepAliveMs: keep_alive * MS_PER_S }
}

/** The codecs that staff allowed on a trunk, in order of preference; undefined: the default. Unknown names are left out. */
function trunkCodecs({ codecs }: TrunkDetails): readonly CodecName[] | undefined {
  const known = codecs?.filter(isCodecName) ?? []
  return known.length === 0 ? undefined : known
}

/** The media transport of a trunk's calls; default SRTP with its keys over TLS. */
function trunkSecurity({ media }: TrunkDetails): LegSecurity {
  if (media === 'rtp') return 'rtp-only'
  return media === 'srtp-without-tls' ? 'srtp-without-tls' : 'srtp-required'
}

/** The networks that staff configured as sources of a trunk's requests; undefined: none. */
export function trunkSources(details: TrunkDetails): readonly IpNetwork[] | undefined {
  let networks = sourcesByDetails.get(details)
  if (networks === undefined) {
    networks = details.source?.flatMap(networkOf) ?? []
    sourcesByDetails.set(details, networks)
  }
  return networks.length === 0 ? undefined : networks
}

/** The configured sources of all these trunks, each once; undefined: one of them has none. */
export function sourcesOfAll(trunks: readonly Pick<InboundTrunk, 'details'>[]): readonly IpNetwork[] | undefined {
  const [only, ...others] = trunks
  if (only !== undefined && others.length === 0) return trunkSources(only.details)
  const all = new Map<string, IpNetwork>()
  for (const { details } of trunks) {
    const sources = trunkSources(details)
    if (sources === undefined) return undefined
    for (const source of sources) all.set(`${source.bytes}/${source.prefixBits}`, source)
  }
  return [...all.values()]
}

/** The network as a list, which is empty for text that is none. */
export function networkOf(text: string): readonly IpNetwork[] {
  const network = parseIpNetwork(text)
  return network === undefined ? [] : [network]
}

/** Country of a trunk, ISO 3166-1 alpha-2: the one that staff set, else that of its first number; null: neither is known. */
export function countryOf({ details, first_number }: Pick<InboundTrunk, 'details' | 'first_number'>): string | null {
  if (details.country !== undefined) return details.country.toUpperCase()
  return first_number === null ? null : (parsePhoneNumberFromString(first_number)?.country ?? null)
}
