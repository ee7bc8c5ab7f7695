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

/** Values by network. Finding those of an address takes as many steps as there are different prefix lengths. */
export class IpNetworkTable<Value> {
  /** By length of the address and prefix, then by the masked address. */
  readonly #byPrefix = new Map<string, { readonly example: IpNetwork; readonly values: Map<string, Value[]> }>()

  add(network: IpNetwork, value: Value): void {
    const key = `${network.bytes.length}/${network.prefixBits}`
    const group = this.#byPrefix.get(key) ?? { example: network, values: new Map<string, Value[]>() }
    this.#byPrefix.set(key, group)
    const masked = maskedText(network.bytes, network.prefixBits)
    group.values.set(masked, [...(group.values.get(masked) ?? []), value])
  }

  /** Empty for anything that is no address. An IPv4-mapped IPv6 address counts as IPv4. */
  find(address: string): Value[] {
    const bytes = parseIpAddress(unmapAddress(address))
    if (bytes === undefined) return []
    const found: Value[] = []
    for (const { example, values } of this.#byPrefix.values()) {
      if (example.bytes.length !== bytes.length) continue
      found.push(...(values.get(maskedText(bytes, example.prefixBits)) ?? []))
    }
    return found
  }
}

function maskedText(bytes: Uint8Array, prefixBits: number): string {
  return bytes.map((byte, i) => byte & maskOf(i, prefixBits)).join('.')
}

function contains(network: IpNetwork, address: Uint8Array): boolean {
  if (network.bytes.length !== address.length) return false
  // It is asked for several times a call: without a function for each byte.
  for (let i = 0; 8 * i < network.prefixBits; i++) {
    if (((network.bytes[i]! ^ address[i]!) & maskOf(i, network.prefixBits)) !== 0) return false
  }
  return true
}

/** The bits of byte `i` that belong to the prefix. */
function maskOf(i: number, prefixBits: number): number {
  const bits = Math.min(8, Math.max(0, prefixBits - i * 8))
  return (0xff << (8 - bits)) & 0xff
}
