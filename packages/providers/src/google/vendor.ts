import { HttpVoice } from '../io/http-voice.ts'
import { catalogueVoice, type Vendor, vendorSettings } from '../vendor.ts'
import { googleKey, googleServers } from './google-api.ts'
import { GoogleRecogniser } from './io/google-recogniser.ts'
import { googleVoice } from './synthesis.ts'

export const google: Vendor = {
  name: 'google',
  settings: vendorSettings({ name: 'google', protocol: 'https' }),
  keyCheck: { baseUrl: googleServers().tts, path: '/v1/voices?languageCode=en-US', headers: googleKey },
  recognisers: [
    {
      models: ['telephony', 'latest_long'],
      acceptsOtherModels: true,
      billsSilence: true,
      open: (model, options) =>
        new GoogleRecogniser(model, { ...options, baseUrl: googleServers(options.baseUrl).stt }),
    },
  ],
  voices: [
    {
      models: ['chirp3-hd'],
      open: (_model, options) =>
        new HttpVoice(googleVoice, { ...options, baseUrl: googleServers(options.baseUrl).tts }),
      voices: [
        catalogueVoice('Kore', 'female'),
        catalogueVoice('Puck', 'male'),
        catalogueVoice('Aoede', 'female'),
        catalogueVoice('Charon', 'male'),
      ],
    },
  ],
}
