import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomToken, systemRandom } from '@parley/kernel'
import type { PublicSigningKey } from '@parley/store'

export const KEYS_FILE = 'parley-keys.json'

/** Writes the public keys of certificates into the home, where `parley verify` finds them without a connection. */
export async function writeKeysFile(home: string, keys: readonly PublicSigningKey[]): Promise<void> {
  await mkdir(home, { recursive: true })
  const temporary = join(home, `${KEYS_FILE}.${randomToken(systemRandom, 12)}`)
  await writeFile(temporary, `${JSON.stringify({ keys }, null, 2)}\n`)
  await rename(temporary, join(home, KEYS_FILE))
}
