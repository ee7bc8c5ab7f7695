import type { Scope } from '@parley/contract'
import type { OwnedRun } from '@parley/store'
import type { CallPlan } from '../call-plan.ts'

/** Where calls are recorded. */
export interface Recordings {
  /** A place for the recording of a run. Throws where nothing can be recorded now: then no call that needs one is connected. */
  open(run: { readonly scope: Scope; readonly owned: OwnedRun }): Promise<NonNullable<CallPlan['recording']>>
  /**
   * The call is over and its files are complete: keeps what there is as the run's recording. `segments`: how many files
   * the recorder says there are; null where it failed. For a run that was not opened here nothing
   * happens. Never rejects.
   */
  close(runId: string, segments: number | null): Promise<unknown>
}
