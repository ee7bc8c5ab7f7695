import { createHmac, timingSafeEqual } from 'node:crypto'
import type { UnixMs } from '@parley/kernel'
import type { SignatureVerdict } from './webhook-entry.ts'

interface SignatureCheck {
  readonly secrets: readonly string[]
  readonly nowMs: UnixMs
  /** How far `t` may be from now, s. */
  readonly toleranceS: number
}

const MAX_VALUES = 8

/**
 * Checks `Parley-Signature: t=<unix s>,v1=<hex HMAC-SHA256(secret, t + "." + body)>`, where several `v1` may stand while a
 * secret rotates. Written from the public description alone, as an integrator would.
 */
export function checkSignature(
  header: string | undefined,
  body: Uint8Array,
  { secrets, nowMs, toleranceS }: SignatureCheck,
): { readonly verdict: SignatureVerdict; readonly secret: number | null } {
  if (header === undefined) return { verdict: 'missing', secret: null }
  const pairs = header.split(',').map(part => part.trim().split('='))
  const times = pairs.filter(([name]) => name === 't').map(([, value]) => value ?? '')
  const values = pairs.filter(([name]) => name === 'v1').map(([, value]) => value ?? '')
  const t = times.length === 1 ? times[0]! : ''
  const readable =
    values.length > 0 && values.length <= MAX_VALUES && values.every(value => /^[0-9a-f]{64}$/.test(value))
  if (!/^\d{1,12}$/.test(t) || !readable) return { verdict: 'malformed', secret: null }
  const secret = secrets.findIndex(candidate => {
    const expected = createHmac('sha256', candidate).update(`${t}.`).update(body).digest()
    return values.some(value => timingSafeEqual(expected, Buffer.from(value, 'hex')))
  })
  if (secret < 0) return { verdict: 'invalid', secret: null }
  return { verdict: Math.abs(nowMs / 1000 - Number(t)) <= toleranceS ? 'valid' : 'expired', secret }
}
