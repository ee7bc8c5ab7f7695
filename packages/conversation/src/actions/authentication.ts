import { createHmac } from 'node:crypto'
import type { HttpAction } from '@parley/flow'
import type { UnixMs } from '@parley/kernel'

/** The authentication header of a request; `body` is "" for a request without one. */
export function authenticationHeader(
  auth: NonNullable<HttpAction['auth']>,
  secret: string,
  body: string,
  now: UnixMs,
): readonly [name: string, value: string] {
  switch (auth.scheme) {
    case 'bearer':
      return ['authorization', `Bearer ${secret}`]
    case 'basic':
      return ['authorization', `Basic ${Buffer.from(secret, 'utf8').toString('base64')}`]
    case 'header':
      return [auth.header.toLowerCase(), secret]
    case 'parley_signature':
      return ['parley-signature', parleySignature(secret, body, now)]
  }
}

/** `t=<unix s>,v1=<hex HMAC-SHA256(secret, t + "." + body)>`. */
function parleySignature(secret: string, body: string, now: UnixMs): string {
  const t = Math.floor(now / 1000)
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`
}
