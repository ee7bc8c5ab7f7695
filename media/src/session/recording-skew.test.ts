import { describe, expect, it } from 'vitest'
import { readWav } from '../recorder/wav-reader.ts'
import { findMarker, runSkewCall, type SkewCallOptions } from './testing/skew-call.ts'

const LATENCY_MS = 20

const CALL: SkewCallOptions = {
  oursPpm: -40,
  theirsPpm: 80,
  loss: 0.02,
  latencyMs: LATENCY_MS,
  minutes: 40,
  seed: 1,
  talking: true,
  stalls: [
    { minute: 8.2, what: 'network' },
    { minute: 17.4, what: 'ours' },
    { minute: 31.3, what: 'theirs' },
  ],
  refreshes: [13.1, 27.2],
}

/** Left against right at each marker, ms; the journey of the packets belongs to the call and is taken off. */
async function skews(options: SkewCallOptions): Promise<number[]> {
  const { wav, markers } = await runSkewCall(options)
  const [left, right] = readWav(wav).channels
  const found: number[] = []
  for (let minute = 0; minute < markers; minute++) {
    const due = Math.round((minute + 0.5) * 480_000)
    const sent = findMarker(right!, due, 4000)
    const heard = findMarker(left!, due, 4000)
    expect(Math.min(sent.match, heard.match)).toBeGreaterThan(0.4)
    found.push((heard.position - sent.position) / 8 - LATENCY_MS)
  }
  return found
}

/** Without the correction its channels are 144 ms apart at its end. */
const HALF_CALL: SkewCallOptions = {
  ...CALL,
  minutes: 20,
  talking: false,
  stalls: [
    { minute: 4.2, what: 'network' },
    { minute: 8.4, what: 'ours' },
    { minute: 15.3, what: 'theirs' },
  ],
  refreshes: [6.1, 13.2],
}

describe('a recording between clocks that differ by 120 ppm', () => {
  it.each([
    ['both talk', CALL],
    ['nobody talks', HALF_CALL],
  ])(
    'a recording keeps its channels within 20 ms through loss, three stalls and two refreshes while %s',
    async (_name, options) => {
      const found = await skews(options)
      expect(found).toHaveLength(options.minutes)
      expect(Math.max(...found.map(Math.abs))).toBeLessThan(20)
    },
    120_000,
  )
})
