import { createHash } from 'node:crypto'
import type { Random } from '@parley/kernel'

/** A secret that a person holds: the cookie of a session, or the token of a link. Only its hash is stored. */
export interface PersonToken {
  /** 43 characters of base64url: 256 random bits. */
  readonly token: string
  readonly hash: Buffer
}

const TOKEN_BYTES = 32

export function newPersonToken(random: Random): PersonToken {
  const token = Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url')
  return { token, hash: personTokenHash(token) }
}

/** SHA-256 of the token: nothing slower is needed for 256 random bits. */
export function personTokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
