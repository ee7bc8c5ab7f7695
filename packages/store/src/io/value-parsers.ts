import { types } from 'pg'

/** Object identifiers of types in pg_type, fixed by Postgres. */
const TIMESTAMPTZ = 1184
const TIMESTAMPTZ_ARRAY = 1185
const TEXT_ARRAY = 1009
/** date, timestamp: they have no time zone, so they stay as Postgres writes them. */
const LOCAL_TIMES = new Set([1082, 1114])

/** How values come out: `timestamptz` as ISO time in UTC with milliseconds, `int8` and `numeric` as text, JSON parsed. */
export const valueParsers = {
  // pg's own signature: the parser's input depends on the format, its output on the type.
  getTypeParser(oid: number, format?: 'text' | 'binary'): (value: never) => unknown {
    if (oid === TIMESTAMPTZ) return isoInstant
    if (oid === TIMESTAMPTZ_ARRAY) return isoInstants
    if (LOCAL_TIMES.has(oid)) return String
    return types.getTypeParser(oid, format)
  },
}

/** `2026-02-01 10:20:30.45+00` (DateStyle ISO, time zone UTC) as `2026-02-01T10:20:30.450Z`; further digits are cut off. */
function isoInstant(text: string): string {
  if (!text.endsWith('+00') || text.length < 22) {
    if (text === 'infinity' || text === '-infinity') return text
    throw new RangeError(`not an instant in UTC: ${text}`)
  }
  const fraction = text.length > 22 ? text.slice(20, -3) : ''
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
}

function isoInstants(text: string): (string | null)[] {
  const parse: (text: string) => (string | null)[] = types.getTypeParser(TEXT_ARRAY as never)
  return parse(text).map(item => (item === null ? null : isoInstant(item)))
}
