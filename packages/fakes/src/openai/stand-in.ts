import { PathRouter } from '../path-router.ts'
import { type StandInVendor, speechService } from '../stand-in.ts'
import { FakeOpenAiChat } from './fake-openai-chat.ts'
import { FakeSpeechService } from './fake-speech.ts'

export const openAiStandIn: StandInVendor = {
  name: 'openai',
  async open({ voice, model }) {
    const [speech, chat] = await Promise.all([FakeSpeechService.open(voice), FakeOpenAiChat.open(model)])
    const router = await PathRouter.open({
      '/v1/audio': speech.url,
      '/v1/chat': chat.origin,
      '/v1/models': chat.origin,
    })
    return {
      baseUrl: `http://127.0.0.1:${router.port}/v1`,
      services: { 'gpt-4o-mini-tts': speechService(speech), 'gpt-4.1-mini': chat },
      async close() {
        await Promise.all([router, speech, chat].map(one => one.close()))
      },
    }
  },
}
