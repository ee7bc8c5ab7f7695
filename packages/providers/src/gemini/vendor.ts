import { type Vendor, vendorSettings } from '../vendor.ts'
import { GeminiContent } from './io/gemini-content.ts'

export const gemini: Vendor = {
  name: 'gemini',
  settings: vendorSettings({ name: 'gemini', protocol: 'https', defaultModels: 'gemini-3.8-flash' }),
  keyCheck: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    path: '/models?pageSize=1',
    headers: apiKey => ({ 'x-goog-api-key': apiKey }),
  },
  models: [{ models: 'from-settings', open: (model, options) => new GeminiContent({ ...options, model }) }],
}
