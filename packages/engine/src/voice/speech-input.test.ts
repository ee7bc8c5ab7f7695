import { type Ms, msToSamples, NARROWBAND, VirtualTime } from '@parley/kernel'
import type { SpeechEvent, SpeechToText } from '@parley/providers'
import { expect, it } from 'vitest'
import { CallClock } from './call-clock.ts'
import { SpeechInput } from './speech-input.ts'

/** A call whose caller speaks without a pause from its beginning, and a recogniser that reports what the test says. */
class SpokenCall {
  readonly time = new VirtualTime()
  /** Number of streams that were opened. */
  opened = 0
  readonly input: SpeechInput
  #listener: (event: SpeechEvent) => void = () => {}

  constructor() {
    const { time } = this
    let position = 0
    let isTold = false
    const recogniser: SpeechToText = {
      id: 'test/silent',
      languages: ['en'],
      readiness: async () => null,
      open: () => {
        this.opened++
        return {
          write: () => {},
          finalize: () => {},
          onEvent: listener => {
            this.#listener = listener
          },
          close: () => {},
        }
      },
      close: async () => {},
    }
    this.input = new SpeechInput({
      leg: {
        format: NARROWBAND,
        readHeard: into => {
          const count = Math.min(into.length, msToSamples(time.now(), NARROWBAND) - position)
          position += count
          return count
        },
        heardPosition: () => position,
        detectVoice: () => {},
        nextVoiceEdge: () => {
          if (isTold) return null
          isTold = true
          return { type: 'voice-start', atSample: 0 }
        },
      },
      recognisers: [recogniser],
      speechBand: undefined,
      language: 'en',
      keywords: [],
      clock: new CallClock(NARROWBAND),
      time,
      onHeard: () => {},
      onFailure: () => {},
    })
  }

  /** The thread reads the audio every 20 ms, as it does in time. */
  listen(ms: Ms): void {
    for (let passed = 0; passed < ms; passed += 20) {
      this.time.advance(20)
      this.input.drain()
    }
  }

  /** The thread is held up, then reads all that waits. */
  stop(ms: Ms): void {
    this.time.advance(ms)
    this.input.drain()
  }

  hears(text: string): void {
    this.#listener({ type: 'partial', text, words: [{ text, startSample: 0, endSample: 800 }] })
  }
}

it('a recogniser that reports nothing for 2 s of speech is opened again', () => {
  const call = new SpokenCall()
  call.listen(2700)
  expect(call.opened).toBe(1)
  call.listen(200)
  expect(call.opened).toBe(2)
})

it('a recogniser is not opened again when the thread was held up and could not read its report', () => {
  const call = new SpokenCall()
  call.listen(1000)
  call.stop(1900)
  call.stop(1900)
  expect(call.opened).toBe(1)
  call.hears('hello')
  call.listen(500)
  expect(call.opened).toBe(1)
})

it('a recogniser is not opened again for speech that it got all at once from a late thread', () => {
  const call = new SpokenCall()
  call.stop(3000)
  expect(call.opened).toBe(1)
  call.listen(1500)
  expect(call.opened).toBe(1)
  // It has had time enough.
  call.listen(1000)
  expect(call.opened).toBe(2)
})
