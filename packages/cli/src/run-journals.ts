import { join } from 'node:path'
import { systemTime } from '@parley/kernel'
import { JournalDirectory, keepLandingJournals, RunJournals } from '@parley/runs'
import type { Sealer } from '@parley/store'
import type { openState } from './state.ts'

/** Where runs of this process wait while the database is away. */
export function runJournals(home: string, sealer: Sealer): RunJournals {
  return new RunJournals({
    disk: new JournalDirectory(join(home, 'journal')),
    ...{ sealer, wallClock: Date.now, onProblem },
  })
}

/** Writes what dead processes of the home left there, from now on: the reaper waits no longer than a lease. */
export function keepLanding(
  journals: RunJournals,
  { database, bus }: Pick<Awaited<ReturnType<typeof openState>>, 'database' | 'bus'>,
): () => Promise<void> {
  const stop = keepLandingJournals({ journals, database, bus, time: systemTime, wallClock: Date.now, onProblem })
  return async () => stop()
}

function onProblem(what: string, error: unknown): void {
  process.stderr.write(`journal: ${what}: ${error instanceof Error ? error.message : String(error)}\n`)
}
