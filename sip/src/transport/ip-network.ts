import { parseIpAddress, unmapAddress } from './ip-address.ts'

/** Addresses that share their first bits. */
export interface IpNetwork {
  /** 4 or 16 bytes. */
  readonly bytes: Uint8Array
  readonly prefixBits: number
}

/** `10.0.0.0/8`, `fd00::/8`, or a single address. Undefined when it is none, or has bits set behind the prefix. */
export function parseIpNetwork(text: string): IpNetwork | undefined {
  const [, address = '', prefix] = /^([^/]+)(?:\/(0|[1-9][0-9]{0,2}))?$/.exec(text) ?? []
  const bytes = parseIpAddress(address)
  if (bytes === undefined) return undefined
  const prefixBits = prefix === undefined ? bytes.length * 8 : Number(prefix)
  if (prefixBits > bytes.length * 8) return undefined
  const clean = bytes.every((byte, i) => (byte & ~maskOf(i, prefixBits) & 0xff) === 0)
  return clean ? { bytes, prefixBits } : undefined
}

/** False for anything that is no address. An IPv4-mapped IPv6 address counts as IPv4. */
export function isInNetworks(address: string, networks: readonly IpNetwork[]): boolean {
  const bytes = parseIpAddress(unmapAddress(address))
  return bytes !== undefined && networks.some(network => contains(network, bytes))
}

function contains(network: IpNetwork, address: Uint8Array): boolean {
  if (network.bytes.length !== address.length) return false
  return network.bytes.every((byte, i) => ((byte ^ address[i]!) & maskOf(i, network.prefixBits)) === 0)
}

/** The bits of byte `i` that belong to the prefix. */
function maskOf(i: number, prefixBits: number): number {
  const bits = Math.min(8, Math.max(0, prefixBits - i * 8))
  return (0xff << (8 - bits)) & 0xff
}
