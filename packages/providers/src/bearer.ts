/** The Authorization header with a bearer token, as many services expect it. */
export function bearer(apiKey: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${apiKey}` }
}
