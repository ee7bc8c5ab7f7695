import {
  e164,
  type FieldCases,
  object,
  oneOf,
  optional,
  pattern,
  revision,
  text,
  uuid,
  version,
} from '@parley/nodes/testing'
import { describe, expect, it } from 'vitest'
import { isAccepted, requestCases, requestMismatches } from '../testing/requests.ts'

const uri = pattern(
  ['https://example.com/x?y=1', 'wss://example.com', 'http://127.0.0.1:8080/'],
  ['', 'example.com', '/path', ' https://example.com', 'https://exa mple.com', 'https://example.com/\n'],
)
const name = text(1, 256)
const secret = { id: 's', version: '1' }
const identity = { model_id: 'm', provider: 'p', tier: 'frontier' }
const notBlank = pattern(['m', ' m ', 'm'.repeat(1000)], ['', ' ', '\t\n', 'm\0'])
const modelIdentity = object(identity, {
  model_id: notBlank,
  provider: notBlank,
  tier: oneOf('frontier', 'platform-served', 'customer-gpu'),
})
const modelCredential = object({ ...secret, provider: 'p' }, { id: name, version: name, provider: name })
const speech = object(
  { provider: 'p', model: 'm' },
  {
    provider: name,
    model: name,
    credential: optional(object(secret, { id: name, version: name })),
    endpoint: optional(uri),
    voiceId: optional(name),
  },
)
const llm = object(
  { model: identity, provider: 'hosted' },
  {
    model: modelIdentity,
    provider: oneOf('hosted', 'simulated_hosted', 'self_hosted', 'simulated_self_hosted'),
    credential: optional(modelCredential),
    endpoint: optional(uri),
  },
)
const providers = {
  stt: { provider: 'p', model: 'm' },
  llm: { model: identity, provider: 'hosted' },
  tts: { provider: 'p', model: 'm', voiceId: 'v' },
}
const config = { providers, recording: { required: true, channels: 'dual' } }
const configFields: Record<string, FieldCases> = {
  providers: object(providers, { stt: speech, llm, tts: speech }),
  recording: object(config.recording, {
    required: { valid: [true], invalid: [false, 'true', 1], optional: false },
    channels: oneOf('dual'),
  }),
  telephony: optional(object({ trunkId: 't' }, { trunkId: name, from: optional(e164) })),
  webhook: optional(object({ url: 'https://example.com', secretRef: 's@2' }, { url: uri, secretRef: name })),
}
const anyObject: FieldCases = {
  valid: [{}, { anything: [1, 'x', null, { deep: true }] }],
  invalid: [[], 'x', 7, { name: 'a\0' }, { 'a\0': 1 }, { list: ['\ud800'] }],
  optional: false,
}
const path = '/flow/nodes/3/model_choice'
const bindings: FieldCases = {
  valid: [
    {},
    { [path]: { model: identity } },
    { [path]: { model: identity, credential: { ...secret, provider: 'p' } } },
  ],
  invalid: [
    [],
    { [path]: {} },
    { [path]: null },
    { [path]: { model: identity, credential: secret } },
    { ['/'.repeat(1025)]: { model: identity } },
  ],
  optional: false,
}
const body = {
  reference: { tenant_id: uuid.valid[0], kind: 'agent', id: 'new-agent' },
  agent_version: 1,
  flow: { nodes: [] },
  agent: { agent_name: 'Ada' },
  config,
  model_bindings: {},
}

const cases = [
  requestCases('agents.import', 'body', body, {
    reference: object(body.reference, { tenant_id: uuid, kind: oneOf('agent'), id: text(1, 512) }),
    agent_version: version,
    flow: anyObject,
    agent: anyObject,
    config: object(config, configFields),
    model_bindings: bindings,
    replace_draft: optional(
      object({ draft_id: uuid.valid[0], expected_revision: 1 }, { draft_id: uuid, expected_revision: revision }),
    ),
  }),
  requestCases(
    'agents.import_inspect',
    'body',
    { flow: {}, agent: {} },
    {
      flow: anyObject,
      agent: anyObject,
      agent_version: optional(version),
      config: optional(object(config, configFields)),
      model_bindings: optional(bindings),
    },
  ),
]

describe('an import', () => {
  it.each(cases)('in $id, each field of $part accepts the values within its bounds and no others', cases =>
    expect(requestMismatches(cases)).toEqual([]),
  )

  it('an imported flow with more than 64 levels of nesting is refused', () => {
    const nested = (depth: number): unknown => (depth === 0 ? 0 : [nested(depth - 1)])
    // The body and `flow` are two levels themselves.
    expect(isAccepted('agents.import', { body: { ...body, flow: { x: nested(62) } } })).toBe(true)
    expect(isAccepted('agents.import', { body: { ...body, flow: { x: nested(63) } } })).toBe(false)
    expect(isAccepted('agents.import', { body: { ...body, flow: { x: nested(5000) } } })).toBe(false)
  })

  it('an import with a member named __proto__ at any depth is refused', () =>
    expect(isAccepted('agents.import', { body: { ...body, flow: JSON.parse('{"a":{"__proto__":1}}') } })).toBe(false))
})
