import { mkdir, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Scope } from '@parley/contract'
import type { UnixMs } from '@parley/kernel'
import type { RunOwnership } from '@parley/store'

const RUN_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const AUDIO = 'audio.wav'
const MANIFEST = 'run.json'
/** File names of the media plane's segments of 10 s, renamed from `.part` when complete. */
const SEGMENT = /^audio\.wav\.(\d{6,9})\.wav(\.part)?$/
/** More bytes than a segment has. */
const MAX_SEGMENT_BYTES = 1024 * 1024

/** The run of a directory, and the report of its recorder at its end. */
export interface SpoolManifest {
  readonly scope: Scope
  readonly owned: RunOwnership
  /** Null: not closed. `segments`: their number; null if unknown. */
  readonly closed: { readonly segments: number | null } | null
}

export interface SpooledSegment {
  readonly number: number
  readonly path: string
  readonly bytes: number
  /** Changes when the file does. */
  readonly stamp: string
  /** Time of the last write, on the file system's clock. */
  readonly writtenAt: UnixMs
}

export interface SpooledSegments {
  /** Complete segments in order. */
  readonly complete: readonly SpooledSegment[]
  /** Incomplete segments in order: the one being written, or those that a dead writer left. */
  readonly unfinished: readonly SpooledSegment[]
}

/** The directory in which a run's audio waits for upload. Errors are those of the file system. */
export class SpoolDirectory {
  readonly #path: string

  constructor(root: string, runId: string) {
    this.#path = join(root, runId)
  }

  /** The path prefix for the media plane's recorder. */
  get audioPath(): string {
    return join(this.#path, AUDIO)
  }

  /** Creates the directory for this user alone (mode 700). Leaves nothing behind when it fails. */
  async make(manifest: SpoolManifest): Promise<void> {
    try {
      await mkdir(this.#path, { recursive: true, mode: 0o700 })
      await this.write(manifest)
    } catch (error) {
      await this.removeAll().catch(() => {})
      throw error
    }
  }

  /** Written atomically and durably: without it the run of the audio is unknown. */
  async write(manifest: SpoolManifest): Promise<void> {
    const path = join(this.#path, MANIFEST)
    const file = await open(`${path}.new`, 'w', 0o600)
    try {
      await file.writeFile(JSON.stringify(manifest))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${path}.new`, path)
  }

  /** Null: missing or unreadable. */
  async manifest(): Promise<SpoolManifest | null> {
    const text = await readFile(join(this.#path, MANIFEST), 'utf8').catch(() => '')
    return readManifest(text)
  }

  async segments(): Promise<SpooledSegments> {
    const complete: SpooledSegment[] = []
    const unfinished: SpooledSegment[] = []
    for (const name of await readdir(this.#path).catch(ifAbsent<string[]>([]))) {
      const found = SEGMENT.exec(name)
      if (found === null) continue
      const path = join(this.#path, name)
      const facts = await stat(path).catch(ifAbsent(null))
      // Renamed meanwhile: the next round finds it.
      if (facts === null) continue
      const segment = {
        number: Number(found[1]),
        path,
        bytes: facts.size,
        stamp: `${facts.size} ${facts.mtimeMs}`,
        writtenAt: facts.mtimeMs,
      }
      ;(found[2] === undefined ? complete : unfinished).push(segment)
    }
    const inOrder = (a: SpooledSegment, b: SpooledSegment) => a.number - b.number
    const numbers = new Set(complete.map(({ number }) => number))
    // A complete one wins over a leftover of the same number.
    return {
      complete: complete.sort(inOrder),
      unfinished: unfinished.filter(({ number }) => !numbers.has(number)).sort(inOrder),
    }
  }

  /** The bytes written so far, at most 1 MiB; null: the file was renamed or removed meanwhile. */
  async read({ path }: SpooledSegment, atMost = MAX_SEGMENT_BYTES): Promise<Uint8Array | null> {
    const file = await open(path, 'r').catch(ifAbsent(null))
    if (file === null) return null
    try {
      const bytes = Buffer.alloc(Math.min((await file.stat()).size, atMost))
      let done = 0
      for (let got = 1; got > 0 && done < bytes.length; done += got)
        got = (await file.read(bytes, done, bytes.length - done, done)).bytesRead
      return bytes.subarray(0, done)
    } finally {
      await file.close()
    }
  }

  /** False: it was removed before. */
  async remove({ path }: SpooledSegment): Promise<boolean> {
    return unlink(path).then(() => true, ifAbsent(false))
  }

  /** Removes the directory and its files. */
  async removeAll(): Promise<void> {
    await rm(this.#path, { recursive: true, force: true })
  }
}

export function bytesOf({ complete, unfinished }: SpooledSegments): number {
  return [...complete, ...unfinished].reduce((sum, { bytes }) => sum + bytes, 0)
}

/** Ids of the runs that have a directory here. */
export async function spooledRuns(root: string): Promise<string[]> {
  const names = await readdir(root).catch(ifAbsent<string[]>([]))
  return names.filter(name => RUN_ID.test(name)).sort()
}

function readManifest(text: string): SpoolManifest | null {
  try {
    const { scope, owned, closed } = JSON.parse(text) as SpoolManifest
    const { owner_id, environment, tenant_id } = scope
    const { run_id, fence } = owned
    const isSound = [owner_id, tenant_id, run_id].every(id => RUN_ID.test(id)) && /^\d{1,19}$/.test(fence)
    const segments = closed?.segments ?? null
    if (!isSound || !['production', 'sandbox'].includes(environment) || !(segments === null || segments >= 0))
      return null
    return {
      scope: { owner_id, environment, tenant_id },
      owned: { run_id, fence },
      closed: closed === null ? null : { segments },
    }
  } catch {
    return null
  }
}

/** For `catch`: gives `value` if the file does not exist, else throws the error. */
function ifAbsent<Value>(value: Value): (error: unknown) => Value {
  return error => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return value
    throw error
  }
}
