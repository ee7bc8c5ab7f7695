import type { Scope } from '@parley/contract'
import type { OwnedRun } from '@parley/runs'
import type { RunOwnership } from '@parley/store'
import type { CallPlan } from '../call-plan.ts'

/** Where calls are recorded. */
export interface Recordings {
  /**
   * A place for the recording of a run. Throws where nothing can be recorded now: then no call that needs one is
   * connected. `recording_unavailable` is told to the operator there.
   */
  open(run: { readonly scope: Scope; readonly owned: RunOwnership }): Promise<NonNullable<CallPlan['recording']>>
  /**
   * The call is over and its files are complete: keeps what there is as the run's recording. `segments`: how many files
   * the recorder says there are; null where it failed. For a run that was not opened here nothing
   * happens. Never rejects.
   */
  close(runId: string, segments: number | null): Promise<unknown>
}

/** As `open`; where it throws, the run's timeline says why there will be no call. */
export async function openRecording(
  recordings: Recordings,
  run: OwnedRun,
): Promise<NonNullable<CallPlan['recording']>> {
  try {
    return await recordings.open(run)
  } catch (error) {
    const message = 'The call is to be recorded, and that cannot be done now.'
    run.note({ kind: 'error', code: 'recording_unavailable', message })
    throw error
  }
}
