import { bearer } from '../bearer.ts'
import { ServiceRecogniser } from '../io/service-recogniser.ts'
import { type Vendor, vendorSettings } from '../vendor.ts'
import { speechmaticsRealTime } from './real-time-v2.ts'

export const speechmatics: Vendor = {
  name: 'speechmatics',
  settings: vendorSettings({ name: 'speechmatics', protocol: 'wss' }),
  keyCheck: { baseUrl: 'https://asr.api.speechmatics.com', path: '/v2/jobs?limit=1', headers: bearer },
  recognisers: [
    {
      models: ['enhanced', 'standard'],
      billsSilence: true,
      open: (model, options) => new ServiceRecogniser(speechmaticsRealTime(model), options),
    },
  ],
}
