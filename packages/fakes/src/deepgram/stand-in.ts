import { PathRouter } from '../path-router.ts'
import { type StandInVendor, speechService } from '../stand-in.ts'
import { FakeAura } from './fake-aura.ts'
import { FakeDeepgramFlux } from './fake-deepgram-flux.ts'
import { FakeDeepgramListen } from './fake-deepgram-listen.ts'

export const deepgramStandIn: StandInVendor = {
  name: 'deepgram',
  async open({ recogniser, voice }) {
    const [listen, flux, aura] = await Promise.all([
      FakeDeepgramListen.open(recogniser),
      FakeDeepgramFlux.open(recogniser),
      FakeAura.open(voice),
    ])
    const router = await PathRouter.open({
      '/v1/listen': listen.url,
      '/v2/listen': flux.url,
      '/v1/speak': aura.url,
      '/v1/auth': listen.url,
    })
    return {
      baseUrl: `ws://127.0.0.1:${router.port}`,
      services: {
        'nova-3': speechService(listen),
        'flux-general-en': speechService(flux),
        'aura-2': speechService(aura),
      },
      async close() {
        await Promise.all([router, listen, flux, aura].map(one => one.close()))
      },
    }
  },
}
