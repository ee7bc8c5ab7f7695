import { createHash } from 'node:crypto'
import type { ParleyClient } from '@parley/client'
import { readSeedRecord, writeSeedRecord } from './seed-record.ts'

interface SecretSeed {
  readonly id: string
  readonly kind: 'sip_auth' | 'webhook_signing'
  readonly value: string
}

export interface PinnedSecret {
  readonly id: string
  readonly version: string
}

/**
 * The version of a secret that contains `value`. It is created once, and again only if that version was deleted or the value
 * has changed. Later versions by users stay current. Throws `ParleyApiError` if the API refuses (`kind_mismatch`, …).
 */
export async function ensureSecret(home: string, client: ParleyClient, seed: SecretSeed): Promise<PinnedSecret> {
  const { id, kind, value } = seed
  const digest = createHash('sha256').update(value).digest('hex')
  const before = (await readSeedRecord(home)).secrets[id]
  if (before?.digest === digest && (await versionsOf(client, id)).includes(before.version))
    return { id, version: before.version }
  const { version } = await client.secrets.put({ params: { secret_id: id }, body: { kind, value } })
  const latest = await readSeedRecord(home)
  await writeSeedRecord(home, { ...latest, secrets: { ...latest.secrets, [id]: { version, digest } } })
  return { id, version }
}

async function versionsOf(client: ParleyClient, id: string): Promise<readonly string[]> {
  for await (const { secret_id, versions } of client.secrets.list.all({ query: { limit: 200 } }))
    if (secret_id === id) return versions.map(({ version }) => version)
  return []
}
