import { createHmac, timingSafeEqual } from 'node:crypto'
import type { UnixMs } from '@parley/kernel'

/** How far the time of a signature may be off: clocks differ, and an older request may be a replay. */
const TOLERANCE_S = 300
const MAX_SIGNATURES = 8

/**
 * Whether `Parley-Signature: t=<unix s>,v1=<hex HMAC-SHA256(secret, t + "." + body)>` proves that the holder of `secret` sent
 * `content` (one character per byte) within five minutes of `now`. There are several `v1` values while a secret is rotated.
 */
export function isSignedBy(secret: string, signature: string, content: string, now: UnixMs): boolean {
  const fields = signature.split(',').map(field => field.trim())
  const [sentAt, ...moreTimes] = fields.flatMap(field => /^t=(\d{1,12})$/.exec(field)?.[1] ?? [])
  const proofs = fields.flatMap(field => /^v1=([0-9a-f]{64})$/.exec(field)?.[1] ?? [])
  if (sentAt === undefined || moreTimes.length > 0 || proofs.length > MAX_SIGNATURES) return false
  if (Math.abs(now / 1000 - Number(sentAt)) > TOLERANCE_S) return false
  const expected = createHmac('sha256', secret).update(`${sentAt}.`).update(content, 'latin1').digest()
  return proofs.some(proof => timingSafeEqual(Buffer.from(proof, 'hex'), expected))
}
