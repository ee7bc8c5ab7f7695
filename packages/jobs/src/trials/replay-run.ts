import { codeVersions, readInputLog, type TimelineItem } from '@parley/conversation'
import { type ReplayReport, runReplayTrial } from '@parley/evaluation'
import {
  type Database,
  eventsAfter,
  type Queries,
  type ReplayOrder,
  readInputs,
  readRun,
  type Sealer,
  type TakenTrial,
} from '@parley/store'

type TrialOptions = Omit<
  Parameters<typeof runReplayTrial>[0],
  'log' | 'recorded' | 'outcome' | 'isSame' | 'versions' | 'afterChange'
>

const PAGE = 1000
const MAX_ITEMS = 20_000

/** Replays the run of a trial against the trial's publication. Throws what the database throws. */
export async function replayRun(
  { scope, version }: TakenTrial,
  { run_id, version: recordedVersion, after_change }: ReplayOrder,
  options: TrialOptions,
  { database, sealer }: { readonly database: Database; readonly sealer: Sealer },
): Promise<ReplayReport> {
  const db = database.within(scope)
  const run = await readRun(db, scope, run_id)
  const log = await readInputs(db, scope, run_id, sealer)
  if (run === null || log === null)
    return refused(`inputs_missing: run ${run_id} has no log of its inputs, or it has expired`)
  const { kind = 'completed', ended_by = 'caller' } = (run.outcome ?? {}) as { kind?: string; ended_by?: string }
  return runReplayTrial({
    ...options,
    log: readInputLog(log),
    recorded: await timelineOf(db, scope, run_id),
    outcome: { kind, ended_by: ended_by === 'agent' || ended_by === 'system' ? ended_by : 'caller', code: null },
    isSame: recordedVersion === version,
    versions: codeVersions(),
    afterChange: after_change,
  })
}

async function timelineOf(db: Queries, scope: TakenTrial['scope'], runId: string): Promise<TimelineItem[]> {
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

function refused(error: string): ReplayReport {
  return { verdict: 'errored', record: null, assertions: [], error, replay: null }
}
