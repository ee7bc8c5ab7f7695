import { FakeSpeechService } from '@parley/fakes'
import { systemTime } from '@parley/kernel'
import { afterAll } from 'vitest'
import { textToSpeechConformance } from '../text-to-speech/conformance.ts'
import { voiceServiceConformance } from '../text-to-speech/testing/conformance-services.ts'
import { TonesSpeech } from '../text-to-speech/testing/tones-speech.ts'
import { OpenAiVoice } from './openai-voice.ts'

const speech = new TonesSpeech()
const languages = await speech.languages()
const shared = await FakeSpeechService.open({ apiKey: 'key', speak: speech.speak })
/** The built-in voice behind the fake takes its time. */
const budgets = { firstAudioMs: 20_000 }
afterAll(() => Promise.all([shared.close(), speech.close()]))

await textToSpeechConformance(
  () => new OpenAiVoice({ apiKey: 'key', time: systemTime, baseUrl: shared.url, languages, budgets }),
  { mostAtDoubleSpeed: 0.9 },
)

voiceServiceConformance(
  {
    name: 'the voice of services like OpenAI',
    open: options => FakeSpeechService.open(options),
    make: ({ url, mostSockets, ...options }) =>
      new OpenAiVoice({ baseUrl: url, ...(mostSockets !== undefined && { mostConnections: mostSockets }), ...options }),
    over: 'http',
    utterancesPerConnection: 1,
    tellsWords: false,
    unknownVoice: { voice: 'unknown', code: 'voice_unknown' },
  },
  speech,
)
