import type { Scope } from '@parley/contract'
import { type Database, lockQueuedTestRun, startTestRun } from '@parley/store'

/** Starts the queued test runs of an environment as a worker does, without sources and checks of the cases. */
export async function startTestRuns(database: Database, scope: Scope): Promise<void> {
  const startOne = () =>
    database.transaction(scope, async tx => {
      const queued = await lockQueuedTestRun(tx, scope)
      if (queued === null) return false
      const cases = queued.suites.flatMap(({ suite_id, cases }) =>
        cases.map(test_case => ({ suite_id, test_case, trials: queued.trials ?? test_case.trials, fault: null })),
      )
      await startTestRun(tx, scope, queued.test_run_id, cases)
      return true
    })
  while (await startOne());
}
