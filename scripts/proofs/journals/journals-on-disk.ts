import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TimelineItem } from '@parley/conversation'
import { JournalDirectory, RunJournals } from '@parley/runs'
import { loadMasterKey, MasterKeySealer } from '@parley/store'

/** Contents of a run's journal. */
export interface JournaledRun {
  readonly run_id: string
  /** Sequence number of the timeline item before the first journaled one. */
  readonly last_seq: number
  readonly items: readonly TimelineItem[]
  readonly announces: readonly string[]
  /** Terminal state of the run; null: the run was live. */
  readonly ended: string | null
}

/** A copy of journals. It counts as left by a dead process, also if the original process is running. */
class CopiedJournals extends JournalDirectory {
  override async isAlive(): Promise<boolean> {
    return false
  }
}

/** Reads the journals of a home, in the order of their file names, without changing them. */
export async function journaledRunsIn(home: string): Promise<JournaledRun[]> {
  const copy = await mkdtemp(join(tmpdir(), 'parley-journals.'))
  try {
    await cp(join(home, 'journal'), copy, { recursive: true }).catch(ifAbsent)
    const journals = new RunJournals({
      disk: new CopiedJournals(copy),
      sealer: new MasterKeySealer(await loadMasterKey(undefined, home)),
      wallClock: Date.now,
      onProblem: () => {},
    })
    const journaled: JournaledRun[] = []
    for await (const left of journals.claimOrphans()) {
      const { head } = left
      const records = await left.records()
      const entries = records.flatMap(record => (record.type === 'batch' ? record.batch : []))
      const end = records.find(({ type }) => type === 'end')
      journaled.push({
        run_id: head.owned.run_id,
        last_seq: head.last_seq,
        items: entries.flatMap(entry => (entry.type === 'item' ? [entry.item] : [])),
        announces: entries.flatMap(entry => (entry.type === 'announce' ? [entry.event] : [])),
        ended: end?.type === 'end' ? end.end.ending.state : null,
      })
    }
    return journaled
  } finally {
    await rm(copy, { recursive: true })
  }
}

/** Ignores a folder that does not exist and a file that was removed during the copy. */
function ifAbsent(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
}
