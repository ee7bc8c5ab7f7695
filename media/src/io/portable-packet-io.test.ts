import { packetIoConformance } from '../packet-io/conformance.ts'
import { PortablePacketIo } from './portable-packet-io.ts'

packetIoConformance('portable', () => Promise.resolve(new PortablePacketIo()))
