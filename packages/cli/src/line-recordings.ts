import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Ms, Time, UnixMs } from '@parley/kernel'
import { RepeatedFailureLog } from '@parley/runs'

const MOST = 100
/** The writer appends twice a second: who writes a file of this directory has touched it within that time. */
const WRITTEN_WITHIN_MS: Ms = 60_000
/** One of our own may stand still while its call is held; no call is longer. */
const OURS_WITHIN_MS: Ms = 25 * 3_600_000
/** What we write here. Whatever else lies here stays. */
const OURS = /^(in|out|demo)-[\w-]+\.wav$/

interface LineRecordingsOptions {
  /** Shared with other processes of the home. */
  readonly directory: string
  readonly time: Time
  /** On the clock of the file system. */
  readonly wallClock: () => UnixMs
  readonly onProblem: (what: string, error: unknown) => void
  /** How many are kept. Default 100. */
  readonly most?: number
}

/** Recordings of calls that are no runs (the line test), and of the demo: the newest are kept, the others go. */
export class LineRecordings {
  readonly #options: LineRecordingsOptions
  readonly #rounds: RepeatedFailureLog
  /** Names of those that this process writes. */
  readonly #live = new Set<string>()
  #trimming: Promise<void> | null = null
  #isStale = false

  constructor(options: LineRecordingsOptions) {
    this.#options = options
    const { time, onProblem } = options
    this.#rounds = new RepeatedFailureLog({ name: 'deleting old recordings of the line test', time, onProblem })
  }

  /** The directory is made, and what is too much of it goes. Throws what the disk throws where it cannot be made. */
  async open(): Promise<void> {
    await mkdir(this.#options.directory, { recursive: true })
    await this.trim()
  }

  /** Where the recording of a call that begins goes. It stays until `ended`. */
  path(callId: string): string {
    const name = `${callId}.wav`
    this.#live.add(name)
    return join(this.#options.directory, name)
  }

  /** A call has ended; null: it was not recorded here. */
  ended(path: string | null): void {
    if (path !== null) this.#live.delete(basename(path))
    void this.trim()
  }

  /** Deletes the oldest beyond those that are kept, never one that is being written. Never rejects. */
  async trim(): Promise<void> {
    this.#isStale = true
    this.#trimming ??= this.#trimAll().finally(() => {
      this.#trimming = null
    })
    await this.#trimming
  }

  async #trimAll(): Promise<void> {
    try {
      while (this.#isStale) {
        this.#isStale = false
        await this.#trimOnce()
      }
      this.#rounds.worked()
    } catch (error) {
      this.#rounds.failed(error)
    }
  }

  async #trimOnce(): Promise<void> {
    const { directory, wallClock, most = MOST } = this.#options
    const names = (await readdir(directory)).filter(name => OURS.test(name))
    if (names.length <= most) return
    const files = await Promise.all(
      names.map(async name => ({ name, touched: await touchedAt(join(directory, name)) })),
    )
    const now = wallClock()
    for (const { name, touched } of files.toSorted((a, b) => b.touched - a.touched).slice(most)) {
      const isWritten = now - touched < (this.#live.has(name) ? OURS_WITHIN_MS : WRITTEN_WITHIN_MS)
      if (!isWritten) await rm(join(directory, name), { force: true })
    }
  }
}

/** Of a file that another process has deleted meanwhile: long ago. */
async function touchedAt(path: string): Promise<UnixMs> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
}
