import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Ms, Time, UnixMs } from '@parley/kernel'
import { RepeatedFailureLog } from '@parley/runs'

const MAX_RECORDINGS = 100
/** Recordings grow twice a second, so a file that is older than this is complete, unless its call is on hold. */
const WRITTEN_WITHIN_MS: Ms = 60_000
/** A recording of this process may stop growing while its call is on hold; no call is longer than this. */
const LIVE_WITHIN_MS: Ms = 25 * 3_600_000
/** File names of recordings. Other files are never deleted. */
const RECORDING_NAME = /^(in|out|demo)-[\w-]+\.wav$/

interface LineRecordingsOptions {
  /** Other processes of the same home may write here too. */
  readonly directory: string
  readonly time: Time
  /** Current time of the file system. */
  readonly wallClock: () => UnixMs
  readonly onProblem: (what: string, error: unknown) => void
  /** Number of recordings that are kept. Default 100. */
  readonly limit?: number
}

/** The recordings of the line test and of the demo. Only the newest are kept; runs have their own recordings. */
export class LineRecordings {
  readonly #options: LineRecordingsOptions
  readonly #rounds: RepeatedFailureLog
  /** File names that this process is writing. */
  readonly #live = new Set<string>()
  #trimming: Promise<void> | null = null
  #isStale = false

  constructor(options: LineRecordingsOptions) {
    this.#options = options
    const { time, onProblem } = options
    this.#rounds = new RepeatedFailureLog({ name: 'deleting old recordings of the line test', time, onProblem })
  }

  /** Creates the directory and deletes old recordings. Throws if the directory cannot be created. */
  async open(): Promise<void> {
    await mkdir(this.#options.directory, { recursive: true })
    await this.trim()
  }

  /** Path for the recording of a new call. The file is not deleted before `ended`. */
  path(callId: string): string {
    const name = `${callId}.wav`
    this.#live.add(name)
    return join(this.#options.directory, name)
  }

  /** Call this when a call has ended. `path`: its recording; null: it has none. */
  ended(path: string | null): void {
    if (path !== null) this.#live.delete(basename(path))
    void this.trim()
  }

  /** Deletes the oldest recordings above the limit, except those that are being written. Never rejects. */
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
    const { directory, wallClock, limit = MAX_RECORDINGS } = this.#options
    const names = (await readdir(directory)).filter(name => RECORDING_NAME.test(name))
    if (names.length <= limit) return
    const files = await Promise.all(
      names.map(async name => ({ name, touched: await touchedAt(join(directory, name)) })),
    )
    const now = wallClock()
    for (const { name, touched } of files.toSorted((a, b) => b.touched - a.touched).slice(limit)) {
      const isWritten = now - touched < (this.#live.has(name) ? LIVE_WITHIN_MS : WRITTEN_WITHIN_MS)
      if (!isWritten) await rm(join(directory, name), { force: true })
    }
  }
}

/** Time of the last change; 0 if another process has deleted the file. */
async function touchedAt(path: string): Promise<UnixMs> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
}
