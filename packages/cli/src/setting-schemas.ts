import { z } from 'zod'

/** An API key: visible ASCII, not empty. */
export const key = z
  .string()
  .min(1)
  .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters without spaces')

/** A URL whose scheme matches `protocol`. */
export function address(protocol: RegExp, example: string) {
  return z.url({ protocol, error: `must be an address such as ${example}` })
}

export const httpAddress = address(/^https?$/, 'https://host.example')

export const webSocketAddress = address(/^wss?$/, 'wss://host.example')

export const commaList = z.string().transform(text =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== ''),
)
