import { createHash, randomBytes } from 'node:crypto'
import { accessSync, constants, readFileSync } from 'node:fs'
import { access, chmod, chown, mkdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ParleyError } from '@parley/kernel'
import { Client } from 'pg'
import { StoreError } from '../errors.ts'
import {
  createRecord,
  type EmbeddedRecord,
  isAlive,
  isRunning,
  markOf,
  readRecord,
  writeRecord,
} from './embedded-record.ts'
import { type Account, isReachable, ROOTS_OWN, runnableBinaries, serverAccount } from './postgres-binaries.ts'
import {
  createCluster,
  freePort,
  readPostmasterFile,
  type ServerPlace,
  startServer,
  stopAtExit,
} from './postgres-server.ts'

const DATABASE = 'parley'
const SETTINGS = ['max_connections=300']
/** Longest path of a Unix socket, in bytes: the shorter limit of Linux and macOS, without its final zero. */
const MAX_SOCKET_PATH = 103
const ANSWER_WITHIN_MS = 2000
const START_ATTEMPTS = 8
const STOP_WITHIN_MS = 30_000
const WATCH_EVERY_MS = 250
const BACKOFF_MS = { first: 100, most: 10_000 }

interface EmbeddedOptions {
  /** PARLEY_HOME. The server lives in `<home>/postgres`, its record in `<home>/postgres.json`. */
  readonly home: string
  /** Receives a sentence when the server crashed and when it is back. Default: none. */
  readonly onNotice?: (text: string) => void
}

/** A running embedded server, restarted when it crashes. */
export interface EmbeddedPostgres {
  /** The superuser's URL of the database `parley`. */
  readonly ownerUrl: string
  /** `started` by this process; `adopted`: it outlived a killed process; `attached`: another live process keeps it. */
  readonly how: 'started' | 'adopted' | 'attached'
  /** Stops the server, unless another process keeps it. Idempotent. */
  stop(): Promise<void>
}

/**
 * Starts the server of a home, creates it on first use, or adopts the one that a killed process left.
 * Throws `postgres_unavailable` (no binaries), `disk_full`, `wrong_permissions`, `postgres_failed`.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const home = await ownHome(options.home)
  for (let attempt = 1; ; attempt++) {
    try {
      const alive = await adopt(home, options)
      const embedded = alive ?? (await start(home, options))
      await ensureDatabase(embedded.ownerUrl)
      return embedded
    } catch (error) {
      // The port was taken, or another process starts this server now: try again.
      if (attempt === START_ATTEMPTS || !(error instanceof ParleyError && error.retryable)) throw error
      await pause(BACKOFF_MS.first * 2 ** attempt)
    }
  }
}

/** The owner's URL of the server that another process runs for this home. Throws `database_unavailable` when none does. */
export async function attachEmbeddedPostgres(home: string): Promise<string> {
  const record = await readRecord(recordPath(home))
  if (record !== null && (await answers(record))) return urlOf(record, DATABASE)
  throw new StoreError('database_unavailable', `no database runs for ${home}: start Parley there, or set DATABASE_URL`)
}

interface Home {
  readonly record: string
  readonly place: ServerPlace
}

const recordPath = (home: string) => join(home, 'postgres.json')

/** Where the server of a home keeps its data, and as which account it runs. Creates both directories. */
export async function ownHome(path: string): Promise<Home> {
  await mkdir(path, { recursive: true })
  const home = await realpath(path)
  const known = await readRecord(recordPath(home))
  const data = known?.data ?? join(await directoryFor(home), 'data')
  const account = await accountFor(data)
  return {
    record: recordPath(home),
    place: { binaries: await runnableBinaries(account), account, data, log: join(data, '..', 'server.log') },
  }
}

/** `<home>/postgres`, or a directory of root's elsewhere if the server's account cannot reach the home. */
async function directoryFor(home: string): Promise<string> {
  const account = await serverAccount()
  let directory = join(home, 'postgres')
  if (account !== null) {
    await letPass(home, account)
    if (!(await isReachable(directory, account)))
      directory = join(ROOTS_OWN, createHash('sha256').update(home).digest('hex').slice(0, 16))
  }
  await mkdir(directory, { recursive: true })
  if (account !== null) await chown(directory, account.uid, account.gid)
  return directory
}

/** Gives the account's group the right to pass through a home that only root can enter, not to list it. */
async function letPass(home: string, account: Account): Promise<void> {
  const { mode, uid } = await stat(home)
  if (uid !== 0 || (mode & 0o077) !== 0) return
  await chown(home, uid, account.gid)
  await chmod(home, 0o710)
}

/** The owner of the server's existing files: another user than root may have created it. */
async function accountFor(data: string): Promise<Account | null> {
  const account = await serverAccount()
  if (account === null) return null
  const made = await stat(data).catch(() => null)
  return made === null || made.uid === 0 ? account : { uid: made.uid, gid: made.gid }
}

/** The running server, identified by its password and data directory, not by a pid; null: none runs. */
async function adopt(home: Home, options: EmbeddedOptions): Promise<EmbeddedPostgres | null> {
  const record = await readRecord(home.record)
  if (record === null || !(await answers(record))) return null
  if (record.keeper !== null && record.keeper.pid !== process.pid && (await isAlive(record.keeper)))
    return { ownerUrl: urlOf(record, DATABASE), how: 'attached', stop: async () => {} }
  const file = await readPostmasterFile(home.place.data)
  if (file === null) return null
  await writeRecord(home.record, { ...record, pid: file.pid, keeper: await markOf(process.pid) })
  return new KeptServer(home, record, file.pid, 'adopted', options)
}

async function start(home: Home, options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  let record = await readRecord(home.record)
  if (record === null) {
    record = {
      port: await freePort(),
      pid: null,
      password: randomBytes(24).toString('base64url'),
      data: home.place.data,
      keeper: null,
    }
    if (await exists(home.place.data))
      throw new StoreError(
        'postgres_failed',
        `${home.place.data} holds a database, but ${home.record} with its password is missing: restore it, or move the directory away to start empty`,
      )
    // The password is written before the cluster that needs it.
    if (!(await createRecord(home.record, record))) throw startedElsewhere()
  }
  if (!(await exists(home.place.data))) await makeCluster(home.place, record.password)
  await dropStaleLock(home.place, record.port)
  try {
    const { pid } = await startServer(home.place, record.port, settingsOf(record))
    await writeRecord(home.record, { ...record, pid, keeper: await markOf(process.pid) })
    return new KeptServer(home, record, pid, 'started', options)
  } catch (error) {
    if (StoreError.is(error, 'port_taken')) await writeRecord(home.record, { ...record, port: await freePort() })
    throw error
  }
}

/** Creates the cluster atomically: a kill leaves no half cluster behind. */
async function makeCluster(place: ServerPlace, password: string): Promise<void> {
  const fresh = `${place.data}.${process.pid}`
  await rm(fresh, { recursive: true, force: true })
  await createCluster({ ...place, data: fresh }, password, true)
  try {
    await rename(fresh, place.data)
  } catch {
    await rm(fresh, { recursive: true, force: true })
    throw startedElsewhere()
  }
}

/**
 * Removes the lock of a server that no longer runs. The lock of a live process that uses this directory is left alone: the server
 * starts or stops, and the next attempt sees the result.
 */
async function dropStaleLock({ data }: ServerPlace, port: number): Promise<void> {
  const file = await readPostmasterFile(data)
  if (file !== null) {
    if ((await isRunning(file.pid)) && (await worksIn(file.pid, data))) throw startedElsewhere()
    await rm(join(data, 'postmaster.pid'), { force: true })
  }
  await rm(`${socketIn(data, port)}.lock`, { force: true })
}

async function worksIn(pid: number, data: string): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null)
  // Without /proc Postgres must decide by itself whether the lock is stale.
  return command === null ? process.platform !== 'linux' : command.split('\0').includes(data)
}

function startedElsewhere(): ParleyError {
  return new StoreError('postgres_running', 'another process is starting or stopping this database server')
}

/** A server that this process stops at its end, and restarts when it crashes. */
class KeptServer implements EmbeddedPostgres {
  readonly ownerUrl: string
  readonly how: 'started' | 'adopted'
  readonly #home: Home
  readonly #record: EmbeddedRecord
  readonly #notice: (text: string) => void
  #pid: number
  #stopping: Promise<void> | null = null
  #watching: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout
  readonly #forget: () => void

  constructor(home: Home, record: EmbeddedRecord, pid: number, how: 'started' | 'adopted', options: EmbeddedOptions) {
    this.#home = home
    this.#record = record
    this.#pid = pid
    this.how = how
    this.ownerUrl = urlOf(record, DATABASE)
    this.#notice = options.onNotice ?? (() => {})
    // A server that this process started is a child, which is stopped at exit anyway.
    this.#forget = how === 'adopted' ? stopAtExit(() => signalServer(home.place.data, pid)) : () => {}
    this.#timer = this.#watch()
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  /** By pid, because an adopted server is not a child of this process. */
  #watch(): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#watching = this.#look()
    }, WATCH_EVERY_MS)
    timer.unref()
    return timer
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    if (!(await isRunning(this.#pid))) await this.#restart()
    if (this.#stopping === null) this.#timer = this.#watch()
  }

  /** Starts the server again on the same port, which all pools use. Never rejects. */
  async #restart(): Promise<void> {
    this.#notice('the database server has stopped: starting it again')
    for (let wait = BACKOFF_MS.first; this.#stopping === null; wait = Math.min(wait * 2, BACKOFF_MS.most)) {
      try {
        await dropStaleLock(this.#home.place, this.#record.port)
        const { pid } = await startServer(this.#home.place, this.#record.port, settingsOf(this.#record))
        this.#pid = pid
        await writeRecord(this.#home.record, { ...this.#record, pid, keeper: await markOf(process.pid) })
        this.#notice('the database server is running again')
        return
      } catch (error) {
        this.#notice(error instanceof Error ? error.message : String(error))
        await pause(wait, undefined, { ref: false })
      }
    }
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#watching
    // The pid belongs to the server only while the directory's lock names it.
    const file = await readPostmasterFile(this.#home.place.data)
    if (file !== null && file.pid === this.#pid) await endServer(this.#pid)
    this.#forget()
    await writeRecord(this.#home.record, { ...this.#record, pid: null, keeper: null })
  }
}

/** Asks the server for a fast shutdown, if the directory's lock still names it. */
function signalServer(data: string, pid: number): void {
  try {
    const [owner] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
    if (Number(owner) === pid) process.kill(pid, 'SIGINT')
  } catch {
    // It has stopped.
  }
}

/** Fast shutdown: clients are disconnected, nothing is lost. After 30 s immediate shutdown, from which the next start recovers. */
async function endServer(pid: number): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!(await isRunning(pid))) return
    process.kill(pid, signal)
    const deadline = performance.now() + STOP_WITHIN_MS
    while ((await isRunning(pid)) && performance.now() < deadline) await pause(20)
  }
}

/** Whether the server of this record, and no other, accepts its password. */
async function answers(record: EmbeddedRecord): Promise<boolean> {
  const client = new Client({ connectionString: urlOf(record, 'postgres'), connectionTimeoutMillis: ANSWER_WITHIN_MS })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query({ text: 'show data_directory', query_timeout: ANSWER_WITHIN_MS } as {
      text: string
    })
    return rows[0]?.data_directory === record.data
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

async function ensureDatabase(ownerUrl: string): Promise<void> {
  const url = new URL(ownerUrl)
  url.pathname = '/postgres'
  const client = new Client({ connectionString: url.href, connectionTimeoutMillis: ANSWER_WITHIN_MS })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE])
    // Another process may be creating it now.
    if (rowCount === 0)
      await client.query(`create database ${DATABASE}`).catch(error => {
        if (error.code !== '42P04' && error.code !== '23505') throw error
      })
  } finally {
    await client.end()
  }
}

/**
 * The server listens on TCP, and on a Unix socket in its data directory, which nobody else can enter, where the path allows it: a round
 * trip over the socket costs less.
 */
function settingsOf({ data, port }: EmbeddedRecord): readonly string[] {
  const canBeSocket = Buffer.byteLength(socketIn(data, port)) <= MAX_SOCKET_PATH && !/[",]/.test(data)
  return canBeSocket ? [...SETTINGS, `unix_socket_directories=${data}`] : SETTINGS
}

/** The name that Postgres and its clients give to the socket of this port. */
function socketIn(data: string, port: number): string {
  return join(data, `.s.PGSQL.${port}`)
}

/** By the server's Unix socket if this process can open it, else by TCP: an earlier version may have started the server. */
function urlOf(record: EmbeddedRecord, database: string): string {
  const url = new URL(`postgres://postgres:${record.password}@127.0.0.1:${record.port}/${database}`)
  if (canOpen(socketIn(record.data, record.port))) url.searchParams.set('host', record.data)
  return url.href
}

function canOpen(socket: string): boolean {
  try {
    accessSync(socket, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
