/** What a field takes and what it refuses, said in the test and not read from the schema. */
export interface Bounds {
  readonly takes: readonly unknown[]
  readonly refuses: readonly unknown[]
  readonly optional: boolean
}

export interface Variation {
  readonly title: string
  readonly value: Record<string, unknown>
  readonly taken: boolean
}

const NO_STRINGS = [5, true, [], {}]
const ILL_FORMED = ['a\0', 'a\ud800', '\udc00a']

function bounds(takes: readonly unknown[], refuses: readonly unknown[]): Bounds {
  return { takes, refuses, optional: false }
}

/** May be left out. */
export function optional(of: Bounds): Bounds {
  return { ...of, optional: true }
}

/** Takes null as well. */
export function nullable(of: Bounds): Bounds {
  return { ...of, takes: [...of.takes, null] }
}

/** A string of `min` to `max` code points, whatever they are. */
export function text(min: number, max: number): Bounds {
  const short = min === 0 ? [] : ['a'.repeat(min - 1)]
  const inside = ['a'.repeat(min), 'a'.repeat(max), '\u{1f600}'.repeat(max)]
  const ill = max > 1 ? ILL_FORMED : ['\0']
  return bounds(inside, [...short, 'a'.repeat(max + 1), '\u{1f600}'.repeat(max + 1), ...ill, ...NO_STRINGS])
}

/** A string held to a pattern. */
export function pattern(takes: readonly string[], refuses: readonly string[]): Bounds {
  return bounds(takes, [...refuses, ...NO_STRINGS])
}

export function integer(min: number, max: number): Bounds {
  return bounds([min, max], [min - 1, max + 1, min + 0.5, String(min), true])
}

/** An integer of at least `min`. */
export function atLeast(min: number): Bounds {
  return bounds([min, min + 1_000_000], [min - 1, min + 0.5, String(min)])
}

export function number(min: number, max: number): Bounds {
  return bounds([min, max, (min + max) / 2], [min - 0.001, max + 0.001, String(min), Number.NaN])
}

export const boolean = bounds([true, false], ['true', 0])

export function oneOf(...words: readonly (string | number | boolean)[]): Bounds {
  return bounds(words, ['no-such-word', '', ...(words.length > 0 ? [[words[0]]] : [])])
}

/** A list of `min` to `max` of what `item` takes; the first thing it takes fills it. */
export function list(min: number, max: number, item: Bounds): Bounds {
  const of = (count: number) => Array.from({ length: count }, () => item.takes[0])
  const filled = item.refuses.map(refused => [...of(Math.max(0, min - 1)), refused])
  return bounds([of(min), of(max)], [...(min === 0 ? [] : [of(min - 1)]), of(max + 1), ...filled, 'no list'])
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

/** Agents, actions, secrets. */
export function identifier(max: number): Bounds {
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

/** An object whose members are held to `fields`: each in its turn is varied in what is otherwise valid. */
export function object(valid: Record<string, unknown>, fields: Readonly<Record<string, Bounds>>): Bounds {
  const all = variations(valid, fields)
  return bounds(
    all.filter(({ taken }) => taken).map(({ value }) => value),
    [...all.filter(({ taken }) => !taken).map(({ value }) => value), 'no object', 7, []],
  )
}

/** `valid` with one member at a time at its bounds, beyond them, null, left out; and with a member nobody knows. */
export function variations(valid: Record<string, unknown>, fields: Readonly<Record<string, Bounds>>): Variation[] {
  const found: Variation[] = [
    { title: 'what is valid', value: valid, taken: true },
    { title: 'an unknown member', value: { ...valid, unknown_member: 1 }, taken: false },
  ]
  for (const [name, field] of Object.entries(fields)) {
    const { [name]: _, ...without } = valid
    found.push({ title: `no ${name}`, value: without, taken: field.optional })
    if (!field.takes.includes(null))
      found.push({ title: `${name}: null`, value: { ...valid, [name]: null }, taken: false })
    for (const value of field.takes) found.push(varied(valid, name, value, true))
    for (const value of field.refuses) found.push(varied(valid, name, value, false))
  }
  return found
}

function varied(valid: Record<string, unknown>, name: string, value: unknown, taken: boolean): Variation {
  const shown = JSON.stringify(value) ?? String(value)
  const title = `${name}: ${shown.length > 60 ? `${shown.slice(0, 50)}… (${shown.length})` : shown}`
  return { title, value: { ...valid, [name]: value }, taken }
}

/** Which variations `takes` judges otherwise than they should be, each once, in words. */
export function misjudged(all: readonly Variation[], takes: (value: Record<string, unknown>) => boolean): string[] {
  const wrong = all.filter(({ value, taken }) => takes(value) !== taken)
  return [...new Set(wrong.map(({ title, taken }) => `${title} should be ${taken ? 'taken' : 'refused'}`))]
}
