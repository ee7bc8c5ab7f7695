/**
 * A parameter of a statement as Postgres receives it: text, or bytes for `bytea`. Arrays become array literals, objects JSON,
 * instants ISO times in UTC; undefined is null. Throws `TypeError` for what has no text form in Postgres.
 */
export function wireValue(value: unknown): string | Buffer | null {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
    case 'undefined':
      return null
    case 'object':
      if (value === null) return null
      if (Buffer.isBuffer(value)) return value
      if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      if (value instanceof Date) return value.toISOString()
      return Array.isArray(value) ? arrayLiteral(value) : JSON.stringify(value)
    default:
      throw new TypeError(`a ${typeof value} is no value for Postgres`)
  }
}

/** https://www.postgresql.org/docs/current/arrays.html#ARRAYS-INPUT */
function arrayLiteral(items: readonly unknown[]): string {
  return `{${items.map(item => (Array.isArray(item) ? arrayLiteral(item) : elementOf(wireValue(item)))).join(',')}}`
}

function elementOf(value: string | Buffer | null): string {
  if (value === null) return 'NULL'
  if (typeof value !== 'string') return `"\\\\x${value.toString('hex')}"`
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
