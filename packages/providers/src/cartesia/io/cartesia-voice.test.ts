import { FakeCartesia } from '@parley/fakes'
import { runningTime } from '@parley/kernel/testing'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { textToSpeechConformance } from '../../text-to-speech/testing/conformance.ts'
import { TonesSpeech } from '../../text-to-speech/testing/tones-speech.ts'
import { Utterance } from '../../text-to-speech/testing/voice-harness.ts'
import { voiceServiceConformance } from '../../text-to-speech/testing/voice-service-conformance.ts'
import { CartesiaVoice } from './cartesia-voice.ts'

const speech = new TonesSpeech()
const languages = await speech.languages()
const shared = await FakeCartesia.open({ apiKey: 'key', speak: speech.speak })
/** The built-in voice behind the fake needs seconds for its first audio. */
const budgets = { firstAudioMs: 20_000 }
afterAll(() => Promise.all([shared.close(), speech.close()]))

await textToSpeechConformance(
  () => new CartesiaVoice({ apiKey: 'key', time: runningTime, baseUrl: shared.url, languages, budgets }),
  // "fast" is 1.3 in the fake.
  { maxShareAtDoubleSpeed: 0.95 },
)

voiceServiceConformance(
  {
    name: 'the voice of Cartesia',
    open: options => FakeCartesia.open(options),
    make: ({ url, ...options }) => new CartesiaVoice({ baseUrl: url, ...options }),
    over: 'socket',
    utterancesPerConnection: 20,
    hasWordTimes: true,
    unknownVoice: { voice: 'Unknown', code: 'voice_unknown' },
  },
  speech,
)

it('an utterance beyond the concurrency limit of the account fails as busy, and the others complete', async () => {
  const fake = await FakeCartesia.open({ apiKey: 'key', speak: speech.speak, maxContexts: 2 })
  const voice = new CartesiaVoice({ apiKey: 'key', time: runningTime, baseUrl: fake.url })
  onTestFinished(async () => {
    await voice.close()
    await fake.close()
  })
  const all = Array.from({ length: 3 }, () => new Utterance(voice, { text: 'One, two.', language: 'en' }))
  expect(await all[0]!.ended).toBe(null)
  expect(await all[1]!.ended).toBe(null)
  expect(await all[2]!.ended).toMatchObject({ code: 'voice_busy', retryable: true })
})
