type Kind = 'text' | 'number' | 'text or null' | 'number or null' | 'texts'

/** Whether a stored value has these fields with these types; further fields are allowed. */
export function hasFields(value: unknown, fields: Readonly<Record<string, Kind>>): boolean {
  if (typeof value !== 'object' || value === null) return false
  const found = new Map<string, unknown>(Object.entries(value))
  return Object.entries(fields).every(([name, kind]) => is(found.get(name), kind))
}

function is(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string'
    case 'number':
      return Number.isSafeInteger(value)
    case 'text or null':
      return value === null || typeof value === 'string'
    case 'number or null':
      return value === null || Number.isSafeInteger(value)
    case 'texts':
      return Array.isArray(value) && value.every(entry => typeof entry === 'string')
  }
}
