import { codeVersions, readInputLog } from '@parley/conversation'
import { type ReplayReport, runReplayTrial } from '@parley/evaluation'
import { type Database, type ReplayOrder, readInputs, readRun, type Sealer, type TakenTrial } from '@parley/store'
import { timelineOf } from './run-timeline.ts'

type TrialOptions = Omit<
  Parameters<typeof runReplayTrial>[0],
  'log' | 'recorded' | 'outcome' | 'isSame' | 'versions' | 'afterChange'
>

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

function refused(error: string): ReplayReport {
  return { verdict: 'errored', record: null, assertions: [], error, replay: null }
}
