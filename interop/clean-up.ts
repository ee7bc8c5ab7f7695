/** Registers a cleanup for the end of a test: for concurrent tests, the `onTestFinished` of the test's own context. */
export type AtTestEnd = (
  cleanup: (ended: {
    readonly task: { readonly result?: { readonly state: string } | undefined }
  }) => void | Promise<void>,
) => void

/** Runs cleanups, the last one first. `state`: of the tests. */
export async function cleanUp(cleanups: readonly Parameters<AtTestEnd>[0][], state = 'pass'): Promise<void> {
  for (const cleanup of cleanups.toReversed()) await cleanup({ task: { result: { state } } })
}
