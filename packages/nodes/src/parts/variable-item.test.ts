import { describe, expect, it } from 'vitest'
import { boolean, list, mismatches, optional, pattern, text, variations } from '../testing/field-cases.ts'
import { fittingValues, variableItem, variablesSchema } from './variable-item.ts'

const described = { name: 'n', description: 'what' }
const fields = {
  name: pattern(
    ['_', 'a.b-c_9', 'customer name', '9', 'Größe?', '電話', 'a'.repeat(128)],
    ['', ' a', 'a ', 'a{b', 'a}}', 'a\nb', '__proto__', 'a'.repeat(129)],
  ),
  description: text(1, 1024),
  examples: optional(list(0, 20, text(0, 1024))),
  required: optional(boolean),
}
const accepts = (value: unknown) => variableItem.safeParse(value).success
const item = (type: 'string' | 'number' | 'boolean') => ({ ...described, name: type, type, required: false })
const size = { ...described, type: 'enum' as const, name: 'size', choices: ['Small', 'Large'], required: true }

describe('a variable that is read out of a conversation', () => {
  it.each(['string', 'boolean', 'number'])('a %s variable accepts its fields within their bounds and no others', type =>
    expect(mismatches(variations({ type, ...described }, fields), accepts)).toEqual([]),
  )

  it('an enum variable also accepts 1 to 50 choices', () => {
    const all = { ...fields, choices: list(1, 50, text(1, 256)) }
    expect(mismatches(variations({ type: 'enum', ...described, choices: ['a'] }, all), accepts)).toEqual([])
  })

  it('a variable of an unknown type is refused', () =>
    expect(accepts({ type: 'system-presets', name: 'call_summary' })).toBe(false))

  it('the JSON schema of variables has their types, choices, descriptions and the required ones', () =>
    expect(variablesSchema([item('number'), size])).toEqual({
      type: 'object',
      properties: {
        number: { type: 'number', description: 'what' },
        size: { type: 'string', enum: ['Small', 'Large'], description: 'what' },
      },
      required: ['size'],
      additionalProperties: false,
    }))

  it('a variable whose name a model service would refuse is asked for under another, and read back under its own', () => {
    const named = { ...item('string'), name: 'customer name' }
    expect(variablesSchema([item('number'), named])).toMatchObject({
      properties: { item_2: { type: 'string', description: 'customer name: what' } },
    })
    expect(fittingValues([item('number'), named], { item_2: 'Ada' })).toEqual({ 'customer name': 'Ada' })
  })

  it.each([
    [{ string: ' Ada ' }, { string: 'Ada' }],
    [{ string: 7 }, { string: 7 }],
    [{ string: {} }, {}],
    [{ number: '36' }, { number: '36' }],
    [{ number: 'old' }, {}],
    [{ number: Number.NaN }, {}],
    [{ boolean: 'TRUE' }, { boolean: 'true' }],
    [{ boolean: 'perhaps' }, {}],
    [{ size: 'small' }, { size: 'Small' }],
    [{ size: 'Huge' }, {}],
    [{ other: 1 }, {}],
    [null, {}],
  ])('of the values %j the variables take %j', (values, fitting) =>
    expect(fittingValues([item('string'), item('number'), item('boolean'), size], values)).toEqual(fitting),
  )
})
