import { bearer } from '../bearer.ts'
import { catalogueVoice, type Vendor, vendorSettings } from '../vendor.ts'
import { OpenAiChat } from './io/openai-chat.ts'
import { OpenAiEmbedder } from './io/openai-embedder.ts'
import { OpenAiRealtime } from './io/openai-realtime.ts'
import { OpenAiVoice } from './io/openai-voice.ts'

export const openAi: Vendor = {
  name: 'openai',
  settings: vendorSettings({ name: 'openai', protocol: 'https', defaultModels: 'gpt-4.1-mini' }),
  keyCheck: { baseUrl: 'https://api.openai.com/v1', path: '/models', headers: bearer },
  voices: [
    {
      models: ['gpt-4o-mini-tts'],
      open: (model, options) => new OpenAiVoice({ ...options, model }),
      voices: [catalogueVoice('alloy', 'neutral'), catalogueVoice('coral', 'female'), catalogueVoice('ash', 'male')],
    },
  ],
  models: [
    {
      models: 'from-settings',
      open: (model, options) => new OpenAiChat({ baseUrl: 'https://api.openai.com/v1', ...options, model }),
    },
  ],
  realtime: [
    {
      models: ['gpt-realtime', 'gpt-realtime-mini'],
      open: (model, options) => new OpenAiRealtime({ baseUrl: 'https://api.openai.com/v1', ...options, model }),
    },
  ],
  embedders: [
    {
      models: ['text-embedding-3-small', 'text-embedding-3-large'],
      dimensions: { 'text-embedding-3-small': 1536, 'text-embedding-3-large': 3072 },
      // A compatible server behind OPENAI_BASE_URL has models of its own.
      acceptsOtherModels: true,
      open: (model, options) => new OpenAiEmbedder({ ...options, model }),
    },
  ],
}
