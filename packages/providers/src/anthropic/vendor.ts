import { type Vendor, vendorSettings } from '../vendor.ts'
import { AnthropicMessages } from './io/anthropic-messages.ts'

export const anthropic: Vendor = {
  name: 'anthropic',
  settings: vendorSettings('anthropic', 'https', 'claude-haiku-4-5'),
  models: [{ models: 'settings', open: (model, options) => new AnthropicMessages({ ...options, model }) }],
}
