import { FakeAssemblyAi, FakeDeepgramFlux, FakeDeepgramListen } from '@parley/fakes'
import { systemTime } from '@parley/kernel'
import { afterAll } from 'vitest'
import { assemblyAiStreaming } from '../assemblyai/streaming-v3.ts'
import { deepgramNova } from '../deepgram/listen-v1.ts'
import { deepgramFlux } from '../deepgram/listen-v2.ts'
import { TonesVoice } from '../simulated/io/tones-voice.ts'
import { speechToTextConformance } from '../speech-to-text/testing/conformance.ts'
import { tonesRecogniser } from '../speech-to-text/testing/tones-recogniser.ts'
import { ServiceRecogniser } from './service-recogniser.ts'

const apiKey = 'key-of-the-tests'
const options = { apiKey, time: systemTime }

const voice = new TonesVoice()

async function speak(text: string, language: string): Promise<Int16Array> {
  const audio: number[] = []
  for await (const chunk of voice.synthesize({ text, language }, new AbortController().signal))
    audio.push(...chunk.samples)
  return Int16Array.from(audio)
}

const nova = await FakeDeepgramListen.open({ apiKey, openRecogniser: tonesRecogniser })
const flux = await FakeDeepgramFlux.open({ apiKey, openRecogniser: tonesRecogniser })
const assembly = await FakeAssemblyAi.open({ apiKey, openRecogniser: tonesRecogniser })

afterAll(() => Promise.all([nova, flux, assembly, voice].map(one => one.close())))

for (const recogniser of [
  () => new ServiceRecogniser(deepgramNova(), { ...options, baseUrl: nova.url, languages: ['en', 'es'] }),
  () => new ServiceRecogniser(deepgramFlux(), { ...options, baseUrl: flux.url }),
  () => new ServiceRecogniser(assemblyAiStreaming(), { ...options, baseUrl: assembly.url }),
]) {
  await speechToTextConformance(() => ({ recogniser: recogniser(), speak, close: async () => {} }))
}
