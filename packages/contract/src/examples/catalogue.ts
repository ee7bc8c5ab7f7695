import { type Examples, identity, page } from './values.ts'

const descriptor = {
  id: 'http.request',
  version: 1,
  name: 'HTTP request',
  description: '',
  channels: ['cloud', 'phone', 'web'],
  invocations: ['model_tool'],
  effect_kind: 'http',
  input_schema: {},
  output_schema: {},
}
const model = {
  model: identity,
  name: 'GPT-5 mini',
  kind: 'chat',
  provider: 'hosted',
  ready: false,
  reason: 'no_key',
  context_tokens: null,
  dimension: null,
  tools: true,
}
const voice = {
  role: 'stt',
  provider: 'deepgram',
  model: 'nova-3',
  voice_id: null,
  name: 'Nova 3',
  languages: ['en'],
  gender: null,
  ready: true,
  reason: null,
}

export const catalogueExamples = {
  'actions.list': { answer: { items: [descriptor] } },
  'models.list': { answer: page(model) },
  'voices.list': { answer: page(voice) },
  'voices.preview': {
    body: { voice_id: 'bea', model: 'near-1', language: 'en', speed: 1, expressiveness: 0.5 },
    answer: { audio_base64: 'SUQzBAAAAAAA', media_type: 'audio/mpeg', text: 'Hello, this is how I sound.' },
  },
} as const satisfies Examples
