import { createHash } from 'node:crypto'
import { chownSync, cpSync, readdirSync } from 'node:fs'
import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { ownHome } from '../io/embedded-postgres.ts'
import { createRecord } from '../io/embedded-record.ts'
import { migrate } from '../io/migrate.ts'
import { runnableBinaries, serverAccount } from '../io/postgres-binaries.ts'
import { createCluster, freePort, type ServerPlace, type ServerProcess, startServer } from '../io/postgres-server.ts'
import { cachedDirectory } from './cached-directory.ts'
import { otherBinaries } from './other-binaries.ts'

/** Of the superuser in every copy. */
export const PASSWORD = 'of-a-test'
/** The migrated database that every copy contains; it has the name that the product gives its own. */
export const TEMPLATE = 'parley'

/** Beside the compile cache: other users cannot write there. */
const CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/test-postgres/', import.meta.url))
/** What decides how a cluster looks, besides the Postgres binaries. */
const SOURCES = [
  '../migrations/',
  '../io/postgres-server.ts',
  '../io/migrate.ts',
  '../io/roles.ts',
  '../io/owner-connection.ts',
  '../io/vector-extension.ts',
  './cluster-template.ts',
]
const BOOT_ID = '/proc/sys/kernel/random/boot_id'
const PORT_ATTEMPTS = 5
/** Of files in memory: a database takes about 8 MB, the server 60. */
const ENOUGH_BYTES = 4 * 2 ** 30

/**
 * Creates the cluster of `place` as a copy of one that was created and migrated before: 0.1 s of CPU instead of 2.
 * The copied cluster is made on first use, and again when Postgres or a migration has changed.
 */
export async function copyCluster(place: ServerPlace): Promise<void> {
  // Synchronous, because the asynchronous calls take six times as much CPU for these 1,500 small files.
  cpSync(await templateCluster(place), place.data, { recursive: true })
  await chmod(place.data, 0o700)
  if (place.account === null) return
  const { uid, gid } = place.account
  for (const entry of ['', ...readdirSync(place.data, { recursive: true, encoding: 'utf8' })])
    chownSync(join(place.data, entry), uid, gid)
}

/** Gives an empty PARLEY_HOME its database, so that the first start there need not create and migrate one. */
export async function prepareHome(home: string): Promise<void> {
  const { record, place } = await ownHome(home)
  await copyCluster(place)
  await createRecord(record, {
    port: await freePort(),
    pid: null,
    password: PASSWORD,
    data: place.data,
    keeper: null,
  })
}

/** A new directory that the server's account can use, in memory if the system has plenty of it as files. */
export async function temporaryPlace(): Promise<ServerPlace & { readonly directory: string }> {
  const account = await serverAccount()
  const directory = await mkdtemp(join(await quickDirectory(), 'parley-test-postgres-'))
  if (account !== null) await chown(directory, account.uid, account.gid)
  await chmod(directory, 0o700)
  return {
    directory,
    binaries: await runnableBinaries(account, otherBinaries()),
    account,
    data: join(directory, 'data'),
    log: join(directory, 'server.log'),
  }
}

/** Starts the server of a test on a free port, without durability. */
export async function startSomewhere(place: ServerPlace): Promise<{ server: ServerProcess; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const settings = ['max_connections=300', 'fsync=off', 'synchronous_commit=off', 'full_page_writes=off']
    try {
      return { server: await startServer(place, port, settings), port }
    } catch (error) {
      if (attempt === PORT_ATTEMPTS) throw error
    }
  }
}

async function quickDirectory(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => null)
  return memory !== null && memory.bavail * memory.bsize >= ENOUGH_BYTES ? '/dev/shm' : tmpdir()
}

/** The data directory of a stopped, migrated cluster, which is made if there is none for these binaries and sources. */
async function templateCluster(place: ServerPlace): Promise<string> {
  const template = join(CACHE, await keyOf(place))
  await cachedDirectory(template, async directory => {
    const made = await temporaryPlace()
    try {
      await makeCluster(made)
      cpSync(made.data, directory, { recursive: true })
    } finally {
      await rm(made.directory, { recursive: true, force: true })
    }
  })
  return template
}

async function makeCluster(place: ServerPlace): Promise<void> {
  await createCluster(place, PASSWORD, false)
  const { server, port } = await startSomewhere(place)
  try {
    const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}`
    await runAsOwner(`${url}/postgres`, `create database ${TEMPLATE}`)
    await migrate(`${url}/${TEMPLATE}`)
    await runAsOwner(`${url}/${TEMPLATE}`, UUIDV7_WHERE_IT_LACKS)
  } finally {
    // Fast, and so with a checkpoint: the files are complete.
    await server.stop('SIGINT')
  }
}

/** Templates are not synced to the disk: one of before the machine's last start may be torn, so that each start has its own. */
async function keyOf({ binaries }: ServerPlace): Promise<string> {
  const { size, mtimeMs } = await stat(binaries.postgres)
  const hash = createHash('sha256').update(`${size} ${mtimeMs} ${await readFile(BOOT_ID, 'utf8').catch(() => '')}`)
  for (const source of SOURCES) {
    const path = fileURLToPath(new URL(source, import.meta.url))
    const files = source.endsWith('/') ? (await readdir(path)).sort().map(name => join(path, name)) : [path]
    for (const file of files) hash.update(file).update(await readFile(file))
  }
  return hash.digest('hex').slice(0, 16)
}

/** Tests write rows with the uuidv7() that Postgres has from 18 on. */
const UUIDV7_WHERE_IT_LACKS = `
  do $$ begin
    if to_regprocedure('pg_catalog.uuidv7()') is null then
      create function public.uuidv7() returns uuid language sql as 'select parley.uuidv7()';
    end if;
  end $$`

async function runAsOwner(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
