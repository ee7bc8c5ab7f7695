import type { Scope } from '@parley/contract'
import { type Database, type EventRow, eventsAfter, readRun } from '@parley/store'
import { hasEnded } from '../handlers/runs-body.ts'
import { timelineBody } from '../handlers/runs-content.ts'
import type { RunChanges } from '../pipeline/run-changes.ts'

/** Interval of keep-alive comments and of checks that the client may still follow the run. */
const ALIVE_MS = 15_000
/** Poll interval: the bus may lose a message. */
const POLL_MS = 1000
/** Items per query and chunk. */
const CHUNK_ITEMS = 100

interface RunEventsOptions {
  readonly database: Pick<Database, 'within'>
  readonly runChanges: RunChanges
  readonly scope: Scope
  readonly runId: string
  /** `seq` of the last item that the client has; 0 or an unknown one: from the start. */
  readonly after: number
  /** Fires when the client disconnects or the server closes. */
  readonly signal: AbortSignal
  /** Whether the client may still follow the run; called every 15 s. */
  readonly mayFollow: () => Promise<boolean>
  /** Monotonic ms. */
  readonly now: () => number
}

/**
 * The timeline of a run as server-sent events, as it grows: each item once, in order, without a gap; `end` once the run
 * is terminal. Ends early when the signal fires or access is revoked. Throws what the database throws.
 */
export async function* runEvents(followed: RunEventsOptions): AsyncGenerator<string> {
  const { database, runChanges, scope, runId, signal, now } = followed
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
    // Begins to wait before items are read, so that no change in between is missed.
    const waited = runChanges.wait(runId, POLL_MS, signal)
    if (now() - lookedUp >= ALIVE_MS) {
      if (lookedUp !== Number.NEGATIVE_INFINITY) {
        yield ': alive\n\n'
        if (!(await followed.mayFollow())) return
      }
      lookedUp = now()
      // The run is read before its items: an ended run has all of its items by then.
      const run = await readRun(db, scope, runId)
      isOver = run === null || hasEnded(run)
    }
    const items = await eventsAfter(db, scope, runId, known, CHUNK_ITEMS)
    if (items.length > 0) {
      known = items.at(-1)!.seq
      isOver ||= items.some(isLast)
      yield items.map(eventText).join('')
    }
    if (items.length === CHUNK_ITEMS) continue
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
