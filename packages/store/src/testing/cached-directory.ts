import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const STALE_MS = 86_400_000

/**
 * Resolves when `path` is a directory that `make` filled, now or in an earlier process. `make` fills a directory beside it, which
 * is moved there when it is whole: several processes may make it at once, and a killed one leaves no half of it at `path`. What
 * stands beside it and is older than a day is removed.
 */
export async function cachedDirectory(path: string, make: (directory: string) => Promise<void>): Promise<void> {
  if (await exists(path)) return
  const parent = dirname(path)
  await mkdir(parent, { recursive: true })
  await removeStale(parent)
  const beside = await mkdtemp(`${path}.`)
  try {
    await make(beside)
    await rename(beside, path).catch(async error => {
      // Another process was first; its directory is the same.
      if (!(await exists(path))) throw error
    })
  } finally {
    await rm(beside, { recursive: true, force: true })
  }
}

async function removeStale(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const entry = join(parent, name)
    const made = await stat(entry).catch(() => null)
    if (made !== null && Date.now() - made.mtimeMs > STALE_MS) await rm(entry, { recursive: true, force: true })
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
