import { FakeElevenLabs } from '@parley/fakes'
import { runningTime } from '@parley/kernel/testing'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { textToSpeechConformance } from '../../text-to-speech/testing/conformance.ts'
import { TonesSpeech } from '../../text-to-speech/testing/tones-speech.ts'
import { Utterance, until } from '../../text-to-speech/testing/voice-harness.ts'
import { voiceServiceConformance } from '../../text-to-speech/testing/voice-service-conformance.ts'
import { ElevenLabsVoice } from './elevenlabs-voice.ts'

const speech = new TonesSpeech()
const languages = await speech.languages()
const shared = await FakeElevenLabs.open({ apiKey: 'key', speak: speech.speak })
/** The built-in voice behind the fake needs seconds for its first audio. */
const budgets = { firstAudioMs: 20_000 }
afterAll(() => Promise.all([shared.close(), speech.close()]))

await textToSpeechConformance(
  () => new ElevenLabsVoice({ apiKey: 'key', time: runningTime, baseUrl: shared.url, languages, budgets }),
  // Its fastest is 1.2.
  { maxShareAtDoubleSpeed: 0.97 },
)

voiceServiceConformance(
  {
    name: 'the voice of ElevenLabs',
    open: options => FakeElevenLabs.open(options),
    make: ({ url, ...options }) => new ElevenLabsVoice({ baseUrl: url, ...options }),
    over: 'socket',
    utterancesPerConnection: 5,
    hasWordTimes: true,
    unknownVoice: { voice: 'Unknown', code: 'voice_unknown' },
  },
  speech,
)

it('a socket never has more than five contexts open, however many were cancelled on it', async () => {
  const fake = await FakeElevenLabs.open({ apiKey: 'key', speak: speech.speak, pace: 200, pieceBytes: 321 })
  const voice = new ElevenLabsVoice({ apiKey: 'key', time: runningTime, baseUrl: fake.url, maxSockets: 1 })
  onTestFinished(async () => {
    await voice.close()
    await fake.close()
  })
  for (let i = 0; i < 4; i++) {
    const burst = Array.from({ length: 4 }, () => {
      const request = { text: 'This will not be heard to its end.', language: 'en' }
      return new Utterance(voice, request, utterance => utterance.abort())
    })
    for (const utterance of burst) expect(await utterance.ended).toBe(null)
  }
  await until(() => fake.counts.utterances === 16 || fake.counts.overLimit > 0)
  expect(fake.counts).toMatchObject({ connections: 1, maxConcurrent: 5, overLimit: 0 })
})
