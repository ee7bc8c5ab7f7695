import { randomBytes } from 'node:crypto'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const SECRET = /^[\w-]{43}$/

/**
 * The secret `name` of this home: 32 random bytes in base64url, made on first use, the same ever after. Processes that
 * start at once agree on one; a file that holds anything else is made anew.
 */
export async function keptSecret(home: string, name: string): Promise<string> {
  const file = join(home, name)
  const known = await readSecret(file)
  if (known !== null) return known
  const fresh = `${file}.${randomBytes(6).toString('hex')}`
  const made = randomBytes(32).toString('base64url')
  await writeFile(fresh, `${made}\n`, { mode: 0o600 })
  try {
    await link(fresh, file)
    return made
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const others = await readSecret(file)
    if (others !== null) return others
    await rename(fresh, file)
    return made
  } finally {
    await rm(fresh, { force: true })
  }
}

async function readSecret(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return SECRET.test(text.trim()) ? text.trim() : null
}
