import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { randomToken, systemRandom } from '@parley/kernel'
import {
  asStaff,
  auditMasterKeyRotation,
  formatMasterKey,
  loadMasterKey,
  type MasterKey,
  MasterKeySealer,
  rotateMasterKey,
  withNewKey,
} from '@parley/store'

export const MASTER_KEY_USAGE = 'parley admin master-key rotate'

interface MasterKeyLocation {
  readonly home: string
  /** `PARLEY_MASTER_KEY`; null: the key is in a file under `home`. */
  readonly configured: string | null
}

/**
 * Rotates the master key in two runs, because every running process must have the new key before a value is sealed with it.
 * The first run (one version) adds a version, to the file or as a printed value for the variable. The second run (several
 * versions) seals every secret with the newest version, and removes the others from the file.
 */
export async function rotate(location: MasterKeyLocation, ownerUrl: string): Promise<unknown> {
  const keys = await loadMasterKey(location.configured ?? undefined, location.home)
  if (keys.size === 1) return firstStep(location, keys)
  const sealer = new MasterKeySealer(keys)
  const resealed = await rotateMasterKey(ownerUrl, sealer)
  await asStaff(ownerUrl, auditMasterKeyRotation)
  const version = sealer.currentVersion
  if (location.configured !== null)
    return { step: 'done', version, resealed, next: `PARLEY_MASTER_KEY needs version ${version} only now` }
  await writeKeyFile(location.home, new Map([...keys].filter(([known]) => known === version)))
  return { step: 'done', version, resealed }
}

async function firstStep({ home, configured }: MasterKeyLocation, keys: MasterKey): Promise<unknown> {
  const both = withNewKey(keys)
  const version = Math.max(...both.keys())
  const again = `then run "${MASTER_KEY_USAGE}" again`
  if (configured !== null)
    return {
      step: 'new_key',
      version,
      master_key: formatMasterKey(both),
      next: `set PARLEY_MASTER_KEY to this value everywhere, restart every process of Parley, ${again}`,
    }
  await writeKeyFile(home, both)
  return { step: 'new_key', version, next: `restart every process of Parley, ${again}` }
}

/** Writes the file atomically: losing the key would lose every secret. */
async function writeKeyFile(home: string, keys: MasterKey): Promise<void> {
  const path = join(home, 'master.key')
  const temporary = `${path}.${randomToken(systemRandom, 12)}`
  const file = await open(temporary, 'wx', 0o600)
  try {
    await file.writeFile(`${formatMasterKey(keys)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path).catch(async error => {
    await rm(temporary, { force: true })
    throw error
  })
  const directory = await open(home, 'r')
  await directory.sync().finally(() => directory.close())
}
