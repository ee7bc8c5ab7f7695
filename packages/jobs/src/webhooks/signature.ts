import { createHmac } from 'node:crypto'
import type { UnixMs } from '@parley/kernel'

/**
 * `Parley-Signature`: `t=<unix s>,v1=<hex HMAC-SHA256(secret, t + "." + body)>`, one `v1` for each secret: two while the
 * pinned version is not the current one.
 */
export function signatureOf(secrets: readonly string[], body: string, now: UnixMs): string {
  const t = Math.floor(now / 1000)
  const values = secrets.map(secret => createHmac('sha256', secret).update(`${t}.${body}`).digest('hex'))
  return [`t=${t}`, ...values.map(value => `v1=${value}`)].join(',')
}
