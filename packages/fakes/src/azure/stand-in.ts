import { PathRouter } from '../path-router.ts'
import { type StandInVendor, speechService } from '../stand-in.ts'
import { FakeAzureRecogniser } from './fake-azure-recogniser.ts'
import { FakeAzureVoice } from './fake-azure-voice.ts'

export const azureStandIn: StandInVendor = {
  name: 'azure',
  async open({ recogniser, voice }) {
    const [listening, speaking] = await Promise.all([FakeAzureRecogniser.open(recogniser), FakeAzureVoice.open(voice)])
    const router = await PathRouter.open({
      '/stt': listening.url,
      '/speechtotext': listening.url,
      '/tts': speaking.url,
    })
    return {
      baseUrl: `http://127.0.0.1:${router.port}`,
      services: { conversation: speechService(listening), neural: speechService(speaking) },
      async close() {
        await Promise.all([router, listening, speaking].map(one => one.close()))
      },
    }
  },
}
