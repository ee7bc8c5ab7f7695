import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { JsonObject } from '../schema-runs.ts'

/** An ended call of an agent with a number, whoever called. */
export interface LastCall {
  readonly mode: 'inbound' | 'outbound'
  readonly ended_at: string
  readonly disposition: string | null
  readonly analysis: JsonObject
}

/**
 * The last analysed call of the run's agent with the run's number in the last `maxAgeDays`; test runs do not count. Null: there is none,
 * its content has expired, the number was forgotten since, or the carrier says that the caller's number is not genuine.
 */
export async function lastCall(db: Queries, scope: Scope, runId: string, maxAgeDays: number): Promise<LastCall | null> {
  const { rows } = await sql<LastCall>`
    select last.mode, last.ended_at, last.disposition, last.analysis
    from (
      select r.agent_id, case r.mode when 'inbound' then r.from_number else r.to_number end as phone_number
      from parley.runs r
      where r.tenant_id = ${scope.tenant_id}::uuid and r.run_id = ${runId}::uuid
        and r.caller_identity ->> 'verification' is distinct from 'failed'
    ) own
    left join parley.forgotten_numbers f
      on f.tenant_id = ${scope.tenant_id}::uuid and f.phone_number = own.phone_number
    cross join lateral (
      select e.mode, e.ended_at, e.disposition, e.analysis
      from parley.runs e
      where e.tenant_id = ${scope.tenant_id}::uuid and e.agent_id = own.agent_id
        and case e.mode when 'inbound' then e.from_number else e.to_number end = own.phone_number
        and e.channel = 'phone' and not e.test and e.analysis is not null
        and e.ended_at > clock_timestamp() - ${maxAgeDays}::integer * interval '1 day'
        and e.ended_at > coalesce(f.forgotten_at, '-infinity')
      order by e.ended_at desc
      limit 1
    ) last`.execute(db)
  return rows[0] ?? null
}
