import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TimelineItem } from '@parley/conversation'
import { JournalDirectory, RunJournals } from '@parley/runs'
import { loadMasterKey, MasterKeySealer } from '@parley/store'

/** What the journal of a run holds. */
export interface JournaledRun {
  readonly run_id: string
  /** Of the timeline, before its first item. */
  readonly last_seq: number
  readonly items: readonly TimelineItem[]
  readonly announces: readonly string[]
  /** How the run ended; null: it was alive. */
  readonly ended: string | null
}

/** Of a process that may live: its journals are a copy. */
class Copy extends JournalDirectory {
  override async isAlive(): Promise<boolean> {
    return false
  }
}

/** What the journals of a home hold, in the order of their files' names; they stay as they are. */
export async function journaledRunsIn(home: string): Promise<JournaledRun[]> {
  const copy = await mkdtemp(join(tmpdir(), 'parley-journals.'))
  try {
    await cp(join(home, 'journal'), copy, { recursive: true }).catch(ifAbsent)
    const journals = new RunJournals({
      disk: new Copy(copy),
      sealer: new MasterKeySealer(await loadMasterKey(undefined, home)),
      wallClock: Date.now,
      onProblem: () => {},
    })
    const kept: JournaledRun[] = []
    for await (const left of journals.left()) {
      const { head } = left
      const records = await left.records()
      const entries = records.flatMap(record => (record.type === 'batch' ? record.batch : []))
      const end = records.find(({ type }) => type === 'end')
      kept.push({
        run_id: head.owned.run_id,
        last_seq: head.last_seq,
        items: entries.flatMap(entry => (entry.type === 'item' ? [entry.item] : [])),
        announces: entries.flatMap(entry => (entry.type === 'announce' ? [entry.event] : [])),
        ended: end?.type === 'end' ? end.end.ending.state : null,
      })
    }
    return kept
  } finally {
    await rm(copy, { recursive: true })
  }
}

/** Also of a file that went while it was copied: it is looked at again. */
function ifAbsent(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
}
