import type { SampleRateHz } from '@parley/kernel'
import { ProviderError, type SpeechChunk, type TextToSpeech } from '@parley/providers'
import { describe, expect, it } from 'vitest'
import { previewVoice } from './voice-preview.ts'

type SpeechRequest = Parameters<TextToSpeech['synthesize']>[0]

const REQUEST = {
  provider: 'near',
  model: 'near-1',
  voiceId: 'bea',
  language: 'en',
  text: 'Hello.',
  speed: 1.25,
  expressiveness: 0.5,
} as const

/** A voice that speaks a tone for `seconds`, in pieces of 100 ms. */
function voiceOf(seconds: number, rates: readonly SampleRateHz[] | null = null) {
  const requests: SpeechRequest[] = []
  const voice: TextToSpeech = {
    id: 'near/near-1',
    languages: ['en'],
    ...(rates !== null && { formats: rates.map(sampleRateHz => ({ sampleRateHz, channels: 1 as const })) }),
    readiness: async () => null,
    async *synthesize(request): AsyncIterable<SpeechChunk> {
      requests.push(request)
      const rate = request.format?.sampleRateHz ?? 8000
      for (let piece = 0; piece < seconds * 10; piece++)
        yield {
          samples: Int16Array.from({ length: rate / 10 }, (_none, at) => 8000 * Math.sin(at / 5)),
          words: [],
        }
    },
    close: async () => {},
  }
  return { requests, voice }
}

const preview = (voice: TextToSpeech, timeoutMs?: number) => previewVoice({ voice: () => voice }, REQUEST, timeoutMs)

/** Kilobits per second of MPEG 1 and of MPEG 2 and 2.5, layer III (ISO 11172-3, 13818-3). */
const BITRATES = {
  one: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  two: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
}
const RATES = [11_025, 12_000, 8000, 0, 0, 0, 0, 0, 22_050, 24_000, 16_000, 0, 44_100, 48_000, 32_000]

/** Sample rates, channels and duration of MP3 frames that follow one another to the end. */
function framesOf(mp3: Uint8Array) {
  const rates = new Set<number>()
  const mono = new Set<boolean>()
  let seconds = 0
  let at = 0
  while (at + 4 <= mp3.length) {
    if (mp3[at] !== 0xff || (mp3[at + 1]! & 0xe6) !== 0xe2) throw new Error(`no frame of layer III at ${at}`)
    const version = (mp3[at + 1]! >> 3) & 3
    const rate = RATES[version * 4 + ((mp3[at + 2]! >> 2) & 3)]!
    const isOne = version === 3
    const kilobits = BITRATES[isOne ? 'one' : 'two'][mp3[at + 2]! >> 4]!
    rates.add(rate)
    mono.add(mp3[at + 3]! >> 6 === 3)
    seconds += (isOne ? 1152 : 576) / rate
    at += Math.floor(((isOne ? 144_000 : 72_000) * kilobits) / rate) + ((mp3[at + 2]! >> 1) & 1)
  }
  return { rates: [...rates], mono: [...mono], seconds, end: at - mp3.length }
}

describe('the preview of a voice', () => {
  it.each([
    [null, 8000],
    [[8000, 16_000], 16_000],
    [[24_000, 8000], 24_000],
    [[48_000, 8000], 48_000],
  ] as const)('a voice with the sample rates %j is heard as MP3 of %i Hz', async (rates, best) => {
    const { requests, voice } = voiceOf(2, rates)
    const outcome = await preview(voice)
    if (outcome.state !== 'rendered') throw new Error(outcome.message)
    const { seconds, ...frames } = framesOf(outcome.mp3)
    expect(frames).toEqual({ rates: [best], mono: [true], end: 0 })
    // The encoder adds its delay, and completes the last frame.
    expect(seconds).toBeGreaterThan(2)
    expect(seconds).toBeLessThan(2.5)
    expect(requests).toMatchObject([
      { text: 'Hello.', language: 'en', voice: 'bea', speed: 1.25, temperature: 0.5, format: { sampleRateHz: best } },
    ])
  })

  it.each([
    [31, 'the audio is longer than 30 s'],
    [0, 'the audio is empty'],
  ])('a voice that speaks for %i s has failed', async (seconds, message) => {
    expect(await preview(voiceOf(seconds).voice)).toEqual({ state: 'failed', message })
  })

  it('a voice that never answers has failed after the time limit', async () => {
    const { voice } = voiceOf(1)
    const silent: TextToSpeech = {
      ...voice,
      async *synthesize(_request, signal) {
        if (!signal.aborted) await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
      },
    }
    expect(await preview(silent, 10)).toEqual({ state: 'failed', message: 'no answer within 0.01 s' })
  })

  it('a failure of the service is the reason of the preview', async () => {
    const { voice } = voiceOf(1)
    const broken: TextToSpeech = {
      ...voice,
      // biome-ignore lint/correctness/useYield: it fails before its first piece
      async *synthesize() {
        throw new ProviderError('model_refused', 'The key was refused.', { retryable: false })
      },
    }
    expect(await preview(broken)).toEqual({ state: 'failed', message: 'The key was refused.' })
  })
})
