import { type AudioFormat, NARROWBAND, VirtualTime, WIDEBAND } from '@parley/kernel'
import type { SpeechToText } from '@parley/providers'
import { describe, expect, it } from 'vitest'
import { CallClock } from './call-clock.ts'
import { SpeechInput } from './speech-input.ts'

interface Opened {
  readonly format: AudioFormat | undefined
  readonly written: { readonly at: number; readonly count: number }[]
}

/** Runs a call with audio in the format `call` for a second, with a recogniser that accepts `formats`. */
function heardBy(formats: readonly AudioFormat[] | undefined, call: AudioFormat): Opened {
  const time = new VirtualTime()
  const opened: { format: AudioFormat | undefined; written: { at: number; count: number }[] } = {
    format: undefined,
    written: [],
  }
  let position = 0
  const recogniser: SpeechToText = {
    id: 'test/formats',
    languages: ['en'],
    ...(formats && { formats }),
    readiness: async () => null,
    open: options => {
      opened.format = options.format
      return {
        write: (samples, at) => void opened.written.push({ at, count: samples.length }),
        finalize: () => {},
        onEvent: () => {},
        close: () => {},
      }
    },
    close: async () => {},
  }
  const input = new SpeechInput({
    leg: {
      format: call,
      readHeard: into => {
        const count = Math.min(into.length, (time.now() * call.sampleRateHz) / 1000 - position)
        position += count
        return count
      },
      heardPosition: () => position,
      detectVoice: () => {},
      nextVoiceEdge: () => null,
    },
    recogniser,
    speechBand: undefined,
    language: 'en',
    keywords: [],
    clock: new CallClock(call),
    time,
    onHeard: () => {},
    onFailure: () => {},
  })
  for (let ms = 0; ms < 1000; ms += 20) {
    time.advance(20)
    input.drain()
  }
  return opened
}

const total = ({ written }: Opened) => written.reduce((sum, { count }) => sum + count, 0)

describe('a call with 16 kHz audio', () => {
  it('is sent at 16 kHz to a recogniser that accepts it', () => {
    const opened = heardBy([NARROWBAND, WIDEBAND], WIDEBAND)
    expect(opened.format).toEqual(WIDEBAND)
    expect(total(opened)).toBe(16_000)
  })

  it('is resampled to 8 kHz without gaps for a recogniser that declares no formats', () => {
    const opened = heardBy(undefined, WIDEBAND)
    expect(opened.format).toEqual(NARROWBAND)
    expect(total(opened)).toBe(8000)
    for (const [i, { at, count }] of opened.written.entries()) {
      expect(opened.written[i + 1]?.at ?? at + count).toBe(at + count)
    }
  })
})

describe('a call with 8 kHz audio', () => {
  it('is sent at 8 kHz to a recogniser that also accepts more', () => {
    const opened = heardBy([WIDEBAND, NARROWBAND], NARROWBAND)
    expect(opened.format).toEqual(NARROWBAND)
    expect(total(opened)).toBe(8000)
  })
})
