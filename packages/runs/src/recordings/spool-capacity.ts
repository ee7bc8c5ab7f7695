import { type Ms, ParleyError, type Time } from '@parley/kernel'

const GIB = 1024 ** 3
/** For 149 hours of audio. */
const MOST_BYTES = 8 * GIB
/** What live recordings, journals and a database on the same disk still write does not grow with the disk. */
const KEEP_FREE_BYTES = GIB
/** Of a small disk: otherwise it would never record. */
const KEEP_FREE_SHARE = 0.05
const TELL_EVERY_MS: Ms = 10_000

/** Bytes of a file system, as far as this user may have them. */
export interface DiskSpace {
  readonly free: number
  readonly total: number
}

/** Why no recording can begin: the spool has its most, the disk is nearly full, the directory takes nothing. */
export type RecordingRefusal = 'spool_full' | 'disk_full' | 'unwritable'

export interface SpoolCapacityOptions {
  /** Bytes of the spool from which on no recording begins. Default 8 GiB. */
  readonly mostBytes?: number | undefined
  /** Bytes in the spool now. */
  readonly used: () => number
  /** Of the disk that it is on; null: that cannot be told, and nobody is refused for it. Never rejects. */
  readonly disk: () => Promise<DiskSpace | null>
  readonly time: Time
  /** Hears of refusals, every 10 s at most. */
  readonly onProblem: (what: string, error: unknown) => void
}

/** Whether there is room for one more recording, and how often there was none. */
export class SpoolCapacity {
  /** In bytes. */
  readonly most: number
  readonly #options: SpoolCapacityOptions
  readonly #refused: Record<RecordingRefusal, number> = { spool_full: 0, disk_full: 0, unwritable: 0 }
  #untold = 0
  #tellFrom: Ms = Number.NEGATIVE_INFINITY

  constructor(options: SpoolCapacityOptions) {
    this.#options = options
    this.most = options.mostBytes ?? MOST_BYTES
  }

  /** Recordings that did not begin, since the start. */
  get refused(): Readonly<Record<RecordingRefusal, number>> {
    return this.#refused
  }

  /** Throws `recording_unavailable` where the spool has its most, or the disk less than 1 GiB and less than 5 % free. */
  async check(): Promise<void> {
    const used = this.#options.used()
    if (used >= this.most)
      throw this.refuse('spool_full', `${inMib(used)} wait to be stored, of ${inMib(this.most)} that may`)
    const disk = await this.#options.disk()
    if (disk === null) return
    const { free, total } = disk
    const kept = Math.min(KEEP_FREE_BYTES, KEEP_FREE_SHARE * total)
    if (free < kept)
      throw this.refuse('disk_full', `the disk has ${inMib(free)} free, and ${inMib(kept)} are kept free`)
  }

  /** Counts and tells that a recording does not begin; answers what to throw. */
  refuse(reason: RecordingRefusal, message: string, cause?: unknown): ParleyError {
    const error = new ParleyError('recording_unavailable', message, { retryable: true, cause })
    const now = this.#options.time.now()
    this.#refused[reason]++
    this.#untold++
    if (now < this.#tellFrom) return error
    this.#options.onProblem(`no room to record, ${this.#untold} not begun`, error)
    this.#untold = 0
    this.#tellFrom = now + TELL_EVERY_MS
    return error
  }
}

function inMib(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`
}
