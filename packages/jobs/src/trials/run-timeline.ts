import type { Scope } from '@parley/contract'
import type { TimelineItem } from '@parley/conversation'
import { eventsAfter, type Queries } from '@parley/store'

const PAGE = 1000
const MAX_ITEMS = 20_000

/** The timeline of an ended run, at most its first 20,000 items. */
export async function timelineOf(db: Queries, scope: Scope, runId: string): Promise<TimelineItem[]> {
  const items: TimelineItem[] = []
  for (let last = 0; items.length < MAX_ITEMS; ) {
    const rows = await eventsAfter(db, scope, runId, last, PAGE)
    if (rows.length === 0) break
    // Events are written with the types of the timeline.
    for (const { seq, at, offset_ms, kind, fields } of rows)
      items.push({ ...fields, seq, at, offset_ms, kind } as unknown as TimelineItem)
    last = rows.at(-1)!.seq
  }
  return items
}
