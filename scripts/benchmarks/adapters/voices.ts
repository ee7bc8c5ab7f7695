import {
  FakeAura,
  FakeCartesia,
  FakeElevenLabs,
  FakeSpeechService,
  type FakeVoiceOptions,
  type Speak,
} from '@parley/fakes'
import { systemTime } from '@parley/kernel'
import type { TextToSpeech } from '@parley/providers'
import { AuraVoice, CartesiaVoice, ElevenLabsVoice, OpenAiVoice } from '@parley/providers/testing'
import type { AdapterSubject, AdapterUnderLoad, CallFigures } from './subject.ts'

const API_KEY = 'key'
/** Sixteen words, five seconds. */
const TEXT = 'We have a table for four at half past seven, would that be all right for you?'
const TEXT_SECONDS = 5
const WORDS = TEXT.split(' ')

/** Messages of 200 ms, sent five times as fast as they are played. */
const FAKE: Omit<FakeVoiceOptions, 'speak'> = { apiKey: API_KEY, pieceBytes: 1600, pace: 5 }
const COMMON = { apiKey: API_KEY, time: systemTime, budgets: { firstAudioMs: 20_000 } }

/** Voices of services: each call says sentence after sentence, with a pause as long as none. */
export const VOICES: readonly AdapterSubject[] = [
  {
    name: 'elevenlabs',
    openFake: () => FakeElevenLabs.open({ ...FAKE, speak }),
    open: url => underLoad(new ElevenLabsVoice({ ...COMMON, baseUrl: url })),
  },
  {
    name: 'cartesia',
    openFake: () => FakeCartesia.open({ ...FAKE, speak }),
    open: url => underLoad(new CartesiaVoice({ ...COMMON, baseUrl: url })),
  },
  {
    name: 'aura',
    openFake: () => FakeAura.open({ ...FAKE, speak }),
    open: url => underLoad(new AuraVoice({ ...COMMON, baseUrl: url, maxSockets: 50 })),
  },
  {
    name: 'openai-speech',
    openFake: () => FakeSpeechService.open({ ...FAKE, speak }),
    open: url => underLoad(new OpenAiVoice({ ...COMMON, baseUrl: url })),
  },
]

/** Nobody listens: a tone that swells takes as long to carry as speech does. */
const speak: Speak = async () => {
  const samples = Int16Array.from({ length: 8000 * TEXT_SECONDS }, (_, n) => (n % 8000) * Math.sin(n / 3))
  return { samples, words: WORDS.map((text, i) => ({ text, startMs: (i * TEXT_SECONDS * 1000) / WORDS.length })) }
}

function underLoad(voice: TextToSpeech): AdapterUnderLoad {
  return {
    async call(seconds): Promise<CallFigures> {
      const firstMs: number[] = []
      let samples = 0
      for (let second = 0; second < seconds; second += TEXT_SECONDS) {
        const requestedAt = performance.now()
        let isFirst = true
        const request = { text: TEXT, language: 'en' }
        for await (const chunk of voice.synthesize(request, new AbortController().signal)) {
          if (isFirst) firstMs.push(performance.now() - requestedAt)
          isFirst = false
          samples += chunk.samples.length
        }
      }
      return { audioS: samples / 8000, firstMs }
    },
    close: () => voice.close(),
  }
}
