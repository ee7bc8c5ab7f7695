// Runs before each test file: tells the reporter how much processor time the file took.
import { readFileSync } from 'node:fs'
import { afterAll } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** Processor time of a test file in ms: its worker, its threads and the processes that it started and that have ended. */
    cpuMs?: number
  }
}

const MS_PER_TICK = 10

/** Of the processes that this one started and that have ended, and of those that they started; 0 where the system does not say. */
function endedChildrenMs(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    // Fields 16 and 17 of proc(5); the second field is a name in parentheses, which may hold spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[13]) + Number(fields[14])) * MS_PER_TICK
  } catch {
    return 0
  }
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + endedChildrenMs()
}

/** Where `globalThis` keeps what the earlier files of a worker without isolation took. The first file is charged with the worker's start. */
const COUNTED = Symbol.for('parley.test.cpu-ms')
const kept: { [COUNTED]?: number } = globalThis as object

// biome-ignore lint/correctness/noEmptyPattern: Vitest demands the pattern of the fixtures, of which none is used.
afterAll(({}, file) => {
  const now = cpuMs()
  file.meta.cpuMs = now - (kept[COUNTED] ?? 0)
  kept[COUNTED] = now
})
