import { globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Ms } from '@parley/kernel'

/** CPU time of the threads of a process since each began. */
export interface ThreadTimes {
  readonly main: Ms
  /** Of media threads; 0 in a process without one. */
  readonly media: Ms
  /** Of all others: garbage collection and compilation, recordings, look-ups. */
  readonly other: Ms
}

/**
 * The times of a process, to the nanosecond; null where the system does not tell them. A thread that ends between two readings is
 * missing from their difference.
 */
export function threadTimes(pid: number): ThreadTimes | null {
  const times = { main: 0, media: 0, other: 0 }
  const files = globSync(`/proc/${pid}/task/*/schedstat`)
  for (const file of files) {
    try {
      const name = readFileSync(`${dirname(file)}/comm`, 'utf8').trim()
      const ms = Number(readFileSync(file, 'utf8').split(' ')[0]) / 1e6
      const isMain = basename(dirname(file)) === String(pid)
      times[isMain ? 'main' : name === 'media' ? 'media' : 'other'] += ms
    } catch {
      // The thread has ended since.
    }
  }
  return files.length === 0 ? null : times
}
