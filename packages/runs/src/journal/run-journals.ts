import type { Scope } from '@parley/contract'
import type { Ms, UnixMs } from '@parley/kernel'
import type { RunOwnership, Sealer } from '@parley/store'
import { RecordReader } from './journal-records.ts'
import type { JournalDisk, JournalHead, JournalRecord } from './protocol.ts'
import { type JournalCapacity, RunJournal } from './run-journal.ts'

/** `<run>.<fence>.<mark of the process that has it>.journal`; `.new` while it is rewritten. */
const NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{1,19})\.([\d-]{1,40})\.journal(\.new)?$/
/** Bytes of one run's journal: enough for a call of several hours. */
const MAX_RUN_BYTES = 4 * 1024 * 1024
const MAX_BYTES = 256 * 1024 * 1024
/** An unclaimed journal is removed after this time, because it holds callers' words. */
const KEEP_MS: Ms = 24 * 3_600_000

interface RunJournalsOptions {
  readonly disk: JournalDisk
  readonly sealer: Sealer
  readonly wallClock: () => UnixMs
  /** Bytes of one run's journal. Default 4 MiB. */
  readonly maxRunBytes?: number
  /** Bytes of all journals. Default 256 MiB. */
  readonly maxBytes?: number
  /** One line when writing to disk fails, and one when it works again. */
  readonly onProblem: (what: string, error: unknown) => void
}

/** The journal of a dead process, claimed by this process. */
export interface OrphanedJournal {
  readonly head: JournalHead
  /** Reads the complete records in order. Rejects with errors of the disk. */
  readonly records: () => Promise<readonly JournalRecord[]>
  /** Never rejects. */
  readonly remove: () => Promise<void>
}

/** The journals of this process's runs, and those that dead processes left. */
export class RunJournals {
  readonly #options: RunJournalsOptions
  readonly #capacity: JournalCapacity
  #isFailing = false

  constructor(options: RunJournalsOptions) {
    this.#options = options
    this.#capacity = { used: 0, maxBytes: options.maxBytes ?? MAX_BYTES }
  }

  /** Bytes on disk of this process's runs. */
  get bytes(): number {
    return this.#capacity.used
  }

  /** The journal of a run. Its file is created with the first record. */
  of(scope: Scope, owned: RunOwnership, engine: string): RunJournal {
    const { disk, sealer, wallClock, maxRunBytes = MAX_RUN_BYTES } = this.#options
    return new RunJournal({
      disk,
      sealer,
      capacity: this.#capacity,
      maxBytes: maxRunBytes,
      head: { scope, owned, engine },
      name: async () => nameOf(owned, await disk.mark()),
      now: () => new Date(wallClock()).toISOString(),
    })
  }

  /** Notes that writing to disk failed, or (null) that it works again. Logs each change once. */
  reportWrite(trouble: unknown): void {
    if ((trouble !== null) === this.#isFailing) return
    this.#isFailing = trouble !== null
    this.#options.onProblem(
      this.#isFailing
        ? 'run journals cannot be written to disk: entries wait in memory only'
        : 'run journals are written to disk again',
      trouble,
    )
  }

  /**
   * Claims the journals of dead processes one by one; each goes to one process. Journals of live processes are left alone.
   * A journal that is a day old or unreadable is removed.
   */
  async *claimOrphans(): AsyncGenerator<OrphanedJournal> {
    const { disk, onProblem, wallClock } = this.#options
    const mark = await disk.mark()
    for (const { name, changedAt } of await disk.list()) {
      const [, runId, fence, owner, isNew] = NAME.exec(name) ?? []
      if (runId === undefined || fence === undefined || owner === undefined || (await disk.isAlive(owner))) continue
      const owned = { run_id: runId, fence }
      const mine = nameOf(owned, mark)
      if (isNew !== undefined) {
        await disk.remove(name)
        continue
      }
      if (!(await disk.rename(name, mine))) continue
      const isOld = wallClock() - changedAt > KEEP_MS
      const head = isOld ? null : await this.#read(mine, owned, reader => reader.head())
      if (head !== null) {
        const records = () => this.#read(mine, owned, recordsOf)
        yield { head, records, remove: () => disk.remove(mine).catch(() => {}) }
        continue
      }
      await disk.remove(mine)
      onProblem(`the journal of run ${runId} is removed`, new Error(isOld ? 'it is a day old' : 'it cannot be read'))
    }
  }

  async #read<Found>(
    name: string,
    owned: RunOwnership,
    what: (reader: RecordReader) => Promise<Found>,
  ): Promise<Found> {
    const { disk, sealer } = this.#options
    const file = await disk.open(name)
    try {
      return await what(new RecordReader(file, sealer, owned))
    } finally {
      await file.close()
    }
  }
}

async function recordsOf(reader: RecordReader): Promise<JournalRecord[]> {
  const records: JournalRecord[] = []
  if ((await reader.head()) === null) return records
  for (let record = await reader.record(); record !== null; record = await reader.record()) records.push(record)
  return records
}

function nameOf({ run_id, fence }: RunOwnership, mark: string): string {
  return `${run_id}.${fence}.${mark}.journal`
}
