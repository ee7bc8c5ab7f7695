import { bearer } from '../bearer.ts'
import { ServiceRecogniser } from '../io/service-recogniser.ts'
import { type Vendor, vendorSettings } from '../vendor.ts'
import { sonioxRealTime } from './real-time.ts'

export const soniox: Vendor = {
  name: 'soniox',
  settings: vendorSettings({ name: 'soniox', protocol: 'wss' }),
  keyCheck: { baseUrl: 'https://api.soniox.com', path: '/v1/models', headers: bearer },
  recognisers: [
    {
      models: ['stt-rt-v5'],
      acceptsOtherModels: true,
      billsSilence: true,
      open: (model, options) => new ServiceRecogniser(sonioxRealTime(model), options),
    },
  ],
}
