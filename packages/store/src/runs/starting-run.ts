import type { Plan, Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { Destinations } from '../schema.ts'
import type { RunChannel, RunMode } from '../schema-runs.ts'
import { ownNumbers } from './own-numbers.ts'

/** Facts that an owner needs to start a run. */
export interface StartingRun {
  readonly run_id: string
  readonly agent_id: string
  readonly version: number
  readonly plan: Plan
  readonly channel: RunChannel
  readonly mode: RunMode
  readonly from_number: string | null
  readonly to_number: string | null
  readonly trunk_id: string | null
  readonly dynamic_variables: Readonly<Record<string, string>>
  /** Whether the run may dial and transfer. */
  readonly can_dial: boolean
  /** Countries that staff allowed; null: those of the environment's own numbers. */
  readonly destinations: Destinations | null
  /** Numbers of the environment (E.164), from which its countries follow. */
  readonly own_numbers: readonly string[]
}

/** Null: there is no such run. */
export async function startingRun(db: Queries, scope: Scope, runId: string): Promise<StartingRun | null> {
  const { rows } = await sql<StartingRun>`
    select r.run_id, r.agent_id, r.version, p.plan, r.channel, r.mode, r.from_number, r.to_number, r.trunk_id,
      r.dynamic_variables, r.can_dial, t.destinations,
      ${ownNumbers(sql`r.tenant_id`)} as own_numbers
    from parley.runs r
    join parley.publications p on p.tenant_id = r.tenant_id and p.agent_id = r.agent_id and p.version = r.version
    join parley.tenants t on t.tenant_id = r.tenant_id
    where r.tenant_id = ${scope.tenant_id}::uuid and r.run_id = ${runId}::uuid`.execute(db)
  return rows[0] ?? null
}
