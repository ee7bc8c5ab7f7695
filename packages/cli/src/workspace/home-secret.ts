import { randomBytes } from 'node:crypto'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const SECRET = /^[\w-]{43}$/

/**
 * The secret in the file `name` of this home: 32 random bytes in base64url, generated on first use. Processes that start at
 * the same time agree on one secret. A file with other content is replaced.
 */
export async function homeSecret(home: string, name: string): Promise<string> {
  const file = join(home, name)
  const known = await readSecret(file)
  if (known !== null) return known
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  const generated = randomBytes(32).toString('base64url')
  await writeFile(temporary, `${generated}\n`, { mode: 0o600 })
  try {
    await link(temporary, file)
    return generated
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const existing = await readSecret(file)
    if (existing !== null) return existing
    await rename(temporary, file)
    return generated
  } finally {
    await rm(temporary, { force: true })
  }
}

async function readSecret(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return SECRET.test(text.trim()) ? text.trim() : null
}
