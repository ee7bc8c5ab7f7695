import { apiKey, at, type Examples, email, page, uuid } from './values.ts'

export const key = {
  key_id: uuid,
  name: 'ci',
  role: 'member',
  can_dial: false,
  prefix: 'parley_live_abcdef',
  created_at: at,
  last_used_at: null,
  expires_at: null,
  revoked_at: null,
}
const environment = {
  environment: 'production',
  tenant_id: uuid,
  name: 'Demo',
  display_name: null,
  admission_enabled: true,
  concurrent_capacity: null,
  created_at: at,
}
const secret = {
  secret_id: 'sip-password',
  kind: 'sip_auth',
  version: '1',
  versions: [{ version: '1', created_at: at }],
  created_at: at,
  updated_at: at,
}
const settings = {
  name: 'Demo',
  display_name: null,
  listening_enabled: true,
  retention: { recording_days: 90, transcript_days: 365, document_days: null, source: 'platform_default', version: 0 },
}
export const audit = {
  audit_id: uuid,
  occurred_at: at,
  principal: { owner_id: uuid, environment: 'production', kind: 'system', id: 'staff' },
  action: 'keys.revoke',
  resource: { tenant_id: uuid, kind: 'operation', id: `keys/${uuid}` },
  outcome: 'allowed',
  request_id: null,
}
const member = { user_id: uuid, email, name: 'Bea', role: 'viewer', created_at: at, last_seen_at: null }
const invitation = {
  invitation_id: uuid,
  email,
  role: 'viewer',
  status: 'pending',
  invited_by: apiKey,
  created_at: at,
  sent_at: at,
  expires_at: '2026-01-08T00:00:00.000Z',
}
const providerKey = {
  provider: 'openai_compatible',
  last4: 'vice',
  endpoint: 'https://models.example/v1',
  checked_at: at,
  created_at: at,
  updated_at: at,
}
const siteKeyFields = {
  name: 'front page',
  agent_id: 'ada',
  origins: ['https://clinic.example', 'http://localhost:8000'],
  concurrent_limit: 2,
  daily_limit: 50,
}
const siteKey = { ...siteKeyFields, site_key_id: uuid, prefix: 'pk_abcdefg', created_at: at, revoked_at: null }
const createdKey = { ...key, secret: 'parley_live_abcdefghijklmnopqrstuvwxyz0123456789' }

export const workspaceExamples = {
  'environments.list': { answer: { items: [environment], selected: 'production' } },
  'environments.ensure_sandbox': {
    body: {},
    answer: {
      environment: { ...environment, environment: 'sandbox' },
      key: { ...createdKey, prefix: 'parley_test_abcdef', secret: 'parley_test_abcdefghijklmnopqrstuvwxyz0123456789' },
    },
  },
  'keys.list': { answer: page(key) },
  'keys.create': {
    body: { name: 'ci', role: 'member', can_dial: true, expires_at: '2100-01-01T00:00:00Z' },
    answer: { ...createdKey, can_dial: true, expires_at: '2100-01-01T00:00:00.000Z' },
  },
  'keys.revoke': { answer: { ...key, revoked_at: at } },
  'keys.rotate': { body: { overlap_seconds: 60 }, answer: createdKey },
  'site_keys.list': { answer: page(siteKey) },
  'site_keys.create': {
    body: siteKeyFields,
    answer: { ...siteKey, secret: 'pk_abcdefghijklmnopqrstuvwxyz234567' },
  },
  'site_keys.revoke': { answer: { ...siteKey, revoked_at: at } },
  'secrets.list': { answer: page(secret) },
  'secrets.put': { body: { kind: 'http_auth', value: 'a token' }, answer: { ...secret, kind: 'http_auth' } },
  'secrets.delete': { answer: secret },
  'provider_keys.list': { answer: page(providerKey) },
  'provider_keys.put': {
    body: { key: 'a-key-of-the-service', endpoint: 'https://models.example/v1' },
    answer: providerKey,
  },
  'provider_keys.delete': { answer: { ...providerKey, provider: 'openai', endpoint: null } },
  'team.list': { answer: { members: [member], invitations: [invitation] } },
  'team.invite': {
    body: { email, role: 'viewer' },
    answer: { ...invitation, link: 'https://parley.example/#token=abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG' },
  },
  'team.invite_revoke': { answer: invitation },
  'team.invite_resend': { body: {}, answer: invitation },
  'team.remove': { answer: member },
  'team.set_role': { body: { role: 'viewer' }, answer: member },
  'tenant_settings.get': { answer: settings },
  'tenant_settings.update': {
    body: {
      display_name: 'Clinic',
      retention: { recording_days: 30, transcript_days: 60, document_days: null, expected_version: 0 },
    },
    answer: { ...settings, display_name: 'Clinic' },
  },
  'audit.list': { answer: page(audit) },
} as const satisfies Examples
