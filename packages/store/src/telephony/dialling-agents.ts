import type { Plan, Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'

/** Runs that are looked at, newest first. */
const MAX_RUNS = 200

/** A published agent that calls people. */
interface DiallingAgent {
  readonly agent_id: string
  readonly version: number
  readonly plan: Plan
}

/** The agents, with their versions, of the outbound calls of the last day; at most `limit`. */
export async function diallingAgents(db: Queries, scope: Scope, limit: number): Promise<DiallingAgent[]> {
  const { rows } = await sql<DiallingAgent>`
    select p.agent_id, p.version, p.plan
    from (
      select distinct r.agent_id, r.version
      from (
        select agent_id, version from parley.runs
        where tenant_id = ${scope.tenant_id}::uuid and mode = 'outbound' and channel = 'phone'
          and created_at > now() - interval '1 day'
        order by created_at desc limit ${MAX_RUNS}
      ) r
    ) dialled
    join parley.publications p
      on p.tenant_id = ${scope.tenant_id}::uuid and p.agent_id = dialled.agent_id and p.version = dialled.version
    order by p.agent_id, p.version limit ${limit}`.execute(db)
  return rows
}
