import { join } from 'node:path'
import { systemTime } from '@parley/kernel'
import { JournalDirectory, keepReplayingJournals, RunJournals } from '@parley/runs'
import type { Sealer } from '@parley/store'
import { problemLines } from './problem-lines.ts'
import type { openState } from './state.ts'

const onProblem = problemLines('journal')

/** Where runs of this process wait while the database is away. */
export function runJournals(home: string, sealer: Sealer): RunJournals {
  return new RunJournals({
    disk: new JournalDirectory(join(home, 'journal')),
    sealer,
    wallClock: Date.now,
    onProblem,
  })
}

/** Writes what dead processes of the home left there, from now on: the reaper waits no longer than a lease. */
export function keepReplaying(
  journals: RunJournals,
  { database, bus }: Pick<Awaited<ReturnType<typeof openState>>, 'database' | 'bus'>,
): () => Promise<void> {
  const stop = keepReplayingJournals({ journals, database, bus, time: systemTime, wallClock: Date.now, onProblem })
  return async () => stop()
}
