export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses a JSON object; null for any other text. */
export function objectOf(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

export function textIn(object: JsonObject, name: string): string {
  const value = Object.hasOwn(object, name) ? object[name] : undefined
  return typeof value === 'string' ? value : ''
}

/** A non-negative integer; 0 when it is missing or anything else. */
export function countIn(object: JsonObject, name: string): number {
  const value = Object.hasOwn(object, name) ? object[name] : undefined
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}
