import type { LiveKitAccess } from '@parley/webrtc'
import { z } from 'zod'
import { webSocketAddress } from './setting-schemas.ts'

const keyText = z
  .string()
  .regex(/^[\x21-\x7e]{1,256}$/, 'must be 1 to 256 visible ASCII characters without spaces')
  .optional()

/** The environment variables of LiveKit. */
export const liveKitVariables = {
  LIVEKIT_URL: webSocketAddress.optional(),
  LIVEKIT_PUBLIC_URL: webSocketAddress.optional(),
  LIVEKIT_API_KEY: keyText,
  LIVEKIT_API_SECRET: keyText,
}

/** Null: web calls are direct. Appends a line for every combination of values that does not fit to `problems`. */
export function liveKitOf(
  values: { readonly [Name in keyof typeof liveKitVariables]?: string | undefined },
  problems: string[],
): LiveKitAccess | null {
  const { LIVEKIT_URL: url, LIVEKIT_API_KEY: apiKey, LIVEKIT_API_SECRET: apiSecret } = values
  if (url === undefined) {
    // The key pair alone is what other programs of the machine have; an address for browsers alone is a mistake.
    if (values.LIVEKIT_PUBLIC_URL !== undefined)
      problems.push(
        'LIVEKIT_PUBLIC_URL: is the address for browsers: set LIVEKIT_URL, by which Parley reaches the server',
      )
    return null
  }
  if (apiKey === undefined || apiSecret === undefined) {
    problems.push('LIVEKIT_URL: needs LIVEKIT_API_KEY and LIVEKIT_API_SECRET, a key pair of that server')
    return null
  }
  return { url, publicUrl: values.LIVEKIT_PUBLIC_URL ?? url, apiKey, apiSecret }
}
