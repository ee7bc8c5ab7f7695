import type { Scope } from '@parley/contract'
import { type Database, type LastCall, lastCall, type StartingRun, startingRun } from '@parley/store'

const DEFAULT_MAX_AGE_DAYS = 90
const MAX_CHARACTERS = 2000

/**
 * The facts of a call's run, with the variable `last_call` where the agent remembers calls: what came of the last one with the
 * same number. A variable of that name that the run has already wins. Null: there is no such run.
 */
export async function startingCall(
  database: Database,
  scope: Scope,
  runId: string,
  onProblem: (what: string, error: unknown) => void,
): Promise<StartingRun | null> {
  const db = database.within(scope)
  const start = await startingRun(db, scope, runId)
  const memory = start?.plan.settings?.callMemory
  if (start === null || memory?.enabled !== true || start.channel !== 'phone') return start
  const last = await lastCall(db, scope, runId, memory.maxAgeDays ?? DEFAULT_MAX_AGE_DAYS).catch(error => {
    onProblem(`the last call with the number of run ${runId} cannot be read`, error)
    return null
  })
  if (last === null) return start
  return { ...start, dynamic_variables: { last_call: textOf(last), ...start.dynamic_variables } }
}

/** "2026-01-05, the caller called: completed. Ana moved her visit to Monday. day: Monday; doctor: Bell" */
export function textOf({ mode, ended_at, disposition, analysis }: LastCall): string {
  const { summary, custom } = analysis
  const values = Object.entries(typeof custom === 'object' && custom !== null ? custom : {}).flatMap(([name, value]) =>
    value === null || value === '' ? [] : [`${name}: ${String(value)}`],
  )
  const head = `${ended_at.slice(0, 10)}, the ${mode === 'inbound' ? 'caller' : 'agent'} called${disposition === null ? '' : `: ${disposition}`}.`
  const parts = [head, typeof summary === 'string' ? summary.trim() : '', values.join('; ')]
  return parts
    .filter(part => part !== '')
    .join(' ')
    .slice(0, MAX_CHARACTERS)
    .toWellFormed()
}
