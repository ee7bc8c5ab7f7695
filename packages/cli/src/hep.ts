import type { LadderMessage } from '@parley/engine'
import { parseIpAddress } from '@parley/sip'

/** Chunk types of HEP version 3 (the protocol of Homer and sipcapture), vendor 0. */
const CHUNK = {
  ipFamily: 0x01,
  ipProtocol: 0x02,
  ipv4Source: 0x03,
  ipv4Destination: 0x04,
  ipv6Source: 0x05,
  ipv6Destination: 0x06,
  sourcePort: 0x07,
  destinationPort: 0x08,
  seconds: 0x09,
  microseconds: 0x0a,
  protocol: 0x0b,
  captureAgent: 0x0c,
  payload: 0x0f,
  correlationId: 0x11,
} as const

const AF_INET = 2
const AF_INET6 = 10
const TCP = 6
const UDP = 17
const SIP = 1
const CAPTURE_AGENT = 2026
/** Largest UDP payload over IPv4. */
const MAX_DATAGRAM_BYTES = 65_507

/** A datagram of HEP version 3 with the message; null: the message is too long for one. */
export function hepDatagram({ at, source, destination, transport, callId, message }: LadderMessage): Buffer | null {
  const [from, to] = [endOf(source), endOf(destination)]
  const isV6 = from.address.length === 16
  const chunks = Buffer.concat([
    chunk(CHUNK.ipFamily, uint(1, isV6 ? AF_INET6 : AF_INET)),
    chunk(CHUNK.ipProtocol, uint(1, transport === 'udp' ? UDP : TCP)),
    chunk(isV6 ? CHUNK.ipv6Source : CHUNK.ipv4Source, from.address),
    chunk(isV6 ? CHUNK.ipv6Destination : CHUNK.ipv4Destination, to.address),
    chunk(CHUNK.sourcePort, uint(2, from.port)),
    chunk(CHUNK.destinationPort, uint(2, to.port)),
    chunk(CHUNK.seconds, uint(4, Math.floor(at / 1000))),
    chunk(CHUNK.microseconds, uint(4, Math.floor((at % 1000) * 1000))),
    chunk(CHUNK.protocol, uint(1, SIP)),
    chunk(CHUNK.captureAgent, uint(4, CAPTURE_AGENT)),
    chunk(CHUNK.correlationId, Buffer.from(callId)),
    chunk(CHUNK.payload, Buffer.from(message)),
  ])
  const length = 6 + chunks.length
  return length > MAX_DATAGRAM_BYTES ? null : Buffer.concat([Buffer.from('HEP3'), uint(2, length), chunks])
}

/** Vendor, type and length (these six bytes included), then the value. */
function chunk(type: number, value: Uint8Array): Buffer {
  // A longer value does not fit into a datagram; its length is only kept in range here.
  const length = Math.min(6 + value.length, 0xffff)
  return Buffer.concat([uint(2, 0), uint(2, type), uint(2, length), value])
}

function uint(bytes: 1 | 2 | 4, value: number): Buffer {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUIntBE(value, 0, bytes)
  return buffer
}

function endOf(text: string): { readonly address: Uint8Array; readonly port: number } {
  const colon = text.lastIndexOf(':')
  const address = parseIpAddress(text.slice(0, colon).replace(/^\[|\]$/g, ''))
  if (address === undefined) throw new TypeError(`"${text}" is no address and port`)
  return { address, port: Number(text.slice(colon + 1)) }
}
