import { randomBytes } from 'node:crypto'
import { link, open, readFile, rename, rm } from 'node:fs/promises'
import { StoreError } from '../errors.ts'

/** Identifies a process; a pid alone may be reused. */
interface ProcessMark {
  readonly pid: number
  /** Start time of the process in clock ticks since boot (Linux); null elsewhere. */
  readonly started: string | null
}

/** `postgres.json`: the record of the embedded server of a home. */
export interface EmbeddedRecord {
  /** Port of 127.0.0.1; it stays the same across restarts while it is free. */
  readonly port: number
  /** Pid of the server; null while it is stopped. */
  readonly pid: number | null
  /** Password of the superuser `postgres`. */
  readonly password: string
  /** The data directory. */
  readonly data: string
  /** The process of Parley that stops the server when it ends. */
  readonly keeper: ProcessMark | null
}

/** Null: the file does not exist. Throws `postgres_failed` when it cannot be read. */
export async function readRecord(path: string): Promise<EmbeddedRecord | null> {
  try {
    const record: EmbeddedRecord = JSON.parse(await readFile(path, 'utf8'))
    if (typeof record.password === 'string' && typeof record.data === 'string' && Number.isInteger(record.port))
      return record
    throw new Error('password, data or port are missing')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw new StoreError('postgres_failed', `${path} cannot be read: ${cause instanceof Error ? cause.message : ''}`, {
      cause,
    })
  }
}

/** Replaces the record atomically; only this user can read it. */
export async function writeRecord(path: string, record: EmbeddedRecord): Promise<void> {
  await rename(await writeBeside(path, record), path)
}

/** Writes the first record; false when another process was first. */
export async function createRecord(path: string, record: EmbeddedRecord): Promise<boolean> {
  const beside = await writeBeside(path, record)
  try {
    await link(beside, path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    await rm(beside, { force: true })
  }
}

export async function markOf(pid: number): Promise<ProcessMark> {
  return { pid, started: (await statOf(pid))?.started ?? null }
}

export async function isAlive(mark: ProcessMark): Promise<boolean> {
  return (await isRunning(mark.pid)) && (await markOf(mark.pid)).started === mark.started
}

/** Whether a process with this pid runs; a zombie does not count. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false
  }
  return (await statOf(pid))?.state !== 'Z'
}

/** Fields 3 and 22 of `/proc/PID/stat`; the name, field 2, may contain spaces and parentheses. */
async function statOf(pid: number): Promise<{ state: string | undefined; started: string | undefined } | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  if (stat === null) return null
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0], started: fields[19] }
}

async function writeBeside(path: string, record: EmbeddedRecord): Promise<string> {
  const beside = `${path}.${randomBytes(6).toString('hex')}`
  const file = await open(beside, 'wx', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(record, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  return beside
}
