import { type ChildProcess, spawn } from 'node:child_process'
import { chown, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ParleyError } from '@parley/kernel'
import { StoreError, type StoreErrorCode } from '../errors.ts'
import type { Account, PostgresBinaries } from './postgres-binaries.ts'

const READY_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 20

/** The directory, log file and account of a server. */
export interface ServerPlace {
  readonly binaries: PostgresBinaries
  readonly account: Account | null
  /** The data directory; its parent exists and is passable for the account. */
  readonly data: string
  /** The log file of the server. */
  readonly log: string
}

/**
 * Creates an empty cluster whose superuser `postgres` has this password. Throws `disk_full`, `wrong_permissions` or
 * `postgres_failed` with the output of initdb.
 */
export async function createCluster(place: ServerPlace, password: string, durable: boolean): Promise<void> {
  await mkdir(place.data, { recursive: true, mode: 0o700 })
  const passwordFile = `${place.data}.password`
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
  try {
    if (place.account !== null) {
      await chown(place.data, place.account.uid, place.account.gid)
      await chown(passwordFile, place.account.uid, place.account.gid)
    }
    const child = spawn(
      place.binaries.initdb,
      [
        `--pgdata=${place.data}`,
        '--username=postgres',
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        // The same sort order of text on every machine.
        '--locale=C',
        ...(place.binaries.hasBuiltinLocales ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []),
        '--no-instructions',
        ...(durable ? [] : ['--no-sync']),
      ],
      { ...processOptions(place), stdio: ['ignore', 'ignore', 'pipe'] },
    )
    let output = ''
    child.stderr.setEncoding('utf8').on('data', text => {
      output = (output + text).slice(-4000)
    })
    const code = await exitOf(child)
    if (code !== 0) throw new StoreError(failureCode(output), `the database could not be created: ${output.trim()}`)
  } catch (error) {
    await rm(place.data, { recursive: true, force: true })
    throw error
  } finally {
    await rm(passwordFile, { force: true })
  }
}

/** A server process that this process started. */
export interface ServerProcess {
  readonly pid: number
  /** Resolves when the process has exited. Never rejects. */
  readonly gone: Promise<void>
  /** Sends SIGINT (fast: clients are disconnected, nothing is lost) or SIGQUIT (immediate), and resolves when it has exited. */
  stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>
}

/**
 * Starts the server on 127.0.0.1 and resolves when it answers. `settings` are `name=value`.
 * Throws `port_taken`,
 * `postgres_running` (another server has this directory), `disk_full`, `wrong_permissions` or `postgres_failed`, each with
 * the last lines of its log.
 */
export async function startServer(
  place: ServerPlace,
  port: number,
  settings: readonly string[],
): Promise<ServerProcess> {
  const log = await open(place.log, 'a', 0o600)
  const logStart = (await log.stat()).size
  let child: ChildProcess
  try {
    const options = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'lc_messages=C', ...settings]
    child = spawn(
      place.binaries.postgres,
      ['-D', place.data, '-p', String(port), ...options.flatMap(option => ['-c', option])],
      // A session of its own: Ctrl-C in the terminal reaches only this process, which then stops the server.
      { ...processOptions(place), detached: true, stdio: ['ignore', log.fd, log.fd] },
    )
    let exited = false
    const noteExit = () => {
      exited = true
    }
    const gone = exitOf(child).then(noteExit, noteExit)
    void gone.then(stopAtExit(() => child.kill('SIGINT')))
    child.unref()
    const deadline = performance.now() + READY_WITHIN_MS
    while (!exited && performance.now() < deadline) {
      if (child.pid !== undefined && (await isReady(place.data, child.pid))) return processOf(child, child.pid, gone)
      await pause(LOOK_EVERY_MS)
    }
    if (!exited) child.kill('SIGKILL')
    throw await startFailure(place, port, logStart)
  } finally {
    await log.close()
  }
}

function processOf(child: ChildProcess, pid: number, gone: Promise<void>): ServerProcess {
  const stop = async (signal: 'SIGINT' | 'SIGQUIT') => {
    // The server must not keep this process alive.
    child.ref()
    child.kill(signal)
    await gone
  }
  return { pid, gone, stop }
}

const stops = new Set<() => void>()

function stopAll(): void {
  for (const stop of stops) stop()
}

/**
 * Calls `stop` when this process exits before the returned function was called, so that a process that exits without closing
 * leaves no server behind. A fast shutdown needs nobody to wait for it.
 */
export function stopAtExit(stop: () => void): () => void {
  if (stops.size === 0) process.on('exit', stopAll)
  stops.add(stop)
  return () => {
    stops.delete(stop)
    if (stops.size === 0) process.off('exit', stopAll)
  }
}

/** The file in which a server notes its pid, port and state; lines as in the Postgres source (miscinit.h). */
interface PostmasterFile {
  readonly pid: number
  readonly port: number
  readonly ready: boolean
}

export async function readPostmasterFile(data: string): Promise<PostmasterFile | null> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => null)
  if (text === null) return null
  const lines = text.split('\n')
  return { pid: Number(lines[0]), port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' }
}

/** A port of 127.0.0.1 that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  return address.port
}

async function isReady(data: string, pid: number): Promise<boolean> {
  const file = await readPostmasterFile(data)
  return file !== null && file.pid === pid && file.ready
}

function processOptions(place: ServerPlace) {
  return {
    // No variables of this process: PG* variables would change the server's behaviour.
    env: { LC_ALL: 'C', TZ: 'UTC' },
    cwd: '/',
    ...(place.account ?? {}),
  }
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
}

async function startFailure(place: ServerPlace, port: number, logStart: number): Promise<ParleyError> {
  const log = await readFile(place.log).catch(() => Buffer.alloc(0))
  const lines = log.subarray(logStart).toString('utf8').trim().split('\n').slice(-8).join('\n')
  const code = failureCode(lines)
  return new StoreError(code, `the database server on port ${port} did not start: ${lines || 'its log is empty'}`, {
    retryable: code === 'port_taken' || code === 'postgres_running',
  })
}

function failureCode(output: string): StoreErrorCode {
  return FAILURES.find(([, pattern]) => pattern.test(output))?.[0] ?? 'postgres_failed'
}

/** The last log lines of a server that did not start. */
const FAILURES: readonly (readonly [StoreErrorCode, RegExp])[] = [
  ['port_taken', /Address already in use/],
  ['postgres_running', /lock file "postmaster\.pid" already exists|pre-existing shared memory block/],
  ['disk_full', /No space left on device/],
  ['wrong_permissions', /Permission denied|has wrong ownership|has invalid permissions/],
]
