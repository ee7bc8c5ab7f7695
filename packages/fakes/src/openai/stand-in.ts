import { PathRouter } from '../path-router.ts'
import { type StandInService, type StandInVendor, speechService } from '../stand-in.ts'
import { FakeOpenAiChat } from './fake-openai-chat.ts'
import { FakeRealtime } from './fake-realtime.ts'
import { FakeSpeechService } from './fake-speech.ts'

export const openAiStandIn: StandInVendor = {
  name: 'openai',
  async open({ recogniser, voice, model }) {
    const [speech, chat, realtime] = await Promise.all([
      FakeSpeechService.open(voice),
      FakeOpenAiChat.open(model),
      FakeRealtime.open({
        apiKey: recogniser.apiKey,
        openRecogniser: recogniser.openRecogniser,
        speak: voice.speak,
        ...(model.respond && { respond: model.respond }),
        delays: { ...recogniser.delays, ...model.delays },
      }),
    ])
    const router = await PathRouter.open({
      '/v1/audio': speech.url,
      '/v1/chat': chat.origin,
      '/v1/models': chat.origin,
      '/v1/realtime': realtime.url,
    })
    return {
      baseUrl: `http://127.0.0.1:${router.port}/v1`,
      services: {
        'gpt-4o-mini-tts': speechService(speech),
        'gpt-4.1-mini': chat,
        'gpt-realtime': realtimeService(realtime),
      },
      async close() {
        await Promise.all([router, speech, chat, realtime].map(one => one.close()))
      },
    }
  },
}

/** Faults belong to the next answers. */
function realtimeService(fake: FakeRealtime): StandInService {
  return {
    injectFaults: (...faults) => fake.injectAnswerFaults(...faults),
    breakOff: () => fake.breakOff(),
  }
}
