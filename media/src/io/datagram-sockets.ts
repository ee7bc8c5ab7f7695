import { parseIpv4 } from '../packet-io/ipv4.ts'
import { loadNativeAddon } from './native-packet-io.ts'

interface LocalAddress {
  readonly address: string
  readonly port: number
}

/**
 * Has the kernel drop all but one in `oneIn` (a power of two) of the datagrams of up to 64 IPv4 addresses before they reach this
 * process's UDP socket at `local`; no address: none is dropped. False: this system cannot, or there is no such socket.
 */
export function thinDatagrams(local: LocalAddress, addresses: readonly string[], oneIn: number): boolean {
  const addon = loadNativeAddon()
  const sources = addresses.map(address => parseIpv4(address)).filter(address => address !== null)
  if (typeof addon === 'string') return false
  return addon.thinDatagrams(parseIpv4(local.address), local.port, Uint32Array.from(sources), oneIn) === 0
}

/** Sets the traffic class of what this process's UDP socket at `local` sends. False: this system cannot, or there is no such socket. */
export function markDatagrams(local: LocalAddress, typeOfService: number): boolean {
  const addon = loadNativeAddon()
  if (typeof addon === 'string') return false
  return addon.markDatagrams(parseIpv4(local.address), local.port, typeOfService) === 0
}
