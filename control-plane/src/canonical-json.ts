/**
 * RFC 8785: the one text of a JSON value, names in the order of their UTF-16 code units, numbers as ECMAScript writes
 * them. Members that are undefined are left out. For JSON of bounded depth.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const members: string[] = []
  // `sort` without arguments compares code units.
  for (const name of Object.keys(value).sort()) {
    const held = (value as Readonly<Record<string, unknown>>)[name]
    if (held !== undefined) members.push(`${JSON.stringify(name)}:${canonicalJson(held)}`)
  }
  return `{${members.join(',')}}`
}
