import type { DraftEnvironment } from '../draft/draft-environment.ts'

/** An environment that has what the drafts of the tests refer to, and something else to take in its place. */
export const draftEnvironment: DraftEnvironment = {
  models: [
    {
      identity: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' },
      kind: 'chat',
      provider: 'simulated_hosted',
      ready: true,
    },
    {
      identity: { model_id: 'off', provider: 'parley', tier: 'frontier' },
      kind: 'chat',
      provider: 'hosted',
      ready: false,
    },
    {
      identity: { model_id: 'vectors', provider: 'parley', tier: 'frontier' },
      kind: 'embedding',
      provider: 'hosted',
      ready: true,
    },
  ],
  voices: [
    { role: 'stt', provider: 'simulated', model: 'tones-1', voice_id: null, languages: ['en', 'es'], ready: true },
    { role: 'tts', provider: 'simulated', model: 'tones-1', voice_id: 'low', languages: ['en', 'es'], ready: true },
    { role: 'tts', provider: 'simulated', model: 'tones-1', voice_id: 'ill', languages: ['en'], ready: false },
  ],
  trunks: [
    { trunk_id: 'main', inbound: true },
    { trunk_id: 'other', inbound: false },
  ],
  numbers: [
    { phone_number: '+15550000001', trunk_id: 'main' },
    { phone_number: '+15550000002', trunk_id: 'other' },
  ],
  secrets: [
    { secret_id: 'http', kind: 'http_auth', versions: ['2', '9', '10'] },
    { secret_id: 'sign', kind: 'webhook_signing', versions: ['1'] },
    { secret_id: 'key', kind: 'provider_credential', versions: ['1', '2'] },
  ],
  knowledge_ready: true,
  document_ids: ['doc-1', 'doc-2'],
}

/** An environment that has nothing. */
export const nothing: DraftEnvironment = {
  models: [],
  voices: [],
  trunks: [],
  numbers: [],
  secrets: [],
  knowledge_ready: false,
  document_ids: [],
}
