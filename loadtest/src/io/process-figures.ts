import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100
const PAGE_BYTES = 4096

interface ProcessFigures {
  readonly cpuMs: number
  readonly rssBytes: number
}

/** CPU time and memory of processes and all their descendants, by /proc; null where none of them is there. */
export function processFigures(pids: readonly number[]): ProcessFigures | null {
  const family = new Set(pids)
  const parents = processParents()
  for (let grown = true; grown; ) {
    grown = false
    for (const [pid, parent] of parents)
      if (family.has(parent) && !family.has(pid)) {
        family.add(pid)
        grown = true
      }
  }
  let found = false
  let cpuMs = 0
  let rssBytes = 0
  for (const pid of family) {
    const fields = statOf(pid)
    if (fields === null) continue
    found = true
    cpuMs += ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND
    rssBytes += Number(fields[21]) * PAGE_BYTES
  }
  return found ? { cpuMs, rssBytes } : null
}

/** The parent of every process; empty where there is no /proc. */
function processParents(): Map<number, number> {
  const parents = new Map<number, number>()
  let names: string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return parents
  }
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue
    const fields = statOf(Number(name))
    if (fields !== null) parents.set(Number(name), Number(fields[1]))
  }
  return parents
}

/** The fields of /proc/PID/stat from the third (state) on; null: there is no such process. */
function statOf(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field, a name in brackets, may contain blanks and brackets.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}
