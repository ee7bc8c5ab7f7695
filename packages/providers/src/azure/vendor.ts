import { HttpVoice } from '../io/http-voice.ts'
import { ServiceRecogniser } from '../io/service-recogniser.ts'
import { catalogueVoice, type Vendor, vendorSettings } from '../vendor.ts'
import { azureKey, azureServers } from './azure-api.ts'
import { azureConversation } from './conversation-v1.ts'
import { azureNeural } from './synthesis.ts'

export const azure: Vendor = {
  name: 'azure',
  settings: vendorSettings({ name: 'azure', protocol: 'https' }),
  // Keys belong to a region, which the base URL names.
  keyCheck: { baseUrl: null, path: '/speechtotext/transcriptions/locales?api-version=2024-11-15', headers: azureKey },
  recognisers: [
    {
      models: ['conversation'],
      billsSilence: true,
      open: (_model, { baseUrl, ...options }) => {
        const { stt } = azureServers(baseUrl)
        return new ServiceRecogniser(azureConversation(stt), options)
      },
    },
  ],
  voices: [
    {
      models: ['neural'],
      open: (_model, options) => new HttpVoice(azureNeural, { ...options, baseUrl: azureServers(options.baseUrl).tts }),
      voices: [
        catalogueVoice('en-US-AvaMultilingualNeural', 'female', undefined, 'Ava'),
        catalogueVoice('en-US-AndrewMultilingualNeural', 'male', undefined, 'Andrew'),
        catalogueVoice('es-MX-DaliaNeural', 'female', ['es'], 'Dalia'),
        catalogueVoice('es-ES-AlvaroNeural', 'male', ['es'], 'Álvaro'),
      ],
    },
  ],
}
