import { describe, expect, it } from 'vitest'
import type { SrtpSuite } from './media-session.ts'
import { VirtualCall } from './testing/virtual-call.ts'

const MINUTE = 60_000
/** 65536 packets are 21.8 minutes: in 40 minutes the sequence numbers wrap, whatever the first one was. */
const WRAPS_MINUTES = 40
const CALLS: readonly { readonly suite: SrtpSuite | null; readonly minutes: number }[] = [
  { suite: 'AES_CM_128_HMAC_SHA1_80', minutes: WRAPS_MINUTES },
  { suite: 'AES_CM_128_HMAC_SHA1_32', minutes: 12 },
  { suite: null, minutes: 12 },
]

// Seconds of computing where nothing else runs.
describe('a long call', () => {
  it.each(CALLS)(
    'every sample of a call of $minutes minutes with $suite arrives unchanged, through hold, resume, re-key and sequence wraps',
    async ({ suite, minutes }) => {
      const call = await VirtualCall.start({ suite })
      call.a.talking = true
      call.b.talking = true
      call.run((minutes / 4) * MINUTE)

      // b holds a: a may only listen, b sends nothing and hears nothing.
      call.apply({ a: { direction: 'inactive' }, b: { direction: 'inactive' } })
      const before = [call.a.session.played(), call.b.session.played()]
      call.run(MINUTE)
      expect([call.a.session.played(), call.b.session.played()]).toEqual(before)
      call.apply({})

      call.run((minutes / 2) * MINUTE)
      if (suite !== null) call.rekey(180)
      call.run((minutes / 4) * MINUTE)
      for (const end of [call.a, call.b]) end.talking = false
      call.run(2000)

      for (const [end, peer] of [
        [call.a, call.b],
        [call.b, call.a],
      ] as const) {
        expect(peer.listener).toMatchObject({ heard: end.sentSamples, brokenAt: -1 })
        expect(end.session.played()).toBe(end.sentSamples)
        // The hold is the only silence.
        expect(peer.listener.gaps).toBe(1)
        expect(Math.abs(peer.listener.gapSamples / 8 - MINUTE)).toBeLessThanOrEqual(60)
        const statistics = await end.session.statistics()
        expect(statistics).toMatchObject({
          packetsLost: 0,
          packetsLate: 0,
          packetsDuplicate: 0,
          concealedSamples: 0,
          missedSlots: 0,
          heardOverrunSamples: 0,
          rejected: { unauthenticated: 0, replayed: 0, foreign: 0, malformed: 0 },
        })
        if (minutes === WRAPS_MINUTES) expect(statistics.packetsSent).toBeGreaterThan(65_536)
        const { packetsSent } = await peer.session.statistics()
        // All but the one that is under way now.
        expect(packetsSent - statistics.packetsReceived).toBeLessThanOrEqual(1)
      }
    },
  )

  it('recordings of both sides match: sent audio of one is received audio of the other after the network delay', async () => {
    const call = await VirtualCall.start({ conditions: { latencyMs: 20 } })
    call.a.talking = true
    call.run(3 * MINUTE)
    call.apply({ a: { direction: 'inactive' }, b: { direction: 'inactive' } })
    call.run(5000)
    call.apply({})
    call.run(MINUTE)
    await Promise.all([call.a.session.close(), call.b.session.close()])
    const sent = call.a.plane.captured(call.a.session).right
    const heard = call.b.plane.captured(call.b.session).left
    const shift = heard.findIndex(s => s !== 0) - sent.findIndex(s => s !== 0)
    expect(shift).toBe(20 * 8)
    const different: number[] = []
    for (let i = 0; i < heard.length - shift - 800; i++) if (sent[i] !== heard[i + shift]) different.push(i)
    // Where the hold begins, the receiver lets the sound decay for 3.75 ms.
    expect(different.length).toBeLessThanOrEqual(30)
    expect(different.at(-1)! - different[0]!).toBeLessThan(30)
    expect(sent.subarray(different[0]! - 160, different[0]!).every(sample => sample !== 0)).toBe(true)
  })
})
