import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, chown, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { migrate } from '../io/migrate.ts'
import { runnableBinaries, serverAccount } from '../io/postgres-binaries.ts'
import { createCluster, freePort, type ServerProcess, startServer } from '../io/postgres-server.ts'

const PASSWORD = 'of-a-test'
const PORT_ATTEMPTS = 5
/** Of files in memory: a database takes about 8 MB, the server 60. */
const ENOUGH_BYTES = 4 * 2 ** 30
/** Migrated once; every test database is a copy. */
export const TEMPLATE = 'parley_template'

/** A server that lives as long as the process that started it, also when that process is killed. */
export interface TestServer {
  /** Owner's URL of its template, which nobody may be connected to while it is copied. */
  readonly templateUrl: string
  /** Of the server process: for tests that kill it. */
  readonly pid: number
  stop(): Promise<void>
}

/** Starts a Postgres of its own in a temporary directory, without durability. About 1.5 s. */
export async function startTestServer(): Promise<TestServer> {
  const account = await serverAccount()
  const home = await mkdtemp(join(await quickDirectory(), 'parley-test-postgres-'))
  if (account !== null) await chown(home, account.uid, account.gid)
  await chmod(home, 0o700)
  const place = {
    binaries: await runnableBinaries(account),
    account,
    data: join(home, 'data'),
    log: join(home, 'server.log'),
  }
  let watch: ChildProcess | undefined
  try {
    await createCluster(place, PASSWORD, false)
    const { server, port } = await startSomewhere(place)
    watch = outlive(server.pid, home)
    const templateUrl = `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${TEMPLATE}`
    await createDatabase(templateUrl, TEMPLATE)
    await migrate(templateUrl)
    return { templateUrl, pid: server.pid, stop: () => stop(server, watch, home) }
  } catch (error) {
    watch?.stdin?.end()
    if (watch === undefined) await rm(home, { recursive: true, force: true })
    throw error
  }
}

/** Memory where the system has plenty of it as files (every test copies hundreds), else its temporary directory. */
async function quickDirectory(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => null)
  return memory !== null && memory.bavail * memory.bsize >= ENOUGH_BYTES ? '/dev/shm' : tmpdir()
}

/** `url` with another database. */
export function withDatabase(url: string, database: string): string {
  const other = new URL(url)
  other.pathname = `/${database}`
  return other.href
}

async function startSomewhere(
  place: Parameters<typeof startServer>[0],
): Promise<{ server: ServerProcess; port: number }> {
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

async function createDatabase(templateUrl: string, name: string): Promise<void> {
  const client = new Client({ connectionString: withDatabase(templateUrl, 'postgres') })
  await client.connect()
  try {
    await client.query(`create database ${name}`)
  } finally {
    await client.end()
  }
}

/** A shell that reads from us until we are gone, however we went; then it ends the server and its directory. */
function outlive(pid: number, home: string): ChildProcess {
  const watch = spawn('/bin/sh', ['-c', 'read _; kill -QUIT "$0"; sleep 1; rm -rf "$1"', String(pid), home], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watch.on('error', () => {})
  watch.stdin.on('error', () => {})
  watch.unref()
  // Node types: the stream of a pipe is a socket, which keeps the process alive unless told otherwise.
  if ('unref' in watch.stdin && typeof watch.stdin.unref === 'function') watch.stdin.unref()
  return watch
}

async function stop(server: ServerProcess, watch: ChildProcess | undefined, home: string): Promise<void> {
  // Immediate: nothing in it is kept.
  await server.stop('SIGQUIT')
  await rm(home, { recursive: true, force: true })
  watch?.kill('SIGKILL')
}
