import { catalogueVoice, type Vendor, vendorSettings } from '../vendor.ts'
import { CartesiaVoice } from './io/cartesia-voice.ts'

export const cartesia: Vendor = {
  name: 'cartesia',
  settings: vendorSettings({ name: 'cartesia', protocol: 'wss' }),
  voices: [
    {
      models: ['sonic-2'],
      acceptsOtherModels: true,
      open: (model, options) => new CartesiaVoice({ ...options, model }),
      voices: [catalogueVoice('a0e99841-438c-4a64-b679-ae501e7d6091', 'male', undefined, 'Barbershop Man')],
    },
  ],
}
