import type { Client } from 'pg'
import type { Sealer } from '../protocol.ts'
import type { PublicSigningKey } from '../release/protocol.ts'
import { newSigningKey, publicSigningKey, signingKeySealContext } from '../release/signing-keys.ts'
import { asOwner, readAddress } from './owner-connection.ts'

/** Creates the first key that signs certificates, unless there is one. */
export async function ensureSigningKey(ownerUrl: string, sealer: Sealer): Promise<void> {
  await locked(ownerUrl, async client => {
    if ((await latestVersion(client)) === 0) await insertKey(client, sealer, 1)
  })
}

/** Adds a key that signs from now on. Older keys stay published, so that their certificates stay valid. */
export async function addSigningKey(
  ownerUrl: string,
  sealer: Sealer,
): Promise<{ readonly version: number; readonly key: PublicSigningKey }> {
  return locked(ownerUrl, async client => {
    const version = (await latestVersion(client)) + 1
    return { version, key: await insertKey(client, sealer, version) }
  })
}

async function latestVersion(client: Client): Promise<number> {
  const { rows } = await client.query<{ latest: number }>(
    'select coalesce(max(version), 0)::integer as latest from parley.signing_keys',
  )
  return rows[0]!.latest
}

async function insertKey(client: Client, sealer: Sealer, version: number): Promise<PublicSigningKey> {
  const { publicKey, privateKey } = newSigningKey()
  await client.query('insert into parley.signing_keys (version, public_key, sealed) values ($1, $2, $3)', [
    version,
    publicKey,
    sealer.seal(privateKey, signingKeySealContext(version)),
  ])
  return publicSigningKey(publicKey)
}

/** One transaction in the role parley_system; of several processes one runs it at a time. */
function locked<Result>(ownerUrl: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  return asOwner(readAddress(ownerUrl), async client => {
    await client.query('begin')
    await client.query('set local role parley_system')
    await client.query("select pg_advisory_xact_lock(hashtextextended('signing_keys', 0))")
    const result = await work(client)
    await client.query('commit')
    return result
  })
}
