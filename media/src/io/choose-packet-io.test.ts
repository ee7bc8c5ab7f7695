import { describe, expect, it } from 'vitest'
import { choosePacketIo } from './choose-packet-io.ts'
import type { NativeAddon } from './native-packet-io.ts'

const built = {} as NativeAddon
const notBuilt = 'native packet I/O is not built'

describe('the choice of packet I/O', () => {
  it('packet I/O is native where the addon is built, and portable elsewhere', () => {
    expect(choosePacketIo(undefined, built)).toBe('native')
    expect(choosePacketIo(undefined, notBuilt)).toBe('portable')
  })

  it('a requested kind of packet I/O is used, or the error says why it is not available', () => {
    expect(choosePacketIo('portable', built)).toBe('portable')
    expect(choosePacketIo('native', built)).toBe('native')
    expect(() => choosePacketIo('native', notBuilt)).toThrow(
      expect.objectContaining({ code: 'native_packet_io_unavailable', message: notBuilt }),
    )
  })
})
