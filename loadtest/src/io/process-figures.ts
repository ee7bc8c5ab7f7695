import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const TICKS_PER_SECOND = 100

interface ProcessFigures {
  readonly cpuMs: number
  /** See `residentBytes`. */
  readonly rssBytes: number
}

/** Resident memory of one process. */
interface ProcessMemory {
  /** Path of its executable; '' where that cannot be read. */
  readonly program: string
  /** Anonymous memory. */
  readonly privateBytes: number
  /** Mapped files and shared memory. */
  readonly sharedBytes: number
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
  const memory: ProcessMemory[] = []
  for (const pid of family) {
    const fields = statOf(pid)
    if (fields === null) continue
    found = true
    cpuMs += ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND
    memory.push(memoryOf(pid))
  }
  return found ? { cpuMs, rssBytes: residentBytes(memory) } : null
}

/**
 * Resident memory of processes together. What is shared counts once for all processes of a program, at the highest of their values: each
 * connection of a Postgres server has its pages of the server's shared buffers in its own resident size, which would look like a leak.
 */
export function residentBytes(processes: readonly ProcessMemory[]): number {
  const shared = new Map<string, number>()
  let bytes = 0
  for (const { program, privateBytes, sharedBytes } of processes) {
    bytes += privateBytes
    shared.set(program, Math.max(shared.get(program) ?? 0, sharedBytes))
  }
  for (const sharedBytes of shared.values()) bytes += sharedBytes
  return bytes
}

/** Zeros where the process has ended. */
function memoryOf(pid: number): ProcessMemory {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const bytes = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024
    return {
      program: programOf(pid),
      privateBytes: bytes('RssAnon'),
      sharedBytes: bytes('RssFile') + bytes('RssShmem'),
    }
  } catch {
    return { program: '', privateBytes: 0, sharedBytes: 0 }
  }
}

/** The link cannot be read for processes of another user. */
function programOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`)
  } catch {
    return ''
  }
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
