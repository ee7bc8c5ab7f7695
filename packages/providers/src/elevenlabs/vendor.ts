import { catalogueVoice, type Vendor, vendorSettings } from '../vendor.ts'
import { ElevenLabsVoice } from './io/elevenlabs-voice.ts'

export const elevenLabs: Vendor = {
  name: 'elevenlabs',
  settings: vendorSettings({ name: 'elevenlabs', protocol: 'wss' }),
  keyCheck: {
    baseUrl: 'https://api.elevenlabs.io',
    path: '/v1/models',
    headers: apiKey => ({ 'xi-api-key': apiKey }),
    isAcceptedRefusal: body => body.includes('"missing_permissions"'),
  },
  voices: [
    {
      models: ['eleven_flash_v2_5'],
      acceptsOtherModels: true,
      open: (model, options) => new ElevenLabsVoice({ ...options, model }),
      voices: [catalogueVoice('21m00Tcm4TlvDq8ikWAM', 'female', undefined, 'Rachel')],
    },
  ],
}
