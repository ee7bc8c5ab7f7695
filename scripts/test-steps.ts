/**
 * The groups of vitest.config.ts as `npm test` runs them: the steps follow each other; the lists of a step run at the same time, and the
 * groups of a list follow each other. Tests that only compute (`slow`) fill the time in which others wait; tests that measure
 * milliseconds (`alone`) run by themselves.
 */
export const TEST_STEPS: readonly (readonly (readonly string[])[])[] = [[['unit', 'realtime'], ['slow']], [['alone']]]
