import { BlockList, isIP } from 'node:net'

/**
 * Whether an address belongs to the public Internet. Not public are: the special-purpose addresses that are not globally reachable
 * (RFC 6890, updated by RFC 8190), multicast, and addresses at which cloud platforms serve metadata to their own hosts.
 * An IPv6 address that contains an IPv4 address (mapped, NAT64) is public if the IPv4 address is. Other text is not public.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !SPECIAL.check(address, 'ipv4')
  const groups = ipv6Groups(address)
  if (groups === undefined) return false
  const embedded = embeddedIpv4(groups)
  if (embedded !== undefined) return !SPECIAL.check(embedded, 'ipv4')
  return GLOBAL_UNICAST.check(address, 'ipv6') && !SPECIAL.check(address, 'ipv6')
}

const SPECIAL = blockList([
  '0.0.0.0/8', // this network
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier-grade NAT; one cloud's metadata is 100.100.100.200
  '127.0.0.0/8',
  '168.63.129.16/32', // Azure's host services, formally a public address
  '169.254.0.0/16', // link-local; most clouds' metadata is 169.254.169.254
  '172.16.0.0/12',
  '192.0.0.0/24', // protocol assignments; one cloud's metadata is 192.0.0.192
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16',
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
  '2001::/23', // protocol assignments: Teredo, ORCHID, benchmarks
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, whose relays are gone
  '3fff::/20', // documentation
])

/** Loopback, unique local, link-local, site-local, multicast and unassigned addresses are outside of this range. */
const GLOBAL_UNICAST = blockList(['2000::/3'])

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address, length] = network.split('/')
    list.addSubnet(address!, Number(length), isIP(address!) === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

/** The IPv4 address inside ::ffff:0:0/96 (RFC 4291) or 64:ff9b::/96 (RFC 6052). */
function embeddedIpv4(groups: readonly number[]): string | undefined {
  const front = groups.slice(0, 6).join()
  if (front !== '0,0,0,0,0,65535' && front !== `${0x64},${0xff9b},0,0,0,0`) return undefined
  const [high, low] = [groups[6]!, groups[7]!]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** Eight numbers of 16 bits; undefined if the text is no IPv6 address or has a zone. */
function ipv6Groups(address: string): readonly number[] | undefined {
  if (isIP(address) !== 6 || address.includes('%')) return undefined
  const [before = '', after] = canonicalHost(address)!.split('::')
  const front = hexGroups(before)
  const back = hexGroups(after ?? '')
  return [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back]
}

function hexGroups(text: string): number[] {
  return text === '' ? [] : text.split(':').map(group => Number.parseInt(group, 16))
}

/** A host name or address in the form of URLs: lower case, ASCII, numbers in decimal, no brackets, no trailing dot. Undefined if the text is no host. */
export function canonicalHost(host: string): string | undefined {
  const written = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  if (written === '' || /[/?#@\\]/.test(written) || !URL.canParse(`http://${written}`)) return undefined
  return bareHost(new URL(`http://${written}`))
}

/** A URL's host without brackets and without a trailing dot. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}
