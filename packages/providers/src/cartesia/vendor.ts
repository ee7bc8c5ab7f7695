import { catalogueVoice, type Vendor, vendorSettings } from '../vendor.ts'
import { CartesiaVoice } from './io/cartesia-voice.ts'

export const cartesia: Vendor = {
  name: 'cartesia',
  settings: vendorSettings({ name: 'cartesia', protocol: 'wss' }),
  keyCheck: {
    baseUrl: 'https://api.cartesia.ai',
    path: '/voices?limit=1',
    headers: apiKey => ({ 'x-api-key': apiKey, 'cartesia-version': '2025-04-16' }),
  },
  voices: [
    {
      models: ['sonic-2'],
      acceptsOtherModels: true,
      open: (model, options) => new CartesiaVoice({ ...options, model }),
      voices: [catalogueVoice('a0e99841-438c-4a64-b679-ae501e7d6091', 'male', undefined, 'Barbershop Man')],
    },
  ],
}
