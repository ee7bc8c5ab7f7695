import { decodePcmu, encodePcmu } from '@parley/media'
import { describe, expect, it } from 'vitest'
import { VirtualLine } from './virtual-line.ts'

const MINUTE = 60_000
const MINUTE_SAMPLES = MINUTE * 8

/** A minute of noise without repetition, so that any shift, loss or duplicate shows; its values survive G.711 unchanged. */
function sound(minute: number): Int16Array {
  const audio = new Int16Array(MINUTE_SAMPLES)
  let state = minute * 2654435761 + 1
  for (let i = 0; i < audio.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    audio[i] = 400 + (state >>> 18)
  }
  const coded = new Uint8Array(audio.length)
  encodePcmu(audio, 0, audio.length, coded, 0)
  decodePcmu(coded, 0, coded.length, audio, 0)
  return audio
}

/** Positions at which sent and heard audio differ. `shift`: delay in samples. The newest 100 ms may still be in transit. */
function differences(sent: Int16Array, heard: Int16Array, shift: number): number[] {
  const found: number[] = []
  for (let i = Math.max(0, -shift); i + shift < heard.length - 800 && i < sent.length; i++)
    if (sent[i] !== heard[i + shift]) found.push(i)
  return found
}

describe('a call of 40 minutes, signalling and media, in virtual time', () => {
  it('a call of 40 minutes survives the wrap of sequence numbers, a hold and a re-key, and every sample outside the hold arrives unchanged', async () => {
    const line = new VirtualLine({ seed: 40 })
    await line.dial()
    await line.pass(1000)
    const [a, b] = [line.a.leg!, line.b.leg!]
    for (let minute = 0; minute < 40; minute++) {
      a.play(sound(minute))
      b.play(sound(minute + 100))
      if (minute === 10) b.hold()
      if (minute === 11) b.resume()
      if (minute === 25) a.rekey()
      await line.pass(MINUTE, 100)
    }
    // 65,536 packets are 21.8 minutes, so the sequence number wrapped whatever the first one was.
    const [statisticsA, statisticsB] = [await a.statistics(), await b.statistics()]
    for (const statistics of [statisticsA, statisticsB]) {
      expect(statistics.packetsSent).toBeGreaterThan(65_536)
      expect(statistics).toMatchObject({
        packetsLost: 0,
        packetsLate: 0,
        concealedSamples: 0,
        missedSlots: 0,
        rejected: { unauthenticated: 0, replayed: 0, foreign: 0, malformed: 0 },
      })
    }
    expect(line.b.events.flatMap(event => (event.type === 'reoffered' ? [event.purpose] : []))).toEqual([
      'hold',
      'resume',
    ])
    expect(line.a.eventTypes().filter(fact => fact === 'held' || fact === 'resumed')).toEqual(['held', 'resumed'])
    expect(line.a.events.flatMap(event => (event.type === 'reoffered' ? [event.purpose] : []))).toEqual(['rekey'])

    const sent = line.a.captured().right
    const heard = line.b.captured().left
    const shift = heard.findIndex(sample => sample !== 0) - sent.findIndex(sample => sample !== 0)
    const wrong = differences(sent, heard, shift)
    // Only the edges of the hold differ: packets in transit, and the fade of the audio.
    expect(wrong.length).toBeLessThan(60 * 8)
    for (const sample of wrong) expect(Math.abs(sample / MINUTE_SAMPLES - 10.5)).toBeLessThan(0.6)

    a.hangUp()
    await line.pass(1000)
    expect(line.a.end).toMatchObject({ cause: 'bye', confirmed: true })
    expect(line.b.end).toMatchObject({ cause: 'bye', confirmed: true })
  })
})
