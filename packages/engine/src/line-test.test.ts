import type { LegEvent } from '@parley/leg'
import { VirtualLine } from '@parley/leg/testing'
import type { CodecName } from '@parley/media'
import { describe, expect, it } from 'vitest'
import { Call } from './call.ts'
import { lineTestHandler } from './line-test.ts'
import { FingerprintVoice } from './testing/scripted-speech.ts'
import { Ticker } from './ticker.ts'

const TONE_HZ = 700

interface Heard {
  readonly audio: Int16Array
  readonly sampleRateHz: number
}

function tone(seconds: number, sampleRateHz: number): Int16Array {
  return Int16Array.from({ length: seconds * sampleRateHz }, (_, i) =>
    Math.round(8000 * Math.sin((2 * Math.PI * TONE_HZ * i) / sampleRateHz)),
  )
}

/** Number of tenths of a second in the audio that contain only the 700 Hz tone. */
function tenthsOfTone({ audio, sampleRateHz }: Heard): number {
  const window = sampleRateHz / 10
  let count = 0
  for (let from = 0; from + window <= audio.length; from += window) {
    let sine = 0
    let cosine = 0
    let energy = 1
    for (let i = 0; i < window; i++) {
      const sample = audio[from + i]!
      const angle = (2 * Math.PI * TONE_HZ * i) / sampleRateHz
      sine += sample * Math.sin(angle)
      cosine += sample * Math.cos(angle)
      energy += sample ** 2
    }
    if ((2 * (sine ** 2 + cosine ** 2)) / (window * energy) > 0.9) count++
  }
  return count
}

/** Audio that a caller receives who presses # and then sends the tone until the line test hangs up. */
async function heardOnLineTest(codecs: readonly CodecName[]): Promise<Heard> {
  const line = new VirtualLine({ answering: { codecs } })
  const { time } = line
  line.onOffer = leg => {
    const createHandler = lineTestHandler({ voice: new FingerprintVoice(), language: 'en', time, wallClock: () => 0 })
    new Call({ leg, time, ticker: new Ticker(time), createHandler, onEvent: () => {} })
    leg.answer()
  }
  const caller = await line.dial({ codecs })
  await line.pass(1000)
  caller.sendDigits('#')
  await line.pass(500)
  caller.play(tone(20, caller.format.sampleRateHz))
  await line.pass(25_000)
  const isEnd = (event: LegEvent) => event.type === 'ended' && event.end.by === 'remote'
  expect(line.a.events.some(isEnd)).toBe(true)
  return { audio: line.a.captured().left, sampleRateHz: caller.format.sampleRateHz }
}

describe('the line test', () => {
  it.each(['PCMU', 'G722'] as const)(
    'the line test echoes two seconds of a caller over %s at unchanged pitch and speed',
    async codec => {
      const tenths = tenthsOfTone(await heardOnLineTest([codec]))
      expect(tenths).toBeGreaterThanOrEqual(18)
      expect(tenths).toBeLessThanOrEqual(21)
    },
  )
})
