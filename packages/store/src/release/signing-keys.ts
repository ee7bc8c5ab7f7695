import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { sql } from 'kysely'
import { StoreError } from '../errors.ts'
import type { Queries, Sealer } from '../protocol.ts'
import type { RunStatement } from '../statements.ts'
import type { PublicSigningKey, SigningAcrossTenants } from './protocol.ts'

/** A new key as its row is written. */
interface NewSigningKey {
  readonly publicKey: Buffer
  /** PKCS #8. */
  readonly privateKey: Buffer
}

export function signingOn(run: RunStatement): SigningAcrossTenants {
  return {
    async publicKeys() {
      const { rows } = await run('signing_keys', 'select public_key from parley.signing_keys order by version desc', [])
      return (rows as { public_key: Buffer }[]).map(row => publicSigningKey(row.public_key))
    },
  }
}

export function newSigningKey(): NewSigningKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return {
    publicKey: rawPublicKey(publicKey),
    privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }),
  }
}

export function publicSigningKey(raw: Buffer): PublicSigningKey {
  const members = { crv: 'Ed25519', kty: 'OKP', x: raw.toString('base64url') } as const
  // RFC 7638: the required members in this order, without white space.
  const kid = createHash('sha256').update(JSON.stringify(members)).digest('base64url')
  return { ...members, kid }
}

function rawPublicKey(key: KeyObject): Buffer {
  return Buffer.from(String(key.export({ format: 'jwk' }).x), 'base64url')
}

/** The context under which the private half of this version is sealed. */
export function signingKeySealContext(version: number): string {
  return JSON.stringify(['signing_keys', version])
}

/** The newest key, opened. Throws `signing_key_missing`, `seal_broken`. */
export async function currentSigningKey(
  tx: Queries,
  sealer: Sealer,
): Promise<{ readonly keyId: string; readonly privateKey: KeyObject }> {
  const { rows } = await sql<{ version: number; sealed: Buffer }>`
    select version, sealed from parley.signing_keys order by version desc limit 1`.execute(tx)
  const [row] = rows
  if (row === undefined)
    throw new StoreError('signing_key_missing', 'the database has no signing key: restart a process with the role api')
  const opened = sealer.open(row.sealed, signingKeySealContext(row.version))
  const privateKey = createPrivateKey({ key: opened, format: 'der', type: 'pkcs8' })
  return { keyId: publicSigningKey(rawPublicKey(createPublicKey(privateKey))).kid, privateKey }
}
