/**
 * A JSON value in the canonical form of RFC 8785: no white space, members sorted by the UTF-16 units of their names,
 * numbers and strings as ECMAScript writes them. Members that are undefined are left out. Throws `TypeError` for what is
 * no JSON: numbers that are not finite, halves of surrogate pairs, functions.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    // The comparison of strings is by UTF-16 units.
    members.sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${members.map(([name, member]) => `${canonicalJson(name)}:${canonicalJson(member)}`).join(',')}}`
  }
  if (typeof value === 'string' && !value.isWellFormed()) throw new TypeError('half a surrogate pair has no JSON')
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} has no JSON`)
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new TypeError(`a ${typeof value} has no JSON`)
  return json
}
