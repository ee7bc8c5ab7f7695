import type { Scope } from '@parley/contract'
import type { OwnedRun } from '@parley/runs'
import type { RunOwnership } from '@parley/store'
import type { CallPlan } from '../call-plan.ts'

/** Stores recordings of calls. */
export interface Recordings {
  /**
   * Opens the recording of a run. Throws if nothing can be recorded now; a call that must be recorded is then not connected.
   * `recording_unavailable`: the implementation has reported the error to the operator.
   */
  open(run: { readonly scope: Scope; readonly owned: RunOwnership }): Promise<NonNullable<CallPlan['recording']>>
  /**
   * Called when the call is over and its files are complete: stores them as the run's recording. `segments`: how many files the
   * recorder wrote; null: it failed. Does nothing for a run that was not opened here. Never rejects.
   */
  close(runId: string, segments: number | null): Promise<unknown>
}

/** Opens the recording of a run; a failure is noted in the run's timeline, then thrown. */
export async function openRecording(
  recordings: Recordings,
  run: OwnedRun,
): Promise<NonNullable<CallPlan['recording']>> {
  try {
    return await recordings.open(run)
  } catch (error) {
    const message = 'The call must be recorded, and recordings cannot be stored now: the call is not connected.'
    run.note({ kind: 'error', code: 'recording_unavailable', message })
    throw error
  }
}
