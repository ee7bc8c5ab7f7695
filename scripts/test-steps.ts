/**
 * The groups of vitest.config.ts as `npm test` runs them: the steps follow each other; the lists of a step run at the same time, and the
 * groups of a list follow each other. Tests that only compute (`slow`) fill the time in which others wait; tests that measure
 * milliseconds (`alone`) run by themselves.
 */
export const TEST_STEPS: readonly (readonly (readonly string[])[])[] = [[['unit', 'realtime'], ['slow']], [['alone']]]

/** Name of the environment variable in which vitest.config.ts finds the number of workers of the group `realtime`. */
export const REAL_TIME_WORKERS_NAME = 'PARLEY_TEST_REAL_TIME_WORKERS'

/** Where the group `unit` takes `UNIT_MS`, a file of `realtime` keeps a third of a core busy, so that two cores carry five. */
const MOST_REAL_TIME_WORKERS = 5
/** One at a time would take longer than anybody waits. */
const FEWEST_REAL_TIME_WORKERS = 2
const UNIT_MS = 160_000
/** So much slower, and five at once still keep up. */
const NO_SLOWER = 1.5

/** How many files of `realtime` run at once on a machine where `unit` took `unitMs`; undefined: unknown. A file that is late has failed. */
export function realTimeWorkers(unitMs: number | undefined): number {
  const slower = (unitMs ?? 0) / UNIT_MS
  if (slower <= NO_SLOWER) return MOST_REAL_TIME_WORKERS
  return Math.max(FEWEST_REAL_TIME_WORKERS, Math.round(MOST_REAL_TIME_WORKERS / slower))
}
