import { ServiceRecogniser } from '../io/service-recogniser.ts'
import { type Vendor, vendorSettings } from '../vendor.ts'
import { assemblyAiStreaming } from './streaming-v3.ts'

export const assemblyAi: Vendor = {
  name: 'assemblyai',
  settings: vendorSettings({ name: 'assemblyai', protocol: 'wss' }),
  keyCheck: {
    baseUrl: 'https://api.assemblyai.com',
    path: '/v2/transcript?limit=1',
    headers: apiKey => ({ authorization: apiKey }),
  },
  recognisers: [
    {
      models: ['universal-streaming-english', 'universal-streaming-multilingual'],
      acceptsOtherModels: true,
      billsSilence: true,
      open: (model, options) => new ServiceRecogniser(assemblyAiStreaming(model), options),
    },
  ],
}
