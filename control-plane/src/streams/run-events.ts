import type { Scope } from '@parley/contract'
import { type Database, type EventRow, eventsAfter, readRun } from '@parley/store'
import { hasEnded } from '../handlers/runs-body.ts'
import { timelineBody } from '../handlers/runs-content.ts'
import type { RunChanges } from '../pipeline/run-changes.ts'

/** How often who follows a run hears that the connection lives, and is looked up again. */
const ALIVE_MS = 15_000
/** The bus may lose a message: the run is looked at as often as this. */
const LOOK_MS = 1000
/** Items in one piece. */
const PIECE = 100

export interface Followed {
  readonly database: Pick<Database, 'within'>
  readonly news: RunChanges
  readonly scope: Scope
  readonly runId: string
  /** Items up to this one are known; one that there never was: none are. */
  readonly after: number
  /** Whoever follows has gone, or the server closes. */
  readonly signal: AbortSignal
  /** Whether whoever follows may still; asked every 15 s. */
  readonly mayFollow: () => Promise<boolean>
  /** Monotonic ms. */
  readonly now: () => number
}

/**
 * The timeline of a run as server-sent events, as it grows: each item once, in order, without a gap; `end` once the run
 * is terminal. Ends early when the signal fires, or whoever follows may no more. Throws what the database throws.
 */
export async function* runEvents(followed: Followed): AsyncGenerator<string> {
  const { database, news, scope, runId, signal, now } = followed
  const db = database.within(scope)
  let known = 0
  let lookedUp = Number.NEGATIVE_INFINITY
  let isOver = false
  yield 'retry: 1000\n\n'
  if (followed.after > 0) {
    const [item] = await eventsAfter(db, scope, runId, followed.after - 1, 1)
    known = item?.seq ?? 0
  }
  while (!signal.aborted) {
    // Before items are read: what comes in between is not missed.
    const waited = news.wait(runId, LOOK_MS, signal)
    if (now() - lookedUp >= ALIVE_MS) {
      if (lookedUp !== Number.NEGATIVE_INFINITY) {
        yield ': alive\n\n'
        if (!(await followed.mayFollow())) return
      }
      lookedUp = now()
      // Before items are read: a run that has ended has all of them by then.
      const run = await readRun(db, scope, runId)
      isOver = run === null || hasEnded(run)
    }
    const items = await eventsAfter(db, scope, runId, known, PIECE)
    if (items.length > 0) {
      known = items.at(-1)!.seq
      isOver ||= items.some(isLast)
      yield items.map(eventText).join('')
    }
    if (items.length === PIECE) continue
    if (isOver) {
      yield 'event: end\ndata: {}\n\n'
      return
    }
    await waited
  }
}

function isLast({ kind, fields }: EventRow): boolean {
  return kind === 'state' && hasEnded(fields as unknown as Parameters<typeof hasEnded>[0])
}

function eventText(row: EventRow): string {
  return `id: ${row.seq}\nevent: ${row.kind}\ndata: ${JSON.stringify(timelineBody(row))}\n\n`
}
