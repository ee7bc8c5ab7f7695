import assert from 'node:assert/strict'
import { randomUint32, SeededRandom } from '@parley/kernel'
import { decibels } from '../../dsp/decibels.ts'
import { PAGE_WORDS } from '../../session/call-page.ts'
import type { SrtpSuite } from '../../session/media-session.ts'
import type { Roughness } from '../../session/testing/path-trace.ts'
import { type PlayedRigs, type PlayedTrace, playTrace } from '../../session/testing/play-trace.ts'
import { SRTP_SUITES } from '../../srtp/srtp-suite.ts'
import { NativeMediaPath } from '../native-media-path.ts'
import type { NativeAddon } from '../native-packet-io.ts'
import { nativeTransforms } from '../native-srtp.ts'
import { fuzzPages, fuzzTurns } from './fuzz-native-path.ts'
import { checkRecordings, fuzzRecordings } from './native-recordings-conformance.ts'
import { checkCall, checkSlots } from './native-turns-conformance.ts'
import { checkEmptySlots } from './native-wakes-conformance.ts'

const CLEAN: Roughness = { network: 0, owner: 0 }
/** Almost nothing is lost, but the peer's clock drifts. */
const DRIFTING: Roughness = { network: 0.0004, owner: 0 }
const ROUGH: Roughness = { network: 0.15, owner: 0.02 }
const SUITES = [null, ...SRTP_SUITES]

/** One promise of the native path; `check` throws, or rejects, where it does not hold. */
interface ConformanceCase {
  readonly name: string
  /** It opens sockets, with options that qemu-user does not know. */
  readonly hasSockets?: true
  check(addon: NativeAddon): void | Promise<void>
}

function play(
  addon: NativeAddon,
  seed: number,
  steps: number,
  roughness: Roughness,
  suite: SrtpSuite | null,
  disturb?: PlayedTrace['disturb'],
): PlayedRigs {
  const path = new NativeMediaPath(addon)
  return playTrace({
    seed,
    steps,
    roughness,
    suite,
    path,
    transforms: nativeTransforms(addon),
    ...(disturb && { disturb }),
  })
}

function assertMostlyNative({ native }: PlayedRigs, share = 0.05): void {
  assert.ok(native.left / native.packets < share, `${native.left} of ${native.packets} packets were left to TypeScript`)
}

function checkPrivateAddress(addon: NativeAddon, suite: SrtpSuite): void {
  const destinations = (isExcluded: boolean) => {
    const { portable, native } = play(addon, 1, 600, CLEAN, suite, (step, _rigs, trace) => {
      if (step === 20 && isExcluded) trace.exclude({ ipv4: 0x0a00_0000, prefixBits: 8 })
      if (step === 100) trace.pausePeer(50)
      if (step === 130) trace.movePeer(0x0a00_0007)
    })
    assert.ok(native.core.statistics().packetsReceived > 500)
    assert.equal(native.core.statistics().sourcesRefused, isExcluded ? 2 : 0)
    assert.deepEqual(native.destinations, portable.destinations)
    return [...native.destinations]
  }
  assert.deepEqual(destinations(false), [0xc000_0209, 0x0a00_0007])
  assert.deepEqual(destinations(true), [0xc000_0209])
}

function checkDecibels(addon: NativeAddon): void {
  const random = new SeededRandom(1)
  for (let i = 0; i < 200_000; i++) {
    const power = (randomUint32(random) + 1) / 2 ** (1 + (i % 60))
    const level = decibels(power)
    if (addon.decibels(power) !== level) assert.equal(addon.decibels(power), level, String(power))
    assert.ok(Math.abs(level - 10 * Math.log10(power)) <= 1e-12)
  }
}

const CALLS: readonly ConformanceCase[] = [
  ...SUITES.map(suite => ({
    name: `a quiet call over ${suite} is byte for byte that of the portable path, almost all of it native`,
    check: (addon: NativeAddon) => assertMostlyNative(play(addon, 1, 800, CLEAN, suite)),
  })),
  ...SUITES.map(suite => ({
    name: `a rough call over ${suite} is byte for byte that of the portable path`,
    check: (addon: NativeAddon) => {
      for (let seed = 1; seed <= 4; seed++) assertMostlyNative(play(addon, seed, 400, ROUGH, suite), 1)
    },
  })),
  {
    name: 'a quiet call whose voice is judged below a band of tones is byte for byte that of the portable path, almost all of it native',
    check: addon => {
      const rigs = play(addon, 2, 800, CLEAN, null)
      assertMostlyNative(rigs)
      assert.ok(rigs.native.advancesLeft / rigs.native.advances < 0.05)
    },
  },
  {
    name: 'a call whose peer has a slower clock is byte for byte that of the portable path, with the same corrections',
    check: addon => {
      for (let seed = 1; seed <= 3; seed++)
        assertMostlyNative(play(addon, seed, 600, DRIFTING, 'AES_CM_128_HMAC_SHA1_80'), 0.2)
    },
  },
  {
    name: 'a call whose packets come up to 100 ms late is byte for byte that of the portable path, most of it native and all but its beginning heard',
    check: addon => {
      for (let seed = 1; seed <= 3; seed++) {
        let concealedAtFirst = 0
        const rigs = play(addon, seed, 800, CLEAN, 'AES_CM_128_HMAC_SHA1_80', (step, { native }, trace) => {
          if (step === 50) trace.delayPeer(100)
          if (step === 250) concealedAtFirst = native.core.statistics().concealedSamples
        })
        assertMostlyNative(rigs, 0.2)
        const { concealedSamples, packetsReceived } = rigs.native.core.statistics()
        assert.ok(packetsReceived > 700)
        assert.ok(
          concealedSamples - concealedAtFirst < 800,
          `${concealedSamples - concealedAtFirst} samples were concealed`,
        )
      }
    },
  },
  {
    name: 'silence of a peer that has stopped sending is native, and byte for byte that of the portable path',
    check: addon => {
      const rigs = play(addon, 1, 600, CLEAN, 'AES_CM_128_HMAC_SHA1_80', (step, _rigs, trace) => {
        if (step === 100) trace.pausePeer(400)
      })
      assert.ok(rigs.native.advancesLeft / rigs.native.advances < 0.05)
      assertMostlyNative(rigs)
    },
  },
  {
    name: 'a call whose RTCP shares the RTP port is byte for byte that of the portable path, almost all of it native',
    check: addon => {
      const rigs = play(addon, 1, 600, CLEAN, 'AES_CM_128_HMAC_SHA1_80', (step, _rigs, trace) => {
        if (step === 20) trace.multiplexRtcp()
      })
      assertMostlyNative(rigs)
      assert.ok(rigs.native.core.rtcpMux)
    },
  },
]

const ATTACKS: readonly ConformanceCase[] = [
  ...SRTP_SUITES.map(suite => ({
    name: `a peer that goes on from a private address after a pause is heard on both paths, and neither sends anything there (${suite})`,
    check: (addon: NativeAddon) => checkPrivateAddress(addon, suite),
  })),
  {
    name: 'one changed bit of a replay window is found',
    check: addon => {
      const change = () =>
        play(addon, 1, 300, CLEAN, 'AES_CM_128_HMAC_SHA1_80', (step, { native }, trace) => {
          if (step !== 200) return
          native.flipReplayBit(trace.lastSequence)
          trace.replayLast()
        })
      assert.throws(change, /step 200/)
    },
  },
  {
    name: 'a replayed packet that the native path has accepted is refused',
    check: addon => {
      const { native } = play(addon, 1, 300, CLEAN, 'AES_CM_128_HMAC_SHA1_80', (step, _rigs, trace) => {
        if (step > 100) trace.replayLast()
      })
      assert.equal(native.core.statistics().rejected.replayed, 199)
    },
  },
]

/** What holds of the addon wherever it runs: the same bytes, state and events as TypeScript. */
export const NATIVE_PATH_CASES: readonly ConformanceCase[] = [
  ...CALLS,
  ...ATTACKS,
  {
    name: 'the page of a call has the same words in C++ and in TypeScript',
    check: addon => {
      const names = PAGE_WORDS.flat().map(name => `${name},`)
      assert.equal(addon.pageWords(), names.join(''))
    },
  },
  { name: 'levels in decibels are the same to the bit in C++ and in TypeScript', check: checkDecibels },
  {
    name: 'a page of any content does no harm',
    check: addon => fuzzPages(addon, new SeededRandom(3), 20_000),
  },
  {
    name: 'a block of a recording has the same bytes as in TypeScript, for any audio, position and order of channels',
    check: checkRecordings,
  },
  {
    name: 'a ring of a recording of any content does no harm',
    check: addon => fuzzRecordings(addon, new SeededRandom(5), 20_000),
  },
  {
    name: 'wakes in C++ find the calls whose slots SendSlots finds, for any packet times, changes and pauses of the thread',
    check: checkSlots,
  },
  {
    name: 'wakes in C++ leave out every other one that has no slot, but not while a socket is flooded',
    hasSockets: true,
    check: checkEmptySlots,
  },
  {
    name: 'a call whose wakes are in C++ sends byte for byte what the portable path composes for its slots, and hears all that its peer sends',
    hasSockets: true,
    check: checkCall,
  },
  {
    name: 'wakes in C++ over calls, packets and a grid of any content do no harm',
    hasSockets: true,
    check: addon => fuzzTurns(addon, new SeededRandom(4), 100),
  },
]
