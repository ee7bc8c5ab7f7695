import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive, markOf } from '@parley/store'
import type { JournalDisk, JournalFile } from '../protocol.ts'

/** Journals in a directory of this machine, accessible to this user alone (modes 700 and 600). Created with the first file. */
export class JournalDirectory implements JournalDisk {
  readonly #path: string
  #mark: Promise<string> | null = null

  /** An absolute path. */
  constructor(path: string) {
    this.#path = path
  }

  async create(name: string): Promise<JournalFile> {
    await mkdir(this.#path, { recursive: true, mode: 0o700 })
    // An existing file may still be open, or belong to another process.
    await this.remove(name)
    return new OpenFile(await open(join(this.#path, name), 'wx+', 0o600))
  }

  async open(name: string): Promise<JournalFile> {
    return new OpenFile(await open(join(this.#path, name), 'r+'))
  }

  async list(): Promise<{ name: string; changedAt: number }[]> {
    const names = await readdir(this.#path).catch(ifAbsent<string[]>([]))
    const facts = names.sort().map(async name => {
      const found = await stat(join(this.#path, name)).catch(ifAbsent(null))
      return found?.isFile() ? [{ name, changedAt: found.mtimeMs }] : []
    })
    return (await Promise.all(facts)).flat()
  }

  rename(from: string, to: string): Promise<boolean> {
    return rename(join(this.#path, from), join(this.#path, to)).then(() => true, ifAbsent(false))
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#path, name), { force: true })
  }

  mark(): Promise<string> {
    this.#mark ??= markOf(process.pid).then(({ pid, started }) => (started === null ? `${pid}` : `${pid}-${started}`))
    return this.#mark
  }

  async isAlive(mark: string): Promise<boolean> {
    const [pid, started] = mark.split('-')
    return isAlive({ pid: Number(pid), started: started ?? null })
  }
}

class OpenFile implements JournalFile {
  readonly #file: FileHandle

  constructor(file: FileHandle) {
    this.#file = file
  }

  async write(bytes: Uint8Array, at: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, at + done)
      done += bytesWritten
    }
  }

  async read(at: number, length: number): Promise<Uint8Array> {
    // The length was read from the file and may be garbage.
    const { size } = await this.#file.stat()
    const bytes = Buffer.alloc(Math.max(0, Math.min(length, size - at)))
    let done = 0
    for (let got = 1; got > 0 && done < bytes.length; done += got)
      got = (await this.#file.read(bytes, done, bytes.length - done, at + done)).bytesRead
    return bytes.subarray(0, done)
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

/** For `catch`: gives `value` if the file does not exist, else throws the error. */
function ifAbsent<Value>(value: Value): (error: unknown) => Value {
  return error => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return value
    throw error
  }
}
