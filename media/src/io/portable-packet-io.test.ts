import { packetIoConformance } from './conformance/packet-io.ts'
import { PortablePacketIo } from './portable-packet-io.ts'

packetIoConformance('portable', () => Promise.resolve(new PortablePacketIo()))
