import { readFileSync } from 'node:fs'
import type { Ms } from '@parley/kernel'

/** USER_HZ of Linux. */
const TICK_MS = 10

/** CPU of the process so far, all threads, without its children. */
export function cpuOf(pid: number): Ms {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program is in parentheses and may hold blanks; user and system time are the 14th and 15th field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}
