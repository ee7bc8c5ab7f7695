import { NARROWBAND, WIDEBAND } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { MediaError } from '../errors.ts'
import { CallMix } from './call-mix.ts'
import { SessionRings } from './session-rings.ts'
import { VirtualCall } from './testing/virtual-call.ts'

const FRAME = 160
/** Samples that are held back: 200 ms. */
const DELAY = 1600

function constant(value: number, count: number): Int16Array {
  return new Int16Array(count).fill(value)
}

function taken(rings: SessionRings): Int16Array {
  const into = new Int16Array(16_384)
  return into.slice(0, rings.takeOutbound(into, into.length))
}

describe('the mix of a call', () => {
  it('the mix of a call adds both directions at their positions, whichever comes first, and loud ones do not wrap', () => {
    const rings = new SessionRings(NARROWBAND)
    const mix = new CallMix(rings)
    mix.write(0, constant(1000, 2 * FRAME), 0, 2 * FRAME)
    mix.write(FRAME, constant(30_000, 2 * FRAME), 0, FRAME)
    mix.write(FRAME, constant(30_000, 2 * FRAME), 0, FRAME)
    mix.write(0, constant(500, FRAME), 0, FRAME)
    expect(taken(rings)).toHaveLength(0)
    mix.write(4 * FRAME, constant(1, DELAY), 0, DELAY)
    expect([...taken(rings)]).toEqual([...constant(1500, FRAME), ...constant(32_767, FRAME), ...constant(0, 2 * FRAME)])
  })

  it('audio that comes after its position was passed on is left out, and a jump of the clock starts anew', () => {
    const rings = new SessionRings(NARROWBAND)
    const mix = new CallMix(rings)
    mix.write(0, constant(5, FRAME + DELAY), 0, FRAME + DELAY)
    expect(taken(rings)).toHaveLength(FRAME)
    mix.write(0, constant(700, FRAME), 0, FRAME)
    mix.write(800_000, constant(9, FRAME + DELAY), 0, FRAME + DELAY)
    expect([...taken(rings)]).toEqual([...constant(9, FRAME)])
  })
})

describe('a session that listens to another', () => {
  const levelOf = (audio: Int16Array) => Math.sqrt(audio.reduce((sum, sample) => sum + sample ** 2, 0) / audio.length)

  it('a session that listens to another sends what both sides of the call say, and neither hears it', async () => {
    const call = await VirtualCall.start({ suite: null })
    const listener = await call.b.plane.open({ label: 'listener' })
    listener.apply({ ...call.parameters('b'), remote: { address: '192.0.2.9', port: 9000 }, direction: 'sendonly' })
    const stop = call.b.session.playTo(listener)
    const sentIn = () => call.b.plane.captured(listener).right
    call.b.session.play(constant(4000, 8000))
    call.run(1000)
    expect(levelOf(sentIn().subarray(4000, 8000))).toBeGreaterThan(2000)
    call.a.session.play(constant(-4000, 8000))
    call.run(1500)
    expect(levelOf(sentIn().subarray(14_000, 16_000))).toBeGreaterThan(2000)
    // The far end sent and heard what it would have without a listener.
    expect(levelOf(call.b.plane.captured(call.b.session).right.subarray(12_000))).toBe(0)
    stop()
    call.run(500)
    call.a.session.play(constant(4000, 16_000))
    const until = sentIn().length
    call.run(2000)
    expect(levelOf(sentIn().subarray(until))).toBe(0)
    await listener.close()
    expect((await call.b.session.close()).statistics.packetsLost).toBe(0)
  })

  it('a session of another format is refused', async () => {
    const call = await VirtualCall.start()
    const listener = await call.b.plane.open({ label: 'listener', format: WIDEBAND })
    expect(() => call.b.session.playTo(listener)).toThrow(MediaError)
  })
})
