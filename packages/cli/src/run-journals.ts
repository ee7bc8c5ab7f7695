import { join } from 'node:path'
import { systemTime } from '@parley/kernel'
import { JournalDirectory, keepReplayingJournals, RunJournals } from '@parley/runs'
import type { Sealer } from '@parley/store'
import { problemLines } from './problem-lines.ts'
import type { openState } from './state.ts'

const onProblem = problemLines('journal')

/** The journals that hold the writes of runs while the database is unreachable. */
export function runJournals(home: string, sealer: Sealer): RunJournals {
  return new RunJournals({
    disk: new JournalDirectory(join(home, 'journal')),
    sealer,
    wallClock: Date.now,
    onProblem,
  })
}

/** Replays the journals of dead processes of the home from now on. The reaper waits for a lease at most, so this must be fast. */
export function keepReplaying(
  journals: RunJournals,
  { database, bus }: Pick<Awaited<ReturnType<typeof openState>>, 'database' | 'bus'>,
): () => Promise<void> {
  const stop = keepReplayingJournals({ journals, database, bus, time: systemTime, wallClock: Date.now, onProblem })
  return async () => stop()
}
