/**
 * Values that a field must accept and values that it must refuse, listed by the test and not derived from the schema.
 */
export interface FieldCases {
  readonly valid: readonly unknown[]
  readonly invalid: readonly unknown[]
  readonly optional: boolean
}

export interface Variation {
  readonly title: string
  /** The member that differs from the valid value; null: none does. */
  readonly member: string | null
  readonly value: Record<string, unknown>
  readonly isValid: boolean
}

const NOT_STRINGS = [5, true, [], {}]
const ILL_FORMED = ['a\0', 'a\ud800', '\udc00a']

function cases(valid: readonly unknown[], invalid: readonly unknown[]): FieldCases {
  return { valid, invalid, optional: false }
}

/** The field may be absent. */
export function optional(of: FieldCases): FieldCases {
  return { ...of, optional: true }
}

/** The field also accepts null. */
export function nullable(of: FieldCases): FieldCases {
  return { ...of, valid: [...of.valid, null] }
}

/** A string of `min` to `max` code points, U+0000 and unpaired surrogates excepted. */
export function text(min: number, max: number): FieldCases {
  const short = min === 0 ? [] : ['a'.repeat(min - 1)]
  const inside = ['a'.repeat(min), 'a'.repeat(max), '\u{1f600}'.repeat(max)]
  const ill = max > 1 ? ILL_FORMED : ['\0']
  return cases(inside, [...short, 'a'.repeat(max + 1), '\u{1f600}'.repeat(max + 1), ...ill, ...NOT_STRINGS])
}

/** A string that must match a pattern. */
export function pattern(valid: readonly string[], invalid: readonly string[]): FieldCases {
  return cases(valid, [...invalid, ...NOT_STRINGS])
}

export function integer(min: number, max: number): FieldCases {
  return cases([min, max], [min - 1, max + 1, min + 0.5, String(min), true])
}

/** An integer of at least `min`. */
export function atLeast(min: number): FieldCases {
  return cases([min, min + 1_000_000], [min - 1, min + 0.5, String(min)])
}

export function number(min: number, max: number): FieldCases {
  return cases([min, max, (min + max) / 2], [min - 0.001, max + 0.001, String(min), Number.NaN])
}

export const boolean = cases([true, false], ['true', 0])

export function oneOf(...words: readonly (string | number | boolean)[]): FieldCases {
  return cases(words, ['no-such-word', '', ...(words.length > 0 ? [[words[0]]] : [])])
}

/** A list of `min` to `max` valid values of `item`; the first valid value fills it. */
export function list(min: number, max: number, item: FieldCases): FieldCases {
  const of = (count: number) => Array.from({ length: count }, () => item.valid[0])
  const filled = item.invalid.map(refused => [...of(Math.max(0, min - 1)), refused])
  return cases([of(min), of(max)], [...(min === 0 ? [] : [of(min - 1)]), of(max + 1), ...filled, 'no list'])
}

export const uuid = pattern(
  ['0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f', '00000000-0000-0000-0000-000000000000'],
  [
    '',
    '0b0e3c1e5a3c4f4e9f570b0f9c1d2e3f',
    '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3',
    '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f\n',
  ],
)

export const version = integer(0, 2_147_483_647)
export const revision = integer(1, 2_147_483_647)

/** The id of an agent, an action or a secret. */
export function identifier(max: number): FieldCases {
  return pattern(
    ['A', '0', 'a_.:-Z9', 'a'.repeat(max)],
    ['', '_a', '-a', '.a', 'a b', 'a/b', 'é', 'a'.repeat(max + 1), 'a\n'],
  )
}

export const trunkId = pattern(
  ['a', '0', 'a_-9', 'a'.repeat(128)],
  ['', 'A', 'aB', '_a', '-a', 'a.b', 'a:b', 'a'.repeat(129), 'a\n'],
)

export const e164 = pattern(
  ['+1234567', '+123456789012345'],
  ['', '1234567', '+0234567', '+123456', '+1234567890123456', '+1 234567', '+12345a7', '+1234567\n'],
)

/** A date-time in a request. */
export const instant = pattern(
  ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123Z', '2028-02-29T23:59:59+05:30', '2026-01-01T00:00:00.123456-08:00'],
  [
    '',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-02-29T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '0000-01-01T00:00:00Z',
    '1767225600',
    '2026-01-01T00:00Z',
  ],
)

/** An object with the members of `fields`: the cases vary one member at a time and take the others from `valid`. */
export function object(valid: Record<string, unknown>, fields: Readonly<Record<string, FieldCases>>): FieldCases {
  const all = variations(valid, fields)
  return cases(
    all.filter(({ isValid }) => isValid).map(({ value }) => value),
    [...all.filter(({ isValid }) => !isValid).map(({ value }) => value), 'no object', 7, []],
  )
}

/** `valid` with one member at a time at its bounds, beyond them, null or absent; and with an unknown member. */
export function variations(valid: Record<string, unknown>, fields: Readonly<Record<string, FieldCases>>): Variation[] {
  const found: Variation[] = [
    { title: 'the valid value', member: null, value: valid, isValid: true },
    { title: 'an unknown member', member: 'unknown_member', value: { ...valid, unknown_member: 1 }, isValid: false },
  ]
  for (const [name, field] of Object.entries(fields)) {
    const { [name]: _, ...without } = valid
    found.push({ title: `no ${name}`, member: name, value: without, isValid: field.optional })
    if (!field.valid.includes(null))
      found.push({ title: `${name}: null`, member: name, value: { ...valid, [name]: null }, isValid: false })
    for (const value of field.valid) found.push(varied(valid, name, value, true))
    for (const value of field.invalid) found.push(varied(valid, name, value, false))
  }
  return found
}

function varied(valid: Record<string, unknown>, name: string, value: unknown, isValid: boolean): Variation {
  const shown = JSON.stringify(value) ?? String(value)
  const title = `${name}: ${shown.length > 60 ? `${shown.slice(0, 50)}… (${shown.length})` : shown}`
  return { title, member: name, value: { ...valid, [name]: value }, isValid }
}

/** One line for each variation that `accepts` judges wrongly, without duplicates. */
export function mismatches(all: readonly Variation[], accepts: (value: Record<string, unknown>) => boolean): string[] {
  const wrong = all.filter(({ value, isValid }) => accepts(value) !== isValid)
  return [...new Set(wrong.map(({ title, isValid }) => `${title} must be ${isValid ? 'accepted' : 'refused'}`))]
}
