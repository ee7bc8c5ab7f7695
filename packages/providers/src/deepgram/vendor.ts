import { ServiceRecogniser } from '../io/service-recogniser.ts'
import { catalogueVoice, type Vendor, vendorSettings } from '../vendor.ts'
import { deepgramToken } from './deepgram-api.ts'
import { AuraVoice } from './io/aura-voice.ts'
import { deepgramNova } from './listen-v1.ts'
import { deepgramFlux } from './listen-v2.ts'

export const deepgram: Vendor = {
  name: 'deepgram',
  settings: vendorSettings({ name: 'deepgram', protocol: 'wss' }),
  keyCheck: {
    baseUrl: 'https://api.deepgram.com',
    path: '/v1/auth/token',
    headers: deepgramToken,
  },
  recognisers: [
    {
      models: ['nova-3', 'flux-general-en'],
      acceptsOtherModels: true,
      billsSilence: true,
      open: (model, options) =>
        new ServiceRecogniser(model.startsWith('flux-') ? deepgramFlux(model) : deepgramNova(model), options),
    },
  ],
  voices: [
    {
      models: ['aura-2'],
      acceptsOtherModels: true,
      open: (model, options) => new AuraVoice({ ...options, model }),
      voices: [
        catalogueVoice('thalia', 'female', ['en']),
        catalogueVoice('apollo', 'male', ['en']),
        catalogueVoice('celeste', 'female', ['es']),
        catalogueVoice('nestor', 'male', ['es']),
      ],
    },
  ],
}
