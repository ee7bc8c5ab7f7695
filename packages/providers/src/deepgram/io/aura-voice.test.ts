import { FakeAura } from '@parley/fakes'
import { VirtualTime } from '@parley/kernel'
import { runningTime } from '@parley/kernel/testing'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { textToSpeechConformance } from '../../text-to-speech/testing/conformance.ts'
import { TonesSpeech } from '../../text-to-speech/testing/tones-speech.ts'
import { Utterance, until } from '../../text-to-speech/testing/voice-harness.ts'
import { voiceServiceConformance } from '../../text-to-speech/testing/voice-service-conformance.ts'
import { AuraVoice, type AuraVoiceOptions } from './aura-voice.ts'

const speech = new TonesSpeech()
const voices = Object.fromEntries((await speech.languages()).map(language => [language, 'thalia']))
const shared = await FakeAura.open({ apiKey: 'key', speak: speech.speak })
/** The built-in voice behind the fake needs seconds for its first audio. */
const budgets = { firstAudioMs: 20_000 }
afterAll(() => Promise.all([shared.close(), speech.close()]))

await textToSpeechConformance(
  () => new AuraVoice({ apiKey: 'key', time: runningTime, baseUrl: shared.url, voices, budgets }),
  // Its fastest is 1.5.
  { maxShareAtDoubleSpeed: 0.95 },
)

voiceServiceConformance(
  {
    name: 'the voice of Deepgram',
    open: options => FakeAura.open(options),
    make: ({ url, ...options }) => new AuraVoice({ baseUrl: url, ...options }),
    over: 'socket',
    utterancesPerConnection: 1,
    hasWordTimes: false,
    unknownVoice: { voice: 'unknown', code: 'voice_refused' },
  },
  speech,
)

it('the Aura voice opens another socket before it uses up the flushes per minute of the service', async () => {
  const fake = await FakeAura.open({ apiKey: 'key', speak: speech.speak })
  const voice = new AuraVoice({ apiKey: 'key', time: runningTime, baseUrl: fake.url, maxSockets: 1 })
  onTestFinished(async () => {
    await voice.close()
    await fake.close()
  })
  for (let i = 0; i < 25; i++) {
    expect(await new Utterance(voice, { text: 'One.', language: 'en' }).ended).toBe(null)
  }
  expect(fake.counts).toMatchObject({ connections: 2, overLimit: 0 })
})

it('the Aura voice replaces a socket that stopped answering and repeats the utterance on a new one', async () => {
  const fake = await FakeAura.open({ apiKey: 'key', speak: speech.speak })
  const time = new VirtualTime()
  const voice = new AuraVoice({ apiKey: 'key', time, baseUrl: fake.url })
  onTestFinished(async () => {
    await voice.close()
    await fake.close()
  })
  fake.injectFaults({ type: 'mute' })
  voice.warm({ language: 'en' })
  await until(() => fake.counts.connections === 1)
  // The socket is open at both ends before it is used.
  await new Promise(resolve => setTimeout(resolve, 20))
  const utterance = new Utterance(voice, { text: 'One.', language: 'en' })
  await until(() => fake.counts.utterances === 1)
  time.advance(2000)
  expect(await utterance.ended).toBe(null)
  expect(fake.counts.connections).toBe(2)
})

describe('the sockets of the Aura voice', () => {
  const openVoice = async (options: Omit<AuraVoiceOptions, 'apiKey'>) => {
    const fake = await FakeAura.open({ apiKey: 'key', speak: speech.speak })
    const voice = new AuraVoice({ apiKey: 'key', baseUrl: fake.url, ...options })
    onTestFinished(async () => {
      await voice.close()
      await fake.close()
    })
    const say = (more: { voice?: string } = {}) => new Utterance(voice, { text: 'One.', language: 'en', ...more }).ended
    return { fake, voice, say }
  }

  it('an idle socket closes when another voice name needs a socket and the limit is reached', async () => {
    const { fake, voice, say } = await openVoice({ time: runningTime, maxSockets: 2 })
    const names = ['thalia', 'zeus', 'apollo', 'luna', 'thalia']
    expect(await Promise.all(names.map(name => say({ voice: name })))).toEqual(names.map(() => null))
    expect(voice.sockets).toBeLessThanOrEqual(2)
    expect(fake.counts.connections).toBeGreaterThanOrEqual(4)
  })

  it('a socket closes after a minute without an utterance', async () => {
    const time = new VirtualTime()
    const { fake, say } = await openVoice({ time })
    expect(await say()).toBe(null)
    time.advance(59_999)
    expect(await say()).toBe(null)
    expect(fake.counts.connections).toBe(1)
    time.advance(60_000)
    await until(() => fake.counts.open === 0)
    expect(await say()).toBe(null)
    expect(fake.counts.connections).toBe(2)
  })

  it('a socket is used for at most 55 minutes', async () => {
    const time = new VirtualTime()
    const { fake, say } = await openVoice({ time, idleMs: 20 * 60_000 })
    for (const [minutes, connections] of [
      [0, 1],
      [18, 1],
      [36, 1],
      [54, 1],
      [56, 2],
    ] as const) {
      time.advanceTo(minutes * 60_000)
      expect(await say()).toBe(null)
      expect(fake.counts.connections).toBe(connections)
    }
  })
})
