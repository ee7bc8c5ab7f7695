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

/** Long enough to write a batch; then the run is the reaper's. */
const LEASE_MS: Ms = 2000
const LOOK_EVERY_MS: Ms = 2000

export interface ReplayServices {
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

/** What there is now. Waits for a database that is away. Throws what the disk throws. */
export async function replayJournals(services: ReplayServices, stopping: AbortSignal): Promise<void> {
  const waiting: OrphanedJournal[] = []
  try {
    for await (const left of services.journals.left()) waiting.push(left)
  } finally {
    // What was taken before the disk failed is nobody else's any more.
    await landAll(services, waiting, stopping)
  }
}

/** One after the other; none is taken from us before it is its turn. */
async function landAll(services: ReplayServices, waiting: OrphanedJournal[], stopping: AbortSignal): Promise<void> {
  const { bus, time, onProblem } = services
  const letGo = await holdAll(services, waiting)
  try {
    for (let left = waiting.shift(); left !== undefined; left = waiting.shift()) {
      const journal = left
      const runId = journal.head.owned.run_id
      try {
        const landed = await retryUntilAnswered(
          time,
          () => stopping.aborted,
          () => land(services, journal),
        )
        // The next process goes on.
        if (landed === undefined) return
        bus.publish('runs', runId)
        await journal.remove()
      } catch (error) {
        onProblem(`the journal of run ${runId} cannot be written`, error)
      }
    }
  } finally {
    letGo()
  }
}

/** Keeps the leases of the runs that wait, from now on and as they go, until what it resolves to is called. */
async function holdAll({ database, time }: ReplayServices, waiting: readonly OrphanedJournal[]): Promise<() => void> {
  let timer: Timer | null = null
  let isOver = false
  const renew = async () => {
    for (const [engine, owned] of byOwner(waiting)) {
      // Where the database is away nobody else gets them either.
      await database.runs.renew(engine, owned, LEASE_MS).catch(() => {})
    }
    if (!isOver) timer = time.at(time.now() + LEASE_MS / 2, () => void renew())
  }
  await renew()
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
 * Writes what is not there yet, or says what is lost. May be done again. Throws `run_lost`, retryable, where that may help: the lease ended
 * meanwhile and nobody took the run, or the dead owner's last transaction is still under way.
 */
async function land(services: ReplayServices, { head, records }: OrphanedJournal): Promise<'landed' | 'lost'> {
  const { database } = services
  const kept = await records()
  const landed = (await hold(database, head)) ? await writeRest(services, head, kept) : 'lost'
  if (landed === 'landed') return landed
  if (await hold(database, head)) throw ownershipUnconfirmed()
  await tellLost(services, head, kept)
  return landed
}

async function writeRest(
  services: ReplayServices,
  head: JournalHead,
  records: readonly JournalRecord[],
): Promise<'landed' | 'lost'> {
  const { database, time, wallClock } = services
  const { scope, owned } = head
  let heldAt = time.now()
  const there = await lastSeqOf(services, head)
  if (there === 'lost') return 'lost'
  const { batches, lastSeq: first } = restOf(records, head.last_seq, there)
  let lastSeq = first
  for (const batch of batches) {
    if (time.now() - heldAt > LEASE_MS / 2) {
      heldAt = time.now()
      if (!(await hold(database, head))) return 'lost'
    }
    const now = new Date(wallClock()).toISOString()
    const written = await writeBatch(batch, { database, scope, owned, lastSeq, now })
    if (written === 'lost') return 'lost'
    lastSeq = written
  }
  const end = records.find(({ type }) => type === 'end')
  return end?.type === 'end' ? finish(services, head, end.end) : 'landed'
}

/**
 * What is to be written behind the timeline's place `there`, and the place before it. A journal has a batch for each half
 * second: as many go into one transaction as are written in one else.
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
    // Written before its owner died. One without items is told by those after it, and may be written twice.
    if (last === undefined && lastSeq + items <= there && (items > 0 || lastSeq < there)) lastSeq += items
    else if (last !== undefined && last.length + record.batch.length <= BATCH) last.push(...record.batch)
    else batches.push([...record.batch])
  }
  return { batches, lastSeq }
}

/** The timeline's last place; `lost`: somebody took the run, or it is over. */
async function lastSeqOf({ database }: ReplayServices, head: JournalHead): Promise<number | 'lost'> {
  const { scope, owned, last_seq } = head
  const answer = await database.transaction(scope, tx => appendEvents(tx, scope, owned, last_seq + 1, []))
  if (answer === 'lost') return 'lost'
  return answer === 'appended' ? last_seq : answer.last_seq
}

async function finish({ database }: ReplayServices, head: JournalHead, end: RunEnd): Promise<'landed' | 'lost'> {
  const { scope, owned } = head
  if (!(await hold(database, head))) return 'lost'
  const done = await writeEnd(end, { database, scope, owned })
  if (done === 'not_allowed') throw new TypeError(`the run cannot end as ${end.ending.state}`)
  return done === 'finished' ? 'landed' : 'lost'
}

/**
 * In the dead owner's name, as it would have done: nobody but the reaper wants the run. False: somebody took it, or it is
 * over. True also where it is written to at this moment, by a transaction of the dead owner that the server has not given
 * up: then the lease is as it was.
 */
async function hold(database: Database, { engine, owned }: JournalHead): Promise<boolean> {
  return (await database.runs.renew(engine, [owned], LEASE_MS)).length === 1
}

/** What of the journal is not in the timeline: its owner may have died after it wrote all. */
async function tellLost(
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
    onProblem(`${lost} items of run ${owned.run_id} are lost`, new Error('it ended before they could be written'))
}

function isThere(item: NewEvent, row: NewEvent | undefined): boolean {
  return row !== undefined && row.kind === item.kind && Date.parse(row.at) === Date.parse(item.at)
}
