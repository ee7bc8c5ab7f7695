import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { randomToken, systemRandom } from '@parley/kernel'
import {
  asStaff,
  formatMasterKey,
  loadMasterKey,
  type MasterKey,
  MasterKeySealer,
  noteMasterKeyRotation,
  rotateMasterKey,
  withNewKey,
} from '@parley/store'

export const MASTER_KEY_USAGE = 'parley admin master-key rotate'

interface MasterKeyPlace {
  readonly home: string
  /** `PARLEY_MASTER_KEY`; null: the key stands in a file under `home`. */
  readonly configured: string | null
}

/**
 * In two steps, since whoever runs must have the new key before anything is sealed under it: with one version there is a
 * new one, kept in the file or shown for the variable; with several everything is sealed under the newest, after which
 * the file keeps that one alone.
 */
export async function rotate(place: MasterKeyPlace, ownerUrl: string): Promise<unknown> {
  const keys = await loadMasterKey(place.configured ?? undefined, place.home)
  if (keys.size === 1) return firstStep(place, keys)
  const sealer = new MasterKeySealer(keys)
  const resealed = await rotateMasterKey(ownerUrl, sealer)
  await asStaff(ownerUrl, noteMasterKeyRotation)
  const version = sealer.currentVersion
  if (place.configured !== null)
    return { step: 'done', version, resealed, next: `PARLEY_MASTER_KEY may be version ${version} alone now` }
  await keep(place.home, new Map([...keys].filter(([known]) => known === version)))
  return { step: 'done', version, resealed }
}

async function firstStep({ home, configured }: MasterKeyPlace, keys: MasterKey): Promise<unknown> {
  const both = withNewKey(keys)
  const version = Math.max(...both.keys())
  const again = `then run "${MASTER_KEY_USAGE}" again`
  if (configured !== null)
    return {
      step: 'new_key',
      version,
      master_key: formatMasterKey(both),
      next: `set PARLEY_MASTER_KEY to this everywhere, restart every process of Parley, ${again}`,
    }
  await keep(home, both)
  return { step: 'new_key', version, next: `restart every process of Parley, ${again}` }
}

/** Writes the file atomically: losing the key would lose every secret. */
async function keep(home: string, keys: MasterKey): Promise<void> {
  const path = join(home, 'master.key')
  const fresh = `${path}.${randomToken(systemRandom, 12)}`
  const file = await open(fresh, 'wx', 0o600)
  try {
    await file.writeFile(`${formatMasterKey(keys)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(fresh, path).catch(async error => {
    await rm(fresh, { force: true })
    throw error
  })
  const directory = await open(home, 'r')
  await directory.sync().finally(() => directory.close())
}
