/**
 * A JSON value in the canonical form of RFC 8785: no white space, members sorted by the UTF-16 units of their names,
 * numbers and strings as ECMAScript writes them. Members that are undefined are left out. Throws `TypeError` for values without
 * a JSON form: numbers that are not finite, unpaired surrogates, functions.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    // JavaScript compares strings by UTF-16 units.
    members.sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${members.map(([name, member]) => `${canonicalJson(name)}:${canonicalJson(member)}`).join(',')}}`
  }
  if (typeof value === 'string' && !value.isWellFormed())
    throw new TypeError('a string with an unpaired surrogate has no JSON form')
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`the number ${value} has no JSON form`)
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new TypeError(`a value of type ${typeof value} has no JSON form`)
  return json
}
