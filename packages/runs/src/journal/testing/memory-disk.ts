import type { JournalDisk, JournalFile } from '../protocol.ts'

/** Files that several processes share, in memory. */
export class MemoryDisk {
  readonly files = new Map<string, { bytes: Buffer; changedAt: number }>()
  readonly living = new Set<string>()
  /** Free bytes. */
  freeBytes = Number.POSITIVE_INFINITY
  now = 0

  /** The disk as the process with this mark sees it. */
  of(mark: string): JournalDisk {
    this.living.add(mark)
    const named = (name: string) => {
      const file = this.files.get(name)
      if (file === undefined) throw new Error(`the memory disk has no file ${name}`)
      return file
    }
    return {
      create: async name => {
        const file = { bytes: Buffer.alloc(0), changedAt: this.now }
        this.files.set(name, file)
        return this.#open(file)
      },
      open: async name => this.#open(named(name)),
      list: async () => [...this.files].map(([name, { changedAt }]) => ({ name, changedAt })),
      rename: async (from, to) => {
        const file = this.files.get(from)
        if (file === undefined) return false
        this.files.delete(from)
        this.files.set(to, file)
        return true
      },
      remove: async name => void this.files.delete(name),
      mark: async () => mark,
      isAlive: async mark => this.living.has(mark),
    }
  }

  #open(file: { bytes: Buffer; changedAt: number }): JournalFile {
    return {
      write: async (bytes, at) => {
        const fits = bytes.subarray(0, Math.max(0, this.freeBytes))
        const end = Math.max(file.bytes.length, at + fits.length)
        const grown = Buffer.concat([file.bytes, Buffer.alloc(end - file.bytes.length)])
        grown.set(fits, at)
        file.bytes = grown
        file.changedAt = this.now
        this.freeBytes -= fits.length
        if (fits.length < bytes.length) throw new Error('no space left on device')
      },
      read: async (at, length) => file.bytes.subarray(at, at + length),
      close: async () => {},
    }
  }
}
