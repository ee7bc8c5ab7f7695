import { describe, expect, it } from 'vitest'
import { boolean, integer, nullable, object, oneOf, optional, pattern, text } from '../testing/field-cases.ts'
import { actionSchemaFaults, executionMessageCases, viewOn } from '../testing/schema-cases.ts'
import { completeArguments, httpAction, openParameters } from './http-action.ts'

const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`h${n}`, 'v']))
const stringMap = optional({
  valid: [{}, pairs(50), { ['h'.repeat(256)]: 'v'.repeat(8192) }],
  invalid: [pairs(51), { a: 1 }, { '': 'x' }, { ['h'.repeat(257)]: 'v' }, { h: 'v'.repeat(8193) }, []],
  optional: false,
})
const secret = { id: 's', version: '1' }
const url = pattern(
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
)
const FIELDS = {
  method: oneOf('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
  url,
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
    invalid: [{ '9}': '$.a' }, { slot: '' }, { slot: 'x'.repeat(1025) }, []],
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
  reversible: optional(boolean),
  ...executionMessageCases,
  enable_typing_sound: optional(boolean),
  speak_after_execution: optional(boolean),
}
const actionOf = (fields: object = {}) =>
  httpAction.schema.parse({ action_id: 'a', name: 'a', kind: 'http', method: 'POST', url: 'https://e.com', ...fields })
const parameters = {
  type: 'object',
  properties: { day: { type: 'string' }, clinic: { const: '{{clinic}}' }, limit: { const: 3 } },
  required: ['day', 'clinic'],
}

describe('an HTTP action', () => {
  it('an HTTP action accepts its fields within their bounds and names the field that it refuses', () =>
    expect(actionSchemaFaults(httpAction, { method: 'POST', url: 'https://example.com/' }, FIELDS)).toEqual([]))

  it('a parsed HTTP action has every default', () =>
    expect(actionOf()).toEqual({
      action_id: 'a',
      version: 1,
      name: 'a',
      description: '',
      channels: ['cloud', 'phone', 'web'],
      kind: 'http',
      method: 'POST',
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

  it('the model infers the arguments whose schema is not constant', () => {
    const action = actionOf({ parameters })
    const open = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] }
    expect(openParameters(action)).toEqual(open)
    expect(httpAction.parameters(action)).toEqual(open)
  })

  it('constant arguments win over inferred ones, and their variables are filled in', () => {
    const { render } = viewOn('phone', { clinic: 'North' })
    const inferred = { day: 'Monday', clinic: 'South' }
    expect(completeArguments(actionOf({ parameters }), inferred, render)).toEqual({
      day: 'Monday',
      clinic: 'North',
      limit: 3,
    })
    expect(completeArguments(actionOf({ parameters }), null, render)).toEqual({ clinic: 'North', limit: 3 })
  })

  it('an HTTP action that the model calls as a tool is run with the arguments of the call', () =>
    expect(httpAction.use(actionOf(), {}, viewOn('phone'))).toEqual({ next: 'run_action' }))

  it('an HTTP action sets its response variables', () =>
    expect(httpAction.variableNames?.(actionOf({ response_variables: { slot: '$.slots[0]' } }))).toEqual(['slot']))

  it('an HTTP action with the sound of typing yields a warning that it has no effect', () => {
    expect(httpAction.check?.(actionOf({ speak_during_execution: true }))).toEqual([])
    expect(httpAction.check?.(actionOf({ enable_typing_sound: true }))).toMatchObject([
      { severity: 'warning', code: 'not_executed', path: ['enable_typing_sound'] },
    ])
  })
})

describe('an HTTP tool of an export', () => {
  it.each([
    ['get', 'GET'],
    [undefined, 'POST'],
    [7, 'POST'],
  ])('an exported tool with the method %j is imported with the method %s', (method, expected) => {
    const tool = { type: 'custom', url: 'https://e.com', ...(method !== undefined && { method }) }
    expect(httpAction.importTool?.(tool)).toEqual({ type: 'custom', url: 'https://e.com', method: expected })
  })

  it('every field with a path of its own in an export is a field of the action', () => {
    expect(httpAction.exportType).toBe('custom')
    expect(Object.keys(httpAction.schema.shape)).toEqual(
      expect.arrayContaining(Object.keys(httpAction.exportPaths ?? {})),
    )
  })
})
