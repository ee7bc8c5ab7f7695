import { type Vendor, vendorSettings } from '../vendor.ts'
import { AnthropicMessages } from './io/anthropic-messages.ts'

export const anthropic: Vendor = {
  name: 'anthropic',
  settings: vendorSettings({ name: 'anthropic', protocol: 'https', defaultModels: 'claude-haiku-4-5' }),
  keyCheck: {
    baseUrl: 'https://api.anthropic.com',
    path: '/v1/models?limit=1',
    headers: apiKey => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),
  },
  models: [{ models: 'from-settings', open: (model, options) => new AnthropicMessages({ ...options, model }) }],
}
