import { describe, expect, it } from 'vitest'
import { choosePacketIo } from './choose-packet-io.ts'
import type { NativeAddon } from './native-packet-io.ts'

const built = {} as NativeAddon
const notBuilt = 'native packet I/O is not built'

describe('the packet layer', () => {
  it('is native where that is built, else portable', () => {
    expect(choosePacketIo(undefined, built)).toBe('native')
    expect(choosePacketIo(undefined, notBuilt)).toBe('portable')
  })

  it('is the one asked for, or the reason why not', () => {
    expect(choosePacketIo('portable', built)).toBe('portable')
    expect(choosePacketIo('native', built)).toBe('native')
    expect(() => choosePacketIo('native', notBuilt)).toThrow(
      expect.objectContaining({ code: 'native_packet_io_unavailable', message: notBuilt }),
    )
  })
})
