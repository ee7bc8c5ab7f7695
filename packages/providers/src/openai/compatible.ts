import { bearer } from '../bearer.ts'
import { ProviderError } from '../errors.ts'
import { type Vendor, vendorSettings } from '../vendor.ts'
import { OpenAiChat } from './io/openai-chat.ts'

/** Any service with OpenAI's `/chat/completions`, at a base URL that the operator or an environment names. */
export const openAiCompatible: Vendor = {
  name: 'openai_compatible',
  settings: vendorSettings({ name: 'openai_compatible', protocol: 'https', defaultModels: '' }),
  keyCheck: { baseUrl: null, path: '/models', headers: bearer },
  models: [
    {
      models: 'from-settings',
      acceptsOtherModels: true,
      open: (model, { baseUrl, ...options }) => {
        if (baseUrl === undefined)
          throw new ProviderError(
            'model_misconfigured',
            'openai_compatible needs a base URL: set OPENAI_COMPATIBLE_BASE_URL.',
          )
        return new OpenAiChat({ ...options, baseUrl, model, identityProvider: 'openai_compatible' })
      },
    },
  ],
}
