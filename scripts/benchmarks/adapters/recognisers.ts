import { FakeAssemblyAi, FakeDeepgramFlux, FakeDeepgramListen } from '@parley/fakes'
import { systemTime } from '@parley/kernel'
import type { SpeechToText } from '@parley/providers'
import { assemblyAiStreaming, deepgramFlux, deepgramNova, ServiceRecogniser } from '@parley/providers/testing'
import {
  amplitudeRecogniser,
  amplitudeSpeech,
} from '../../../packages/providers/src/speech-to-text/testing/amplitude-speech.ts'
import type { AdapterSubject, AdapterUnderLoad, CallFigures } from './subject.ts'

const API_KEY = 'key'
const FAKE = { apiKey: API_KEY, openRecogniser: amplitudeRecogniser }
const COMMON = { apiKey: API_KEY, time: systemTime }
/** Four words a second for two and a half seconds, then a pause: four seconds. */
const WORDS = 'one two three four five six seven eight nine one'.split(' ')
const SENTENCE = new Int16Array(32_000)
SENTENCE.set(amplitudeSpeech(WORDS.join(' ')))
/** Audio that a call gets in one write. */
const PACKET = 160
const PACKET_MS = 20
const ANSWER_MS = 10_000

/** Speech-to-text services: each call sends sentence after sentence in real time, and every word must arrive. */
export const RECOGNISERS: readonly AdapterSubject[] = [
  {
    name: 'deepgram-nova',
    openFake: () => FakeDeepgramListen.open(FAKE),
    open: url => underLoad(new ServiceRecogniser(deepgramNova(), { ...COMMON, baseUrl: url })),
  },
  {
    name: 'deepgram-flux',
    openFake: () => FakeDeepgramFlux.open(FAKE),
    open: url => underLoad(new ServiceRecogniser(deepgramFlux(), { ...COMMON, baseUrl: url })),
  },
  {
    name: 'assemblyai',
    openFake: () => FakeAssemblyAi.open(FAKE),
    open: url => underLoad(new ServiceRecogniser(assemblyAiStreaming(), { ...COMMON, baseUrl: url })),
  },
]

function underLoad(recogniser: SpeechToText): AdapterUnderLoad {
  const ticker = new Ticker()
  return {
    call: seconds => recognise(recogniser, ticker, Math.max(1, Math.round((seconds * 8000) / SENTENCE.length))),
    async close() {
      ticker.close()
      await recogniser.close()
    },
  }
}

async function recognise(recogniser: SpeechToText, ticker: Ticker, sentences: number): Promise<CallFigures> {
  const stream = recogniser.open({ language: 'en' })
  const answered = Promise.withResolvers<void>()
  const until = sentences * SENTENCE.length
  let words = 0
  let begunAt = 0
  let firstMs: number | null = null
  stream.onEvent(event => {
    if (event.type === 'error') answered.reject(event.error)
    if (event.type === 'partial') firstMs ??= performance.now() - begunAt
    if (event.type !== 'final') return
    words += event.words.length
    if (event.fromFinalize) answered.resolve()
  })
  await ticker.each(at => {
    // Measured from the end of the first word.
    if (at === 1600) begunAt = performance.now()
    stream.write(SENTENCE.subarray(at % SENTENCE.length, (at % SENTENCE.length) + PACKET), at)
    return at + PACKET < until
  })
  stream.finalize()
  const timer = setTimeout(() => answered.reject(new Error('finalize was not answered')), ANSWER_MS)
  try {
    await answered.promise
  } finally {
    clearTimeout(timer)
    stream.close()
  }
  if (words !== sentences * WORDS.length)
    throw new Error(`the recogniser returned ${words} of ${sentences * WORDS.length} words`)
  return { audioS: until / 8000, firstMs: firstMs === null ? [] : [firstMs] }
}

/** One timer for all calls: what it costs is not the adapters'. */
class Ticker {
  readonly #ticks = new Set<(count: number) => void>()
  readonly #startedAt = performance.now()
  #passed = 0
  readonly #timer = setInterval(() => {
    const due = Math.floor((performance.now() - this.#startedAt) / PACKET_MS)
    for (const tick of this.#ticks) tick(due - this.#passed)
    this.#passed = due
  }, PACKET_MS)

  /** Calls `write` for every packet of a call, in real time, with its place, until it returns false. */
  each(write: (at: number) => boolean): Promise<void> {
    return new Promise(resolve => {
      let at = 0
      const tick = (count: number) => {
        for (let i = 0; i < count; i++, at += PACKET) {
          if (write(at)) continue
          this.#ticks.delete(tick)
          return resolve()
        }
      }
      this.#ticks.add(tick)
    })
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
