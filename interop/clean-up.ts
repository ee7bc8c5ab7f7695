import type { AtTestEnd } from './recipe.ts'

/** Runs cleanups, the last one first. `state`: of the tests. */
export async function cleanUp(cleanups: readonly Parameters<AtTestEnd>[0][], state = 'pass'): Promise<void> {
  for (const cleanup of cleanups.toReversed()) await cleanup({ task: { result: { state } } })
}
