import { Refusal, type run, type runState } from '@parley/contract'
import { type RunRow, readRun } from '@parley/store'
import type { z } from 'zod'
import type { Context } from '../context.ts'

type RunBody = z.input<typeof run>
export type RunState = z.output<typeof runState>

const TERMINAL: ReadonlySet<RunState> = new Set(['completed', 'failed', 'cancelled', 'rejected', 'expired'])

/** A run as the API shows it. Runs are written with the types of the contract, so that the stored data match its schema. */
export function runBody(row: RunRow): RunBody {
  return row as unknown as RunBody
}

/** Whether the run is in a terminal state. */
export function hasEnded({ state }: Pick<RunRow, 'state'>): boolean {
  return TERMINAL.has(state)
}

export function noRun(runId: string): Refusal<'not_found'> {
  return new Refusal('not_found', `there is no run ${runId}`)
}

/** The run; throws `not_found`. */
export async function existingRun({ db, scope }: Pick<Context, 'db' | 'scope'>, runId: string): Promise<RunRow> {
  const found = await readRun(db, scope, runId)
  if (found === null) throw noRun(runId)
  return found
}
