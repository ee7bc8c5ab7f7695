import type { Ms, Time, Timer, UnixMs } from '@parley/kernel'
import { appendEvents, type Bus, type Database, eventsAfter, type NewEvent } from '@parley/store'
import { eventOf, itemsIn, type RunEnd, writeBatch, writeEnd } from '../run-entry.ts'
import { untilAnswered } from '../until-answered.ts'
import type { LeftJournal, RunJournals } from './run-journals.ts'

/** Long enough to write a batch; then the run is the reaper's. */
const LEASE_MS: Ms = 2000
const LOOK_EVERY_MS: Ms = 2000

export interface LandServices {
  readonly journals: RunJournals
  readonly database: Database
  readonly bus: Pick<Bus, 'publish'>
  readonly time: Time
  readonly wallClock: () => UnixMs
  /** A line for each journal that could not be written. */
  readonly onProblem: (what: string, error: unknown) => void
}

/**
 * Writes what killed processes of this home left on disk into their runs, where nobody took those meanwhile; now, and as
 * often as it looks for more. Ends by calling what it returns.
 */
export function keepLandingJournals(services: LandServices): () => void {
  const { time, onProblem } = services
  const stopping = new AbortController()
  let timer: Timer | null = null
  let isReadable = true
  const look = async () => {
    try {
      await landJournals(services, stopping.signal)
      isReadable = true
    } catch (error) {
      // Once: it will be no better in two seconds.
      if (isReadable) onProblem('journals cannot be read', error)
      isReadable = false
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
export async function landJournals(services: LandServices, stopping: AbortSignal): Promise<void> {
  const { journals, bus, time, onProblem } = services
  for await (const left of journals.left()) {
    const runId = left.head.owned.run_id
    try {
      const landed = await untilAnswered(
        time,
        () => stopping.aborted,
        () => land(services, left),
      )
      // The next process goes on.
      if (landed === undefined) return
      bus.publish('runs', runId)
      if (landed === 'lost') await tellLost(services, left)
      await left.remove()
    } catch (error) {
      onProblem(`the journal of run ${runId} cannot be written`, error)
    }
  }
}

/** Writes what is not there yet. May be done again. */
async function land(services: LandServices, { head, records }: LeftJournal): Promise<'landed' | 'lost'> {
  const { database, time, wallClock } = services
  const { scope, owned } = head
  let heldAt = time.now()
  const there = await lastSeqOf(services, head)
  if (there === 'lost') return 'lost'
  let lastSeq = head.last_seq
  let end: RunEnd | null = null
  for (const record of records) {
    if (record.type === 'end') {
      end = record.end
      continue
    }
    const items = itemsIn(record.batch)
    // Written before its owner died. One without items is told by those after it, and may be written twice.
    if (lastSeq + items <= there && (items > 0 || lastSeq < there)) {
      lastSeq += items
      continue
    }
    if (time.now() - heldAt > LEASE_MS / 2) {
      heldAt = time.now()
      if (!(await hold(database, head))) return 'lost'
    }
    const now = new Date(wallClock()).toISOString()
    const written = await writeBatch(record.batch, { database, scope, owned, lastSeq, now })
    if (written === 'lost') return 'lost'
    lastSeq = written
  }
  return end === null ? 'landed' : finish(services, head, end)
}

/** The timeline's last place, with the run held for a while; `lost`: somebody took it, or it is over. */
async function lastSeqOf({ database }: LandServices, head: LeftJournal['head']): Promise<number | 'lost'> {
  const { scope, owned, last_seq } = head
  if (!(await hold(database, head))) return 'lost'
  const answer = await database.transaction(scope, tx => appendEvents(tx, scope, owned, last_seq + 1, []))
  if (answer === 'lost') return 'lost'
  return answer === 'appended' ? last_seq : answer.last_seq
}

async function finish({ database }: LandServices, head: LeftJournal['head'], end: RunEnd): Promise<'landed' | 'lost'> {
  const { scope, owned } = head
  if (!(await hold(database, head))) return 'lost'
  const done = await writeEnd(end, { database, scope, owned })
  if (done === 'not_allowed') throw new TypeError(`the run cannot end as ${end.ending.state}`)
  return done === 'finished' ? 'landed' : 'lost'
}

/** In the dead owner's name, as it would have done: nobody but the reaper wants the run. */
async function hold(database: Database, { engine, owned }: LeftJournal['head']): Promise<boolean> {
  return (await database.runs.renew(engine, [owned], LEASE_MS)).length === 1
}

/** What of the journal is not in the timeline: its owner may have died after it wrote all. */
async function tellLost({ database, onProblem }: LandServices, { head, records }: LeftJournal): Promise<void> {
  const { scope, owned, last_seq } = head
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
