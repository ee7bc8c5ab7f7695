import { FakeAura } from '@parley/fakes'
import { systemTime, VirtualTime } from '@parley/kernel'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { textToSpeechConformance } from '../text-to-speech/conformance.ts'
import { Utterance, until, voiceServiceConformance } from '../text-to-speech/testing/conformance-services.ts'
import { TonesSpeech } from '../text-to-speech/testing/tones-speech.ts'
import { AuraVoice } from './aura-voice.ts'

const speech = new TonesSpeech()
const voices = Object.fromEntries((await speech.languages()).map(language => [language, 'thalia']))
const shared = await FakeAura.open({ apiKey: 'key', speak: speech.speak })
/** The built-in voice behind the fake takes its time. */
const budgets = { firstAudioMs: 20_000 }
afterAll(() => Promise.all([shared.close(), speech.close()]))

await textToSpeechConformance(
  () => new AuraVoice({ apiKey: 'key', time: systemTime, baseUrl: shared.url, voices, budgets }),
  // Its fastest is 1.5.
  { mostAtDoubleSpeed: 0.95 },
)

voiceServiceConformance(
  {
    name: 'the voice of Deepgram',
    open: options => FakeAura.open(options),
    make: ({ url, ...options }) => new AuraVoice({ baseUrl: url, ...options }),
    over: 'socket',
    utterancesPerConnection: 1,
    tellsWords: false,
    unknownVoice: { voice: 'unknown', code: 'voice_refused' },
  },
  speech,
)

it('takes another socket before the service flushes no more in this minute', async () => {
  const fake = await FakeAura.open({ apiKey: 'key', speak: speech.speak })
  const voice = new AuraVoice({ apiKey: 'key', time: systemTime, baseUrl: fake.url, mostSockets: 1 })
  onTestFinished(async () => {
    await voice.close()
    await fake.close()
  })
  for (let i = 0; i < 25; i++) {
    expect(await new Utterance(voice, { text: 'One.', language: 'en' }).ended).toBe(null)
  }
  expect(fake.counts).toMatchObject({ connections: 2, overLimit: 0 })
})

it('gives a socket up that no longer answers, and says the same on a fresh one', async () => {
  const fake = await FakeAura.open({ apiKey: 'key', speak: speech.speak })
  const time = new VirtualTime()
  const voice = new AuraVoice({ apiKey: 'key', time, baseUrl: fake.url })
  onTestFinished(async () => {
    await voice.close()
    await fake.close()
  })
  fake.add({ type: 'mute' })
  voice.warm({ language: 'en' })
  await until(() => fake.counts.connections === 1)
  // The socket stands on both sides before it is used.
  await new Promise(resolve => setTimeout(resolve, 20))
  const utterance = new Utterance(voice, { text: 'One.', language: 'en' })
  await until(() => fake.counts.utterances === 1)
  time.advance(2000)
  expect(await utterance.ended).toBe(null)
  expect(fake.counts.connections).toBe(2)
})
