import { randomUUID } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { constants, type FileHandle, lstat, mkdir, open, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { ParleyError } from '@parley/kernel'
import {
  type BlobContent,
  type BlobEntry,
  type Blobs,
  type ByteRange,
  invalidKey,
  keyParts,
  withinSize,
} from '../blobs/blobs.ts'
import { StoreError } from '../errors.ts'

/** Directory of files being written; no key begins with a dot. */
const INCOMING = '.incoming'
const MAX_BYTES = 4 * 1024 ** 3
/** An unfinished file that is older was left by a process that died. */
const LEFTOVER_AFTER_MS = 24 * 3_600_000
/** A directory that was just made is empty and may be removed before a file is put into it. */
const PLACE_ATTEMPTS = 5

interface FileBlobsOptions {
  /** Absolute path. Created when missing, for this user alone (mode 700). */
  readonly directory: string
  /** Most bytes of an object. Default 4 GiB. */
  readonly maxBytes?: number
}

/**
 * Blobs as files in a directory: a key is the path below it. A file is written under another name, synced and renamed. Symbolic
 * links are not followed and are not objects. Unfinished files that are a day old are removed.
 */
export async function openFileBlobs({ directory, maxBytes = MAX_BYTES }: FileBlobsOptions): Promise<Blobs> {
  return available(async () => {
    const incoming = join(directory, INCOMING)
    await mkdir(incoming, { recursive: true, mode: 0o700 })
    const now = Date.now()
    for (const name of await readdir(incoming)) {
      const left = await lstat(join(incoming, name)).catch(() => null)
      if (left !== null && now - left.mtimeMs > LEFTOVER_AFTER_MS) await rm(join(incoming, name), { force: true })
    }
    return new FileBlobs(directory, maxBytes)
  })
}

class FileBlobs implements Blobs {
  readonly #root: string
  readonly #maxBytes: number

  constructor(root: string, maxBytes: number) {
    this.#root = root
    this.#maxBytes = maxBytes
  }

  async put(key: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
    const parts = keyParts(key)
    const written = join(this.#root, INCOMING, randomUUID())
    const file = await available(() => open(written, 'wx', 0o600))
    try {
      await this.#write(file, content)
      await available(() => this.#place(key, parts, written))
    } catch (error) {
      await rm(written, { force: true }).catch(() => {})
      throw error
    }
  }

  async get(key: string, range?: ByteRange): Promise<BlobContent | null> {
    const file = await this.#open(keyParts(key))
    if (file === null) return null
    try {
      const { size } = await available(() => file.stat())
      if (range === undefined && size === 0) {
        await file.close()
        return { size, bytes: Readable.from([]) }
      }
      const { from, to } = withinSize(range ?? { from: 0 }, size)
      return { size, bytes: file.createReadStream({ start: from, end: to - 1 }) }
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async size(key: string): Promise<number | null> {
    const file = await this.#open(keyParts(key))
    if (file === null) return null
    try {
      return (await available(() => file.stat())).size
    } finally {
      await file.close()
    }
  }

  async delete(key: string): Promise<boolean> {
    const parts = keyParts(key)
    return available(async () => {
      const path = join(this.#root, ...parts)
      if (!(await this.#isBelowRealDirectories(parts)) || !(await lstat(path).catch(ifAbsent(null)))?.isFile())
        return false
      await unlink(path).catch(ifAbsent(undefined))
      await syncDirectory(dirname(path)).catch(ifAbsent(undefined))
      await this.#removeEmpty(parts.slice(0, -1))
      return true
    })
  }

  async *list(prefix: string): AsyncIterable<BlobEntry> {
    if (prefix.length > 512) return
    yield* this.#listBelow([], prefix)
  }

  async *#listBelow(parts: readonly string[], prefix: string): AsyncIterable<BlobEntry> {
    const above = parts.map(part => `${part}/`).join('')
    const found = await available(() =>
      readdir(join(this.#root, ...parts), { withFileTypes: true }).catch(ifAbsent<Dirent[]>([])),
    )
    const entries = found
      .filter(entry => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isFile()))
      // A directory sorts like its keys, which continue with "/".
      .map(entry => ({ entry, start: `${above}${entry.name}${entry.isDirectory() ? '/' : ''}` }))
      .sort((a, b) => (a.start < b.start ? -1 : 1))
    for (const { entry, start } of entries) {
      if (entry.isDirectory()) {
        if (start.startsWith(prefix) || prefix.startsWith(start)) yield* this.#listBelow([...parts, entry.name], prefix)
      } else if (start.startsWith(prefix)) {
        const size = await available(() =>
          lstat(join(this.#root, ...parts, entry.name)).then(({ size }) => size, ifAbsent(null)),
        )
        if (size !== null) yield { key: start, size }
      }
    }
  }

  async #write(file: FileHandle, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
    let size = 0
    try {
      for await (const chunk of content instanceof Uint8Array ? [content] : content) {
        size += chunk.length
        if (size > this.#maxBytes)
          throw new StoreError('blob_too_large', `more than the ${this.#maxBytes} bytes that an object may have`)
        await available(() => file.writeFile(chunk))
      }
      await available(() => file.sync())
    } finally {
      await file.close()
    }
  }

  async #place(key: string, parts: readonly string[], written: string): Promise<void> {
    const path = join(this.#root, ...parts)
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#makeDirectories(key, parts.slice(0, -1))
        const there = await lstat(path).catch(ifAbsent(null))
        if (there !== null && !there.isFile()) throw invalidKey(key, 'is the beginning of other keys')
        await rename(written, path)
        await syncDirectory(dirname(path))
        return
      } catch (error) {
        if (codeOf(error) !== 'ENOENT' || attempt === PLACE_ATTEMPTS) throw error
      }
    }
  }

  /** Creates the directories of a path; each is synced in its parent. */
  async #makeDirectories(key: string, parts: readonly string[]): Promise<void> {
    let path = this.#root
    for (const part of parts) {
      const above = path
      path = join(above, part)
      const made = await mkdir(path, 0o700).then(
        () => true,
        error => {
          if (codeOf(error) !== 'EEXIST') throw error
          return false
        },
      )
      if (made) await syncDirectory(above)
      else if (!(await lstat(path)).isDirectory()) throw invalidKey(key, 'begins with what is another key')
    }
  }

  async #isBelowRealDirectories(parts: readonly string[]): Promise<boolean> {
    for (let i = 1; i < parts.length; i++) {
      const above = await lstat(join(this.#root, ...parts.slice(0, i))).catch(ifAbsent(null))
      if (above?.isDirectory() !== true) return false
    }
    return true
  }

  async #removeEmpty(parts: readonly string[]): Promise<void> {
    for (let length = parts.length; length > 0; length--)
      try {
        await rmdir(join(this.#root, ...parts.slice(0, length)))
      } catch {
        return
      }
  }

  /** Null: there is no such object. */
  async #open(parts: readonly string[]): Promise<FileHandle | null> {
    return available(async () => {
      if (!(await this.#isBelowRealDirectories(parts))) return null
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
      const file = await open(join(this.#root, ...parts), flags).catch(error => {
        if (codeOf(error) === 'ELOOP') return null
        return ifAbsent(null)(error)
      })
      if (file === null || (await file.stat()).isFile()) return file
      await file.close()
      return null
    })
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR'])

/** For `catch`: gives `value` if the file does not exist, else throws the error. */
function ifAbsent<Value>(value: Value): (error: unknown) => Value {
  return error => {
    if (ABSENT.has(codeOf(error) ?? '')) return value
    throw error
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

async function available<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ParleyError || !(error instanceof Error)) throw error
    throw new StoreError('blobs_unavailable', `the directory of blobs: ${error.message}`, { cause: error })
  }
}
