import { PathRouter } from '../path-router.ts'
import { type StandInVendor, speechService } from '../stand-in.ts'
import { FakeGoogleRecogniser } from './fake-google-recogniser.ts'
import { FakeGoogleVoice } from './fake-google-voice.ts'

export const googleStandIn: StandInVendor = {
  name: 'google',
  async open({ recogniser, voice }) {
    const [listening, speaking] = await Promise.all([
      FakeGoogleRecogniser.open(recogniser),
      FakeGoogleVoice.open(voice),
    ])
    const router = await PathRouter.open({ '/v1': speaking.url }, { http2: listening.url })
    return {
      baseUrl: `http://127.0.0.1:${router.port}`,
      services: { telephony: speechService(listening), 'chirp3-hd': speechService(speaking) },
      async close() {
        await Promise.all([router, listening, speaking].map(one => one.close()))
      },
    }
  },
}
