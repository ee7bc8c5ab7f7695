import { loadNativeAddon } from '@parley/media/testing'
import { describe, expect, it } from 'vitest'
import { requires } from '../../../interop/skip.ts'
import { measureForwarding } from './forwarding.ts'
import { CallLateness, quantiles } from './lateness.ts'
import { measurePoint } from './point.ts'

const addon = loadNativeAddon()
const missing = typeof addon === 'string'
const note = missing ? ` (skipped: ${addon})` : ''
const short = { calls: 20, warmUpMs: 1000, measureMs: 2000, everything: true }

describe.skipIf(missing)(`the media benchmark${note}`, () => {
  it.each(['native', 'portable'] as const)(
    'the peer receives every packet of 20 SRTP calls over %s packet I/O',
    async packetIo => {
      const point = await measurePoint({ ...short, packetIo, stalls: null })
      // Packets are missing only when the machine stood still for longer than the grid, which the figures then show.
      expect(point.packets + point.missing).toBeGreaterThan(20 * 97)
      expect(point.packets).toBeGreaterThan(20 * 50)
      expect(point.us_per_tick).toBeGreaterThan(1)
      expect(point.lateness_ms.max).toBeGreaterThanOrEqual(point.lateness_ms.p50)
    },
  )

  it('stalls of the media thread of 10 ms show in the lateness figures', async () => {
    const stalls = { ms: 10, everySends: 40 }
    const point = await measurePoint({ ...short, packetIo: 'native', stalls })
    // One send in 40 is of a batch that stood still: more than one packet in a hundred.
    expect(point.lateness_ms.p99).toBeGreaterThan(9)
  })
})

const rtpengine = requires({ rtpengine: 'rtpengine-daemon' })

describe.skipIf(missing || rtpengine.missing)(
  `rtpengine as the peer of the media benchmark${rtpengine.note || note}`,
  () => {
    it('rtpengine forwards the packets of 10 calls as SRTP, and the time that each takes is measured', async () => {
      const figures = await measureForwarding({ calls: 10, warmUpMs: 300, measureMs: 1000 })
      expect(figures.packets).toBeGreaterThan(10 * 40)
      expect(figures.us_per_packet).toBeGreaterThan(0)
    })
  },
)

describe('lateness against a call’s own grid', () => {
  /** Packets sent `late[i]` ms after their time, null: not at all. */
  const measured = (late: readonly (number | null)[], firstTimestamp = 1000) => {
    const call = new CallLateness(late.length)
    late.forEach((ms, i) => {
      if (ms !== null) call.add((firstTimestamp + i * 160) >>> 0, 50_000 + i * 20 + ms)
    })
    const all: number[] = []
    const missing = call.collect(all)
    return { missing, all: all.map(ms => Math.round(ms * 1000) / 1000) }
  }

  it('lateness of a packet is its delay against the grid of the earliest one', () => {
    expect(measured([0.5, 0.25, 3, 0.25])).toEqual({ missing: 0, all: [0.25, 0, 2.75, 0] })
  })

  it('a missing packet counts as late as the packet that ends the gap', () => {
    expect(measured([0, null, null, 1, 0])).toEqual({ missing: 2, all: [0, 1, 21, 41, 0] })
  })

  it('lateness stays right when the RTP timestamp wraps', () => {
    expect(measured([0, 1, 0], 0xffffff00)).toEqual({ missing: 0, all: [0, 1, 0] })
  })

  it('the maximum is the largest lateness', () => {
    const values = Array.from({ length: 1000 }, (_, i) => i)
    expect(quantiles(values)).toEqual({ p50: 500, p99: 990, p999: 999, max: 999 })
  })
})
