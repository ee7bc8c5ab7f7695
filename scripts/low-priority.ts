// Runs before each test file of the group `slow`: beside it, other groups judge what becomes of calls within seconds.
import { readdirSync } from 'node:fs'
import { setPriority } from 'node:os'

/** Of -20 to 19; a process of 10 gets a tenth of the time of one of 0 where both compute. */
const NICENESS = 10
/** Linux: the threads of this process, each of which has a priority of its own. Those that begin later inherit it. */
const THREADS = '/proc/self/task'

setPriority(NICENESS)
try {
  for (const thread of readdirSync(THREADS)) setPriority(Number(thread), NICENESS)
} catch {
  // Not Linux, or a thread has just ended: the next file tries again.
}
