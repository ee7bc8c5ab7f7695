import { STAND_INS } from '@parley/fakes'
import { runningTime } from '@parley/kernel/testing'
import { afterAll } from 'vitest'
import { TonesVoice } from '../simulated/io/tones-voice.ts'
import { speechToTextConformance } from '../speech-to-text/testing/conformance.ts'
import { tonesRecogniser } from '../speech-to-text/testing/tones-recogniser.ts'
import { TonesSpeech } from '../text-to-speech/testing/tones-speech.ts'
import { vendorCatalogue } from '../vendors.ts'

const apiKey = 'key-of-the-tests'

const voice = new TonesVoice()
const speech = new TonesSpeech()

async function speak(text: string, language: string): Promise<Int16Array> {
  const audio: number[] = []
  for await (const chunk of voice.synthesize({ text, language }, new AbortController().signal))
    audio.push(...chunk.samples)
  return Int16Array.from(audio)
}

const standIns = await Promise.all(
  STAND_INS.map(async ({ name, open }) => ({
    name,
    ...(await open({
      recogniser: { apiKey, openRecogniser: tonesRecogniser },
      voice: { apiKey, speak: speech.speak },
      model: { key: apiKey },
    })),
  })),
)

afterAll(() => Promise.all([...standIns, voice, speech].map(one => one.close())))

const access = Object.fromEntries(standIns.map(({ name, baseUrl }) => [name, { apiKey, baseUrl, models: [] }]))

// Every model of the registry that its vendor's stand-in serves.
for (const { vendor, models, open } of vendorCatalogue(access, runningTime).stt) {
  const standIn = standIns.find(({ name }) => name === vendor.name)
  for (const model of models.filter(one => standIn !== undefined && one in standIn.services)) {
    await speechToTextConformance(() => ({
      recogniser: open!(model),
      speak,
      languages: ['en', 'es'],
      close: async () => {},
    }))
  }
}
