import { randomBelow, SeededRandom, WIDEBAND } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { G722 } from '../codec/g722.ts'
import { ReceiveStream } from '../dsp/receive-stream.ts'
import { DecodingStream } from './codec-streams.ts'

const PACKETS = 40
const PAYLOAD_BYTES = 160

function encodedNoise(): Uint8Array {
  const random = new SeededRandom(1)
  const noise = Int16Array.from({ length: 320 * PACKETS }, () => randomBelow(random, 8000) - 4000)
  const payloads = new Uint8Array(PAYLOAD_BYTES * PACKETS)
  G722.createEncoder().encode(noise, 0, noise.length, payloads, 0)
  return payloads
}

/** What is heard when packet i arrives at `arrivals[i]` (ms; null: never); position 0 is the first sample of packet 0. */
function heardWhen(arrivals: readonly (number | null)[]): Int16Array {
  const payloads = encodedNoise()
  const stream = new ReceiveStream({ openedAtMs: 0, format: WIDEBAND })
  const decoder = new DecodingStream(G722, WIDEBAND)
  const heard = new Int16Array(32_000)
  const into = new Int16Array(960)
  for (let now = 0; now <= PACKETS * 20 + 100; now++) {
    for (const [i, at] of arrivals.entries())
      if (at === now) stream.push(1, i, 160 * i, decoder, payloads, PAYLOAD_BYTES * i, PAYLOAD_BYTES, now)
    for (let at = stream.position, count = stream.pull(now, into); count > 0; count = stream.pull(now, into)) {
      heard.set(into.subarray(0, count), at)
      at = stream.position
    }
  }
  return heard
}

const inTime = Array.from({ length: PACKETS }, (_, i) => 20 * i)
const lost = inTime.map((at, i) => (i === 20 ? null : at))

describe('G.722 decodes in order of sequence', () => {
  it('a G.722 packet that arrives 30 ms later than its turn is heard as if it had arrived in time', () => {
    const delayed = inTime.map((at, i) => (i === 20 ? at + 30 : at))
    expect(heardWhen(delayed)).toEqual(heardWhen(inTime))
  })

  it('a G.722 packet that arrives too late does not change the audio that follows it', () => {
    const late = inTime.map((at, i) => (i === 20 ? at + 70 : at))
    expect(heardWhen(late)).toEqual(heardWhen(lost))
  })

  it('the first G.722 packet of another source is decoded without the state of the source before', () => {
    const payloads = encodedNoise()
    const heardOfSecond = (hasFirst: boolean) => {
      const stream = new ReceiveStream({ openedAtMs: 0, format: WIDEBAND })
      const decoder = new DecodingStream(G722, WIDEBAND)
      const into = new Int16Array(960)
      if (hasFirst) stream.push(1, 500, 0, decoder, payloads, PAYLOAD_BYTES * 20, PAYLOAD_BYTES, 0)
      stream.pull(0, into)
      stream.push(2, 9, 5000, decoder, payloads, 0, PAYLOAD_BYTES, 20)
      const count = stream.pull(20, into)
      // The first half of the packet may be blended with what was before it.
      return into.slice(count - 160, count)
    }
    expect(heardOfSecond(true)).toEqual(heardOfSecond(false))
  })
})
