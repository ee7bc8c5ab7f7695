import { type FakeModelStep, FakeRealtime } from '@parley/fakes'
import { runningTime } from '@parley/kernel/testing'
import { afterAll } from 'vitest'
import { languageModelConformance, type ServiceStep } from '../../language-model/testing/conformance.ts'
import { realtimeConformance } from '../../realtime/testing/conformance.ts'
import { tonesRecogniser } from '../../speech-to-text/testing/tones-recogniser.ts'
import { TonesSpeech } from '../../text-to-speech/testing/tones-speech.ts'
import { OpenAiRealtime } from './openai-realtime.ts'

const KEY = 'sk-test-key'
const voice = new TonesSpeech()
const shared = await openFake()
afterAll(() => Promise.all([shared.close(), voice.close()]))

function openFake(): Promise<FakeRealtime> {
  return FakeRealtime.open({ apiKey: KEY, openRecogniser: tonesRecogniser, speak: voice.speak })
}

function modelOf(fake: FakeRealtime): OpenAiRealtime {
  return new OpenAiRealtime({ baseUrl: fake.baseUrl, apiKey: KEY, model: 'gpt-realtime', time: runningTime })
}

realtimeConformance('of OpenAI', async () => {
  const fake = await openFake()
  return {
    model: modelOf(fake),
    speak: async text =>
      (await voice.speak({ text, language: 'en', speed: 1, format: { sampleRateHz: 8000, channels: 1 } })).samples,
    answer: ({ text, call }) =>
      fake.script(
        ...(text === undefined ? [] : [{ do: 'say', text } as const]),
        ...(call === undefined
          ? []
          : [
              { do: 'begin-tool', index: 0, id: 'call_0', name: call.name } as const,
              { do: 'tool-arguments', index: 0, text: call.argumentsText } as const,
            ]),
        { do: 'finish', reason: call === undefined ? 'stop' : 'tool_calls' },
      ),
    stall: text => fake.script({ do: 'say', text }, { do: 'wait', ms: 0 }, { do: 'stall' }),
    memory: () => fake.requests.at(-1)!.messages.filter(({ role }) => role !== 'system'),
    breakOff: () => fake.breakOff(),
    close: () => fake.close(),
  }
})

// Answers that are not spoken are those of any language model.
languageModelConformance('of a session with OpenAI Realtime', () => {
  const before = shared.cancelled
  const model = modelOf(shared)
  const session = model.open({ language: 'en' })
  return {
    model: { ...session.model, close: () => model.close() },
    script: steps => shared.script(...steps.map(inWordsOfVendor)),
    abandoned: () => shared.cancelled - before,
    close: async () => {},
  }
})

function inWordsOfVendor(step: ServiceStep): FakeModelStep {
  return step.do === 'finish' ? { ...step, reason: step.reason.replace('-', '_') } : step
}
