import type { Ms, ParleyError, Time } from '@parley/kernel'
import { RunsError } from '../errors.ts'

const GIB = 1024 ** 3
/** For 149 hours of audio at 8 kHz, 75 at 16 kHz. */
const MAX_BYTES = 8 * GIB
/** Free bytes for live recordings, journals and a database on the same disk; their needs do not grow with the disk. */
const KEEP_FREE_BYTES = GIB
/** Share of a small disk that stays free, so that a small disk can record at all. */
const KEEP_FREE_SHARE = 0.05
const LOG_EVERY_MS: Ms = 10_000

/** Bytes of a file system that this user may use. */
export interface DiskSpace {
  readonly free: number
  readonly total: number
}

/** Why no recording can begin: the spool is full, the disk is nearly full, or the directory is not writable. */
export type RecordingRefusal = 'spool_full' | 'disk_full' | 'unwritable'

interface SpoolCapacityOptions {
  /** Bytes of the spool at which new recordings are refused. Default 8 GiB. */
  readonly maxBytes?: number | undefined
  /** Bytes in the spool now. */
  readonly used: () => number
  /** Space of the spool's disk; null: unknown, and no recording is refused for it. Never rejects. */
  readonly disk: () => Promise<DiskSpace | null>
  readonly time: Time
  /** Called for refusals, every 10 s at most. */
  readonly onProblem: (what: string, error: unknown) => void
}

/** Decides whether another recording fits, and counts refusals. */
export class SpoolCapacity {
  /** The limit in bytes. */
  readonly maxBytes: number
  readonly #options: SpoolCapacityOptions
  readonly #refused: Record<RecordingRefusal, number> = { spool_full: 0, disk_full: 0, unwritable: 0 }
  #unreported = 0
  #silentUntil: Ms = Number.NEGATIVE_INFINITY

  constructor(options: SpoolCapacityOptions) {
    this.#options = options
    this.maxBytes = options.maxBytes ?? MAX_BYTES
  }

  /** Recordings refused since the start. */
  get refused(): Readonly<Record<RecordingRefusal, number>> {
    return this.#refused
  }

  /** Throws `recording_unavailable` when the spool is full, or the disk has less than 1 GiB and less than 5 % free. */
  async check(): Promise<void> {
    const used = this.#options.used()
    if (used >= this.maxBytes)
      throw this.refuse('spool_full', `${inMib(used)} wait to be stored, of ${inMib(this.maxBytes)} that may`)
    const disk = await this.#options.disk()
    if (disk === null) return
    const { free, total } = disk
    const reserve = Math.min(KEEP_FREE_BYTES, KEEP_FREE_SHARE * total)
    if (free < reserve)
      throw this.refuse('disk_full', `the disk has ${inMib(free)} free, and ${inMib(reserve)} must stay free`)
  }

  /** Counts and logs a refused recording; returns the error to throw. */
  refuse(reason: RecordingRefusal, message: string, cause?: unknown): ParleyError {
    const error = new RunsError('recording_unavailable', message, { cause })
    const now = this.#options.time.now()
    this.#refused[reason]++
    this.#unreported++
    if (now < this.#silentUntil) return error
    this.#options.onProblem(`no room to record, ${this.#unreported} not begun`, error)
    this.#unreported = 0
    this.#silentUntil = now + LOG_EVERY_MS
    return error
  }
}

function inMib(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`
}
