import { action } from '@parley/nodes'
import {
  atLeast,
  boolean,
  type FieldCases,
  identifier,
  integer,
  list,
  mismatches,
  nullable,
  object,
  oneOf,
  optional,
  pattern,
  text,
  variations,
} from '@parley/nodes/testing'
import { describe, expect, it } from 'vitest'

const one = (value: unknown): FieldCases => ({ valid: [value], invalid: ['x', 7, []], optional: false })
const every: Record<string, FieldCases> = {
  action_id: identifier(128),
  version: optional(atLeast(1)),
  name: pattern(['_', 'a', 'look_up-2', 'a'.repeat(64)], ['', '2a', '-a', 'a b', 'a.b', 'a'.repeat(65), 'a\n']),
  description: optional(text(0, 1024)),
  channels: optional({
    valid: [['cloud'], ['phone', 'web', 'cloud']],
    invalid: [[], ['control'], ['cloud', 'cloud'], ['cloud', 'phone', 'web', 'cloud'], 'cloud'],
    optional: false,
  }),
}
const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`h${n}`, 'v']))
const stringMap = optional({
  valid: [{}, pairs(50), { ['h'.repeat(256)]: 'v'.repeat(8192) }],
  invalid: [pairs(51), { a: 1 }, { '': 'x' }, { ['h'.repeat(257)]: 'v' }, { h: 'v'.repeat(8193) }, []],
  optional: false,
})
const secret = { id: 's', version: '1' }
const instruction = optional(nullable(one({ type: 'prompt', text: 'Goodbye' })))

const http: Record<string, FieldCases> = {
  ...every,
  method: oneOf('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
  url: pattern(
    [
      'https://example.com',
      'http://127.0.0.1:8080/a',
      'HTTPS://example.com/{{path}}?q={{q}}',
      `https://e.com/${'x'.repeat(2034)}`,
    ],
    [
      '',
      'example.com',
      'ftp://example.com',
      'https://{{host}}/',
      'https://a.{{host}}',
      'https://user@example.com/',
      `https://e.com/${'x'.repeat(2035)}`,
    ],
  ),
  headers: stringMap,
  query: stringMap,
  parameters: optional({
    valid: [{}, { type: 'object', properties: {} }],
    invalid: [[], 'x', { a: '\0' }],
    optional: false,
  }),
  body_format: optional(oneOf('json', 'form')),
  args_at_root: optional(boolean),
  response_variables: optional({
    valid: [{}, { slot: '$.slots[0]' }],
    invalid: [{ '9': '$.a' }, { slot: '' }, { slot: 'x'.repeat(1025) }, []],
    optional: false,
  }),
  auth: optional(
    nullable(
      object(
        { scheme: 'bearer', secret },
        {
          scheme: oneOf('bearer', 'basic', 'header', 'parley_signature'),
          secret: object(secret, { id: text(1, 256), version: text(1, 256) }),
          header: optional(pattern(['X-Key', 'a'.repeat(128)], ['', 'X Key', 'X:Key', 'X-Key\r\n', 'a'.repeat(129)])),
        },
      ),
    ),
  ),
  idempotency: optional(oneOf('effect_key', 'none')),
  timeout_ms: optional(integer(1000, 600_000)),
  speak_during_execution: optional(boolean),
  speak_after_execution: optional(boolean),
}

const KINDS: Record<string, { valid: Record<string, unknown>; fields: Record<string, FieldCases> }> = {
  http: { valid: { method: 'POST', url: 'https://example.com/' }, fields: http },
  end_call: { valid: {}, fields: { ...every, instruction, speak_during_execution: optional(boolean) } },
  transfer_call: {
    valid: { transfer_destination: { type: 'inferred', prompt: 'whom' } },
    fields: { ...every, transfer_destination: one({ type: 'predefined', number: '+15551234567' }) },
  },
  press_digit: { valid: {}, fields: { ...every, instruction, delay_ms: optional(integer(0, 10_000)) } },
  extract_dynamic_variables: {
    valid: { variables: [{ type: 'string', name: 'a', description: 'b' }] },
    fields: { ...every, variables: list(1, 50, one({ type: 'number', name: 'a', description: 'b' })) },
  },
}

const kinds = Object.entries(KINDS).map(([kind, { valid, fields }]) => ({
  kind,
  all: variations({ action_id: 'a', name: 'a', kind, ...valid }, fields),
}))

describe('an action', () => {
  it.each(kinds)('an action of kind $kind accepts the values within its bounds and no others', ({ all }) =>
    expect(mismatches(all, value => action.safeParse(value).success)).toEqual([]),
  )

  it.each(['agent_swap', 'send_sms'])('an action of kind %s is kept as written', kind => {
    const kept = { action_id: 'a', name: 'a', kind, own: { fields: [1] } }
    expect(action.parse(kept)).toMatchObject(kept)
  })

  it('the defaults of an http action are filled in', () =>
    expect(action.parse({ action_id: 'a', name: 'a', kind: 'http', method: 'GET', url: 'https://e.com' })).toEqual({
      action_id: 'a',
      version: 1,
      name: 'a',
      description: '',
      channels: ['cloud', 'phone', 'web'],
      kind: 'http',
      method: 'GET',
      url: 'https://e.com',
      headers: {},
      query: {},
      parameters: {},
      body_format: 'json',
      args_at_root: false,
      response_variables: {},
      auth: null,
      idempotency: 'none',
      timeout_ms: 120_000,
      speak_during_execution: false,
      speak_after_execution: true,
    }))

  it('an action of an unknown kind is refused', () =>
    expect(action.safeParse({ action_id: 'a', name: 'a', kind: 'shell' }).success).toBe(false))
})
