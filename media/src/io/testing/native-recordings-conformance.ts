import assert from 'node:assert/strict'
import { NARROWBAND, type Random, randomBelow, randomUint32, SeededRandom } from '@parley/kernel'
import { allocateRecordingRing, RecordingRing, RecordingRingReader } from '../../recorder/recording-ring.ts'
import type { NativeAddon } from '../native-packet-io.ts'

const CAPACITY = 1024
const HEADER_WORDS = 9
/** Longest block that is asked for, in frames: longer than the ring. */
const MOST_FRAMES = 1500

/** Blocks of recordings have the same bytes as in TypeScript, for any audio, position and order of channels. */
export function checkRecordings(addon: NativeAddon): void {
  for (let seed = 1; seed <= 200; seed++) checkRecording(addon, new SeededRandom(seed))
}

function checkRecording({ copyRecording }: NativeAddon, random: Random): void {
  const buffer = allocateRecordingRing(NARROWBAND, CAPACITY)
  const ring = new RecordingRing(buffer)
  const portable = new RecordingRingReader(buffer)
  const native = new RecordingRingReader(buffer, copyRecording)
  for (let step = 0; step < 25; step++) {
    const audio = random.bytes(1 + randomBelow(random, 700))
    const position = randomBelow(random, 3000)
    if (randomBelow(random, 2) === 0) ring.writeRightBytes(position, audio, 0, audio.length)
    else ring.writeLeftBytes(position, audio, 0, audio.length)
    const frames = randomBelow(random, MOST_FRAMES)
    const isSwapped = randomBelow(random, 2) === 0
    const [expected, got] = [new Uint8Array(2400), new Uint8Array(2400)]
    assert.equal(native.copy(got, frames, isSwapped), portable.copy(expected, frames, isSwapped))
    assert.deepEqual(got, expected)
    portable.release(randomBelow(random, 900))
  }
}

/**
 * Copies blocks of rings whose words are anything, into memory of any length: the native code must refuse them, or stay in its memory.
 */
export function fuzzRecordings({ copyRecording }: NativeAddon, random: Random, rounds: number): void {
  const words = new Int32Array(allocateRecordingRing(NARROWBAND, CAPACITY))
  for (let round = 0; round < rounds; round++) {
    for (let i = 1; i < HEADER_WORDS; i++) words[i] = anyWord(random)
    words[0] = randomBelow(random, 8) === 0 ? anyWord(random) : CAPACITY
    const skipped = randomBelow(random, 16) === 0 ? randomBelow(random, words.length) : 0
    const frames = randomBelow(random, 4) === 0 ? randomUint32(random) : randomBelow(random, MOST_FRAMES)
    const into = new Uint8Array(randomBelow(random, 2 * MOST_FRAMES))
    try {
      copyRecording(words.subarray(skipped), frames, into, randomBelow(random, 2) === 0)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
  }
}

const SPECIAL_WORDS = [0, -1, 1, 2 ** 31 - 1, -(2 ** 31), CAPACITY, -CAPACITY, 2 ** 30]

/** A word of a ring's header: one that code may stumble over, one near the ring's length, or any. */
export function anyWord(random: Random): number {
  const kind = randomBelow(random, 3)
  if (kind === 0) return SPECIAL_WORDS[randomBelow(random, SPECIAL_WORDS.length)]!
  return kind === 1 ? randomBelow(random, 3 * CAPACITY) - CAPACITY : randomUint32(random) | 0
}
