import { expect, it } from 'vitest'
import { readContext } from './inbound-context.ts'

const said = (call_inbound: unknown) => readContext({ call_inbound }, ['name', 'tier'])

it('takes the variables that are bound, and drops every other', () => {
  const dynamic_variables = { name: 'Ada', tier: 7, secret: 'x', __proto__: { tier: 'inherited' } }
  expect(said({ dynamic_variables })).toEqual({ kind: 'variables', variables: { name: 'Ada' } })
})

it('rejects only where the server says so in so many words', () => {
  expect(said({ reject: true, dynamic_variables: { name: 'Ada' } })).toEqual({ kind: 'rejected' })
  expect(said({ reject: 'true', dynamic_variables: {} })).toEqual({ kind: 'variables', variables: {} })
})

it.each([null, 'text', [], {}, { call_inbound: null }, { call_inbound: [] }, { call_inbound: {} }])(
  'goes on without an answer that cannot be read: %j',
  body => expect(readContext(body, ['name'])).toEqual({ kind: 'none' }),
)

it('keeps what documents can hold: well-formed text of bounded length', () => {
  const context = said({ dynamic_variables: { name: `\ud800${'a'.repeat(20_000)}` } })
  expect(context).toMatchObject({ kind: 'variables' })
  const { name } = (context as { readonly variables: Readonly<Record<string, string>> }).variables
  expect(name).toHaveLength(16_384)
  expect(name!.isWellFormed()).toBe(true)
})
