// Runs under the sanitisers: `node fuzz-process.ts ADDON SEED COUNT SECONDS`. Prints one JSON object; a fault ends the process.
import { createRequire } from 'node:module'
import { randomBelow, SeededRandom } from '@parley/kernel'
import { NativeMediaPath } from '../../../media/src/io/native-media-path.ts'
import type { NativeAddon } from '../../../media/src/io/native-packet-io.ts'
import { nativeTransforms } from '../../../media/src/io/native-srtp.ts'
import { fuzzPages, fuzzTurns } from '../../../media/src/io/testing/fuzz-native-path.ts'
import { fuzzRecordings } from '../../../media/src/io/testing/native-recordings-conformance.ts'
import { playTrace } from '../../../media/src/session/testing/play-trace.ts'
import { SRTP_SUITES } from '../../../media/src/srtp/srtp-suite.ts'

const STEPS = 200
const PAGES = 2000
const TURNS = 50
const BLOCKS = 2000

const [file, seed, count, seconds] = process.argv.slice(2)
const addon = createRequire(import.meta.url)(file!) as NativeAddon
const random = new SeededRandom(Number(seed))
const until = performance.now() + 1000 * Number(seconds)
const suites = [null, ...SRTP_SUITES]
let traces = 0
let packets = 0
let left = 0
while (traces < Number(count) && performance.now() < until) {
  const { native } = playTrace({
    seed: randomBelow(random, 2 ** 31),
    steps: STEPS,
    roughness: { network: randomBelow(random, 400) / 1000, owner: randomBelow(random, 100) / 1000 },
    suite: suites[traces % suites.length]!,
    path: new NativeMediaPath(addon),
    transforms: nativeTransforms(addon),
  })
  fuzzPages(addon, random, PAGES)
  fuzzTurns(addon, random, TURNS)
  fuzzRecordings(addon, random, BLOCKS)
  traces++
  packets += native.packets
  left += native.left
}
const [pages, turns, blocks] = [traces * PAGES, traces * TURNS, traces * BLOCKS]
console.log(JSON.stringify({ traces, pages, turns, blocks, packets, native: packets - left }))
