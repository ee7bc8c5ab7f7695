import { at, type Examples, page, uuid } from './values.ts'

const trunk = {
  trunk_id: 'trunk-1',
  name: 'Carrier',
  provider: 'generic_sip',
  termination_uri: 'sip.example.com',
  auth_username: null,
  auth_secret: null,
  inbound: false,
  inbound_sip_uri: null,
  created_at: at,
  updated_at: at,
}
const noCalls = { calls: 0, answered: 0, asr: null, acd_ms: null, failures: [] }
const trunkHealth = {
  window_s: 3600,
  outbound: { ...noCalls, failures: [{ sip_status: null, calls: 1 }], post_dial_delay_ms: { p50: 1, p95: 2 } },
  inbound: noCalls,
  last_success_at: null,
  last_failure_at: at,
  ping: {
    state: 'reachable',
    engines: 1,
    engines_without_answer: 0,
    checked_at: at,
    last_success_at: at,
    last_failure_at: null,
    targets: [{ transport: 'tls', address: '192.0.2.1', port: 5061, sip_status: 200, error: null, round_trip_ms: 12 }],
  },
  registration: {
    state: 'registered',
    sip_status: 200,
    detail: 'REGISTER answered 200 OK',
    expires_at: at,
    updated_at: at,
  },
}
const number = {
  number_id: uuid,
  phone_number: '+15551234567',
  trunk_id: 'trunk-1',
  name: null,
  assignment: { agent_id: 'ada', version: null },
  inbound: 'token',
  created_at: at,
  updated_at: at,
}
const limit = { daily_limit: null, calls_last_24h: 3, remaining: null, as_of: at }
const trunkFields = {
  trunk_id: 'trunk-1',
  name: 'Carrier',
  provider: 'generic_sip',
  termination_uri: 'sbc.example.com',
  auth_username: 'parley',
  auth_secret: { id: 'sip-password', version: '1' },
  inbound: true,
}
const createdTrunk = { ...trunk, ...trunkFields, inbound_sip_uri: 'sip:inbound@sip.parley.example' }

export const telephonyExamples = {
  'trunks.list': { answer: page(trunk) },
  'trunks.create': { body: trunkFields, answer: createdTrunk },
  'trunks.get': { answer: { ...trunk, health: trunkHealth } },
  'trunks.update': {
    body: { name: 'Other carrier', termination_uri: 'sbc2.example.com', inbound: false },
    answer: { ...trunk, name: 'Other carrier', termination_uri: 'sbc2.example.com' },
  },
  'trunks.delete': { answer: trunk },
  'numbers.list': { answer: page(number) },
  'numbers.import': {
    body: { phone_number: '+12025550123', trunk_id: 'trunk-1', name: 'Front desk' },
    answer: { ...number, phone_number: '+12025550123', name: 'Front desk', assignment: null },
  },
  'numbers.assign': { body: { agent_id: 'ada', version: 0 }, answer: number },
  'numbers.release': { answer: { ...number, assignment: null } },
  'call_limits.get': { answer: limit },
  'call_limits.update': {
    body: { daily_limit: 1_000_000 },
    answer: { ...limit, daily_limit: 1_000_000, remaining: 999_997 },
  },
} as const satisfies Examples
