import { describe, it } from 'vitest'
import { packetIoConformance } from './conformance/packet-io.ts'
import { loadNativeAddon, NativePacketIo } from './native-packet-io.ts'

const addon = loadNativeAddon()

if (typeof addon === 'string') {
  describe('packet I/O: native', () => {
    it.skip(`conformance (skipped: ${addon})`, () => {})
  })
} else {
  packetIoConformance('native', () => Promise.resolve(new NativePacketIo()))
}
