import { randomUint32, SeededRandom } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decibels } from '../dsp/decibels.ts'
import { CallPage, PAGE_WORDS } from '../session/call-page.ts'
import type { SrtpSuite } from '../session/media-session.ts'
import { SessionRings } from '../session/session-rings.ts'
import type { Roughness } from '../session/testing/path-trace.ts'
import { type PlayedRigs, type PlayedTrace, playTrace } from '../session/testing/play-trace.ts'
import { SRTP_SUITES } from '../srtp/srtp-suite.ts'
import { NativeMediaPath } from './native-media-path.ts'
import { loadNativeAddon } from './native-packet-io.ts'
import { nativeTransforms } from './native-srtp.ts'
import { fuzzPages } from './testing/fuzz-native-path.ts'

const addon = loadNativeAddon()
const missing = typeof addon === 'string'
const note = missing ? ` (skipped: ${addon})` : ''
const built = (): Exclude<typeof addon, string> => addon as Exclude<typeof addon, string>

const CLEAN: Roughness = { network: 0, owner: 0 }
/** Almost nothing is lost, but the peer's clock drifts. */
const DRIFTING: Roughness = { network: 0.0004, owner: 0 }
const ROUGH: Roughness = { network: 0.15, owner: 0.02 }

function play(
  seed: number,
  steps: number,
  roughness: Roughness,
  suite: SrtpSuite | null,
  disturb?: PlayedTrace['disturb'],
): PlayedRigs {
  const path = new NativeMediaPath(built())
  const transforms = nativeTransforms(built())
  return playTrace({ seed, steps, roughness, suite, path, transforms, ...(disturb && { disturb }) })
}

describe.skipIf(missing)(`the native media path${note}`, () => {
  it.each([null, ...SRTP_SUITES])(
    'a quiet call over %s is byte for byte that of the portable path, almost all of it native',
    suite => {
      const { native } = play(1, 800, CLEAN, suite)
      expect(native.left / native.packets).toBeLessThan(0.05)
    },
  )

  it('a quiet call whose voice is judged below a band of tones is byte for byte that of the portable path, almost all of it native', () => {
    const { native } = play(2, 800, CLEAN, null)
    expect(native.left / native.packets).toBeLessThan(0.05)
    expect(native.advancesLeft / native.advances).toBeLessThan(0.05)
  })

  it.each([null, ...SRTP_SUITES])('a rough call over %s is byte for byte that of the portable path', suite => {
    for (let seed = 1; seed <= 4; seed++) {
      const { native } = play(seed, 400, ROUGH, suite)
      expect(native.left).toBeLessThan(native.packets)
    }
  })

  it('a call whose peer has a slower clock is byte for byte that of the portable path, with the same corrections', () => {
    for (let seed = 1; seed <= 3; seed++) {
      const { native } = play(seed, 600, DRIFTING, 'AES_CM_128_HMAC_SHA1_80')
      expect(native.left / native.packets).toBeLessThan(0.2)
    }
  })

  it('silence of a peer that has stopped sending is native, and byte for byte that of the portable path', () => {
    const { native } = play(1, 600, CLEAN, 'AES_CM_128_HMAC_SHA1_80', (step, _rigs, trace) => {
      if (step === 100) trace.pausePeer(400)
    })
    expect(native.advancesLeft / native.advances).toBeLessThan(0.05)
    expect(native.left / native.packets).toBeLessThan(0.05)
  })

  it('a call whose RTCP shares the RTP port is byte for byte that of the portable path, almost all of it native', () => {
    const { native } = play(1, 600, CLEAN, 'AES_CM_128_HMAC_SHA1_80', (step, _rigs, trace) => {
      if (step === 20) trace.multiplexRtcp()
    })
    expect(native.left / native.packets).toBeLessThan(0.05)
    expect(native.core.rtcpMux).toBe(true)
  })

  it.each(SRTP_SUITES)(
    'a peer that goes on from a private address after a pause is heard on both paths, and neither sends anything there (%s)',
    suite => {
      const destinations = (isExcluded: boolean) => {
        const { portable, native } = play(1, 600, CLEAN, suite, (step, _rigs, trace) => {
          if (step === 20 && isExcluded) trace.exclude({ ipv4: 0x0a00_0000, prefixBits: 8 })
          if (step === 100) trace.pausePeer(50)
          if (step === 130) trace.movePeer(0x0a00_0007)
        })
        expect(native.core.statistics().packetsReceived).toBeGreaterThan(500)
        expect(native.core.statistics().sourcesRefused).toBe(isExcluded ? 2 : 0)
        expect(native.destinations).toEqual(portable.destinations)
        return [...native.destinations]
      }
      expect(destinations(false)).toEqual([0xc000_0209, 0x0a00_0007])
      expect(destinations(true)).toEqual([0xc000_0209])
    },
  )

  it('one changed bit of a replay window is found', () => {
    const change = () =>
      play(1, 300, CLEAN, 'AES_CM_128_HMAC_SHA1_80', (step, { native }, trace) => {
        if (step !== 200) return
        native.flipReplayBit(trace.lastSequence)
        trace.replayLast()
      })
    expect(change).toThrow('step 200')
  })

  it('a replayed packet that the native path has accepted is refused', () => {
    const { native } = play(1, 300, CLEAN, 'AES_CM_128_HMAC_SHA1_80', (step, _rigs, trace) => {
      if (step > 100) trace.replayLast()
    })
    expect(native.core.statistics().rejected.replayed).toBe(199)
  })

  it('the page of a call has the same words in C++ and in TypeScript', () => {
    expect(built().pageWords()).toBe(
      PAGE_WORDS.flat()
        .map(name => `${name},`)
        .join(''),
    )
  })

  it('levels in decibels are the same to the bit in C++ and in TypeScript', () => {
    const random = new SeededRandom(1)
    for (let i = 0; i < 200_000; i++) {
      const power = (randomUint32(random) + 1) / 2 ** (1 + (i % 60))
      const level = decibels(power)
      if (built().decibels(power) !== level) expect(built().decibels(power), String(power)).toBe(level)
      if (Math.abs(level - 10 * Math.log10(power)) > 1e-12) expect(level).toBe(10 * Math.log10(power))
    }
  })

  it('any JavaScript arguments are accepted or throw a TypeError', () => {
    const path = new (built().MediaPath)(new Float64Array(8))
    const { memory } = new CallPage()
    path.add(1, 2, new Uint8Array(memory), new Uint8Array(new SessionRings().memory), null)
    const arrays = [Uint8Array, Uint16Array, Int32Array, Uint32Array, Float64Array, Int8Array] as const
    const array = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 4000 }), fc.boolean())
    const typed = array.map(([kind, length, isShared]) => {
      const buffer = isShared ? new SharedArrayBuffer(8 * length) : new ArrayBuffer(8 * length)
      return new arrays[kind]!(buffer as ArrayBuffer)
    })
    const numbers = fc.oneof(fc.integer({ min: -2, max: 70 }), fc.double(), fc.constantFrom(2 ** 31, 2 ** 32, -1))
    const value = fc.oneof(typed, numbers, fc.constantFrom(null, undefined, 'x', {}, Symbol('x')))
    const methods = ['add', 'remove', 'openWith', 'sealWith', 'compose', 'receive', 'advance'] as const
    fc.assert(
      fc.property(fc.constantFrom(...methods), fc.array(value, { maxLength: 12 }), (method, values) => {
        // The call itself stays.
        if (method === 'remove' && values[0] === 0) return
        try {
          Reflect.apply(path[method], path, values)
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError)
        }
      }),
      { numRuns: 3000 },
    )
  })

  it('a page of any content does no harm', () => {
    fuzzPages(built(), new SeededRandom(3), 20_000)
  })

  it('memory that could be detached, or is no call page, is refused', () => {
    const path = new (built().MediaPath)(new Float64Array(8))
    const shared = (bytes: number) => new Uint8Array(new SharedArrayBuffer(bytes))
    expect(() => path.add(1, 2, new Uint8Array(4096), shared(4096), null)).toThrow(TypeError)
    expect(() => path.add(1, 2, shared(4096), shared(4096), null)).toThrow(TypeError)
    expect(() => path.add(-1, 2, shared(4096), shared(4096), null)).toThrow(TypeError)
    expect(path.openWith(5, null)).toBe(false)
    path.remove(5)
  })
})
