import type { Ms, Time, Timer, UnixMs } from '@parley/kernel'
import { appendEvents, type Bus, type Database, eventsAfter, type NewEvent, type RunOwnership } from '@parley/store'
import { RepeatedFailureLog } from '../repeated-failure-log.ts'
import { ownershipUnconfirmed, retryUntilAnswered } from '../retry-until-answered.ts'
import {
  BATCH,
  eventOf,
  itemsIn,
  type RunBatch,
  type RunEnd,
  type RunEntry,
  writeBatch,
  writeEnd,
} from '../run-entry.ts'
import type { JournalHead, JournalRecord } from './protocol.ts'
import type { OrphanedJournal, RunJournals } from './run-journals.ts'

/** Long enough to write a batch. After it the reaper may take the run. */
const LEASE_MS: Ms = 2000
const LOOK_EVERY_MS: Ms = 2000

interface ReplayServices {
  readonly journals: RunJournals
  readonly database: Database
  readonly bus: Pick<Bus, 'publish'>
  readonly time: Time
  readonly wallClock: () => UnixMs
  /** A line for each journal that could not be written; `error` is null where something works again. */
  readonly onProblem: (what: string, error: unknown) => void
}

/**
 * Writes what killed processes of this home left on disk into their runs, where nobody took those meanwhile; now, and as
 * often as it looks for more. Ends by calling what it returns.
 */
export function keepReplayingJournals(services: ReplayServices): () => void {
  const { time, onProblem } = services
  const stopping = new AbortController()
  let timer: Timer | null = null
  const looks = new RepeatedFailureLog({ name: 'reading journals', time, onProblem })
  const look = async () => {
    try {
      await replayJournals(services, stopping.signal)
      looks.worked()
    } catch (error) {
      looks.failed(error)
    }
    if (!stopping.signal.aborted) timer = time.at(time.now() + LOOK_EVERY_MS, () => void look())
  }
  void look()
  return () => {
    stopping.abort()
    timer?.cancel()
  }
}

/** Replays the journals that exist now. Retries while the database is away. Rejects with errors of the disk. */
export async function replayJournals(services: ReplayServices, stopping: AbortSignal): Promise<void> {
  const waiting: OrphanedJournal[] = []
  try {
    for await (const journal of services.journals.claimOrphans()) waiting.push(journal)
  } finally {
    // Journals claimed before the disk failed belong to this process; no other one will replay them.
    await replayAll(services, waiting, stopping)
  }
}

/** Replays one journal after the other, and renews the leases of those that wait. */
async function replayAll(services: ReplayServices, waiting: OrphanedJournal[], stopping: AbortSignal): Promise<void> {
  const { bus, time, onProblem } = services
  const stopRenewing = await renewAll(services, waiting)
  try {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const journal = next
      const runId = journal.head.owned.run_id
      try {
        const result = await retryUntilAnswered(
          time,
          () => stopping.aborted,
          () => replayOne(services, journal),
        )
        // Stopping: the next process continues with this journal.
        if (result === undefined) return
        bus.publish('runs', runId)
        await journal.remove()
      } catch (error) {
        onProblem(`the journal of run ${runId} cannot be written`, error)
      }
    }
  } finally {
    stopRenewing()
  }
}

/** Renews the leases of the waiting runs at once and then every half lease, until the returned function is called. */
async function renewAll({ database, time }: ReplayServices, waiting: readonly OrphanedJournal[]): Promise<() => void> {
  let timer: Timer | null = null
  let isOver = false
  const renewOnce = async () => {
    for (const [engine, owned] of byOwner(waiting)) {
      // While the database is away no other process can take the runs either.
      await database.runs.renew(engine, owned, LEASE_MS).catch(() => {})
    }
    if (!isOver) timer = time.at(time.now() + LEASE_MS / 2, () => void renewOnce())
  }
  await renewOnce()
  return () => {
    isOver = true
    timer?.cancel()
  }
}

function byOwner(waiting: readonly OrphanedJournal[]): Map<string, RunOwnership[]> {
  const runs = new Map<string, RunOwnership[]>()
  for (const { head } of waiting) runs.set(head.engine, [...(runs.get(head.engine) ?? []), head.owned])
  return runs
}

/**
 * Writes what the database lacks, or reports what is lost. Idempotent. Throws `run_lost` (retryable) when the lease expired
 * and no process took the run, or when the dead owner's last transaction is still open.
 */
async function replayOne(services: ReplayServices, { head, records }: OrphanedJournal): Promise<'replayed' | 'lost'> {
  const { database } = services
  const stored = await records()
  const result = (await renew(database, head)) ? await writeRest(services, head, stored) : 'lost'
  if (result === 'replayed') return result
  if (await renew(database, head)) throw ownershipUnconfirmed()
  await reportLost(services, head, stored)
  return result
}

async function writeRest(
  services: ReplayServices,
  head: JournalHead,
  records: readonly JournalRecord[],
): Promise<'replayed' | 'lost'> {
  const { database, time, wallClock } = services
  const { scope, owned } = head
  let renewedAt = time.now()
  const there = await lastSeqOf(services, head)
  if (there === 'lost') return 'lost'
  const { batches, lastSeq: first } = restOf(records, head.last_seq, there)
  let lastSeq = first
  for (const batch of batches) {
    if (time.now() - renewedAt > LEASE_MS / 2) {
      renewedAt = time.now()
      if (!(await renew(database, head))) return 'lost'
    }
    const now = new Date(wallClock()).toISOString()
    const written = await writeBatch(batch, { database, scope, owned, lastSeq, now })
    if (written === 'lost') return 'lost'
    lastSeq = written
  }
  const end = records.find(({ type }) => type === 'end')
  return end?.type === 'end' ? finish(services, head, end.end) : 'replayed'
}

/**
 * The batches to write after sequence number `there` of the timeline, and the sequence number before them. A journal holds a
 * batch per half second; they are merged to the usual size of a transaction.
 */
function restOf(
  records: readonly JournalRecord[],
  from: number,
  there: number,
): { readonly batches: readonly RunBatch[]; readonly lastSeq: number } {
  const batches: RunEntry[][] = []
  let lastSeq = from
  for (const record of records) {
    if (record.type === 'end') continue
    const items = itemsIn(record.batch)
    const last = batches.at(-1)
    // The owner wrote this batch before it died. A batch without items leaves no trace there, so it may be written twice.
    if (last === undefined && lastSeq + items <= there && (items > 0 || lastSeq < there)) lastSeq += items
    else if (last !== undefined && last.length + record.batch.length <= BATCH) last.push(...record.batch)
    else batches.push([...record.batch])
  }
  return { batches, lastSeq }
}

/** The last sequence number of the timeline; `lost`: another process took the run, or it has ended. */
async function lastSeqOf({ database }: ReplayServices, head: JournalHead): Promise<number | 'lost'> {
  const { scope, owned, last_seq } = head
  const answer = await database.transaction(scope, tx => appendEvents(tx, scope, owned, last_seq + 1, []))
  if (answer === 'lost') return 'lost'
  return answer === 'appended' ? last_seq : answer.last_seq
}

async function finish({ database }: ReplayServices, head: JournalHead, end: RunEnd): Promise<'replayed' | 'lost'> {
  const { scope, owned } = head
  if (!(await renew(database, head))) return 'lost'
  const done = await writeEnd(end, { database, scope, owned })
  if (done === 'not_allowed') throw new TypeError(`the run cannot end as ${end.ending.state}`)
  return done === 'finished' ? 'replayed' : 'lost'
}

/**
 * Renews the lease under the dead owner's id; only the reaper competes for the run. False: another process took the run, or
 * it has ended. Also true, without a renewal, while an open transaction of the dead owner locks the row.
 */
async function renew(database: Database, { engine, owned }: JournalHead): Promise<boolean> {
  return (await database.runs.renew(engine, [owned], LEASE_MS)).length === 1
}

/** Logs how many items of the journal the timeline lacks; none if the owner died after it wrote them all. */
async function reportLost(
  { database, onProblem }: ReplayServices,
  { scope, owned, last_seq }: JournalHead,
  records: readonly JournalRecord[],
): Promise<void> {
  const items = records.flatMap(record =>
    record.type === 'batch' ? record.batch.flatMap(entry => eventOf(entry) ?? []) : [],
  )
  const there = await eventsAfter(database.within(scope), scope, owned.run_id, last_seq, items.length)
  const lost = items.filter((item, i) => !isThere(item, there[i])).length
  if (lost > 0)
    onProblem(`${lost} items of run ${owned.run_id} are lost`, new Error('the run ended before they were written'))
}

function isThere(item: NewEvent, row: NewEvent | undefined): boolean {
  return row !== undefined && row.kind === item.kind && Date.parse(row.at) === Date.parse(item.at)
}
