import { FakeAzureVoice } from '@parley/fakes'
import { runningTime } from '@parley/kernel/testing'
import { afterAll, expect, it } from 'vitest'
import { HttpVoice } from '../io/http-voice.ts'
import { textToSpeechConformance } from '../text-to-speech/testing/conformance.ts'
import { TonesSpeech } from '../text-to-speech/testing/tones-speech.ts'
import { voiceServiceConformance } from '../text-to-speech/testing/voice-service-conformance.ts'
import { azureServers } from './azure-api.ts'
import { azureNeural, ssml } from './synthesis.ts'

const speech = new TonesSpeech()
const languages = await speech.languages()
const shared = await FakeAzureVoice.open({ apiKey: 'key', speak: speech.speak })
/** The built-in voice behind the fake needs seconds for its first audio. */
const budgets = { firstAudioMs: 20_000 }
afterAll(() => Promise.all([shared.close(), speech.close()]))

await textToSpeechConformance(
  () =>
    new HttpVoice({ ...azureNeural, languages }, { apiKey: 'key', time: runningTime, baseUrl: shared.url, budgets }),
  { maxShareAtDoubleSpeed: 0.9 },
)

voiceServiceConformance(
  {
    name: 'the voice of Azure',
    open: options => FakeAzureVoice.open(options),
    make: ({ url, maxSockets, ...options }) =>
      new HttpVoice(azureNeural, {
        baseUrl: url,
        ...(maxSockets !== undefined && { maxConnections: maxSockets }),
        ...options,
      }),
    over: 'http',
    utterancesPerConnection: 1,
    hasWordTimes: false,
    unknownVoice: { voice: 'en-US-Unknown', code: 'voice_unknown' },
  },
  speech,
)

it('the text of a request to Azure is escaped, and has the language, the voice and the speed', () => {
  expect(ssml({ text: `Fish & <chips> "now"\u0000`, language: 'es', voice: 'es-MX-DaliaNeural', speed: 1.25 })).toBe(
    '<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="es-ES"><voice name="es-MX-DaliaNeural">' +
      '<prosody rate="+25%">Fish &amp; &lt;chips&gt; &quot;now&quot; </prosody></voice></speak>',
  )
  expect(ssml({ text: 'Hola', language: 'es-MX' })).toContain('<lang xml:lang="es-MX">Hola</lang>')
})

it('the servers of Azure follow from the endpoint of a region or of a resource', () => {
  expect(azureServers('https://westeurope.api.cognitive.microsoft.com/')).toEqual({
    stt: 'wss://westeurope.stt.speech.microsoft.com',
    tts: 'https://westeurope.tts.speech.microsoft.com',
  })
  expect(azureServers('https://clinic.cognitiveservices.azure.com')).toEqual({
    stt: 'wss://clinic.cognitiveservices.azure.com/stt',
    tts: 'https://clinic.cognitiveservices.azure.com/tts',
  })
  expect(() => azureServers(undefined)).toThrow(/AZURE_BASE_URL/)
})
