// Runs before each test file of the group `slow`: beside it, other groups judge what becomes of calls within seconds.
import { setPriority } from 'node:os'

/** Of -20 to 19; a process of 5 gets a third of the time of one of 0 where both compute. */
const NICENESS = 5

setPriority(NICENESS)
