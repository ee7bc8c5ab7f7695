import { PortablePacketIo } from './portable-packet-io.ts'
import { packetIoConformance } from './testing/packet-io-conformance.ts'

packetIoConformance('portable', () => Promise.resolve(new PortablePacketIo()))
