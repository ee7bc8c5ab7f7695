import type { Scope } from '@parley/contract'
import { type RunStatement, scopedRows } from '../statements.ts'
import type { JobsAcrossTenants, LostRun } from './protocol.ts'

export function jobsOn(run: RunStatement): JobsAcrossTenants {
  return {
    async clock() {
      const { rows } = await run('clock', 'select clock_timestamp() as now', [])
      return (rows[0] as { now: string }).now
    },
    async reap({ engine, worker }, { askedAt, atMost, leaseMs, restMs }) {
      const { rows } = await run(
        'reap_rested_runs',
        'select * from parley.reap_rested_runs($1, $2, $3::integer, $4::integer, $5::integer, $6::timestamptz)',
        [engine, worker, leaseMs, atMost, restMs, askedAt],
      )
      return scopedRows<LostRun>(rows)
    },
    async environmentsDue(work, after, atMost) {
      if (work === 'trials')
        return scopesOf(
          (
            await run(
              'environments_with_trials',
              'select * from parley.environments_with_trials($1::uuid, $2::integer)',
              [after, atMost],
            )
          ).rows,
        )
      const { rows } =
        work === 'knowledge'
          ? await run('knowledge_due', 'select * from parley.knowledge_due($1::uuid, $2::integer)', [after, atMost])
          : await run('environments_due', 'select * from parley.environments_due($1, $2::uuid, $3::integer)', [
              work,
              after,
              atMost,
            ])
      return scopesOf(rows)
    },
    async pruneForgottenNumbers(atMost) {
      const { rows } = await run(
        'prune_forgotten_numbers',
        'select parley.prune_forgotten_numbers($1::integer) as count',
        [atMost],
      )
      return (rows[0] as { count: number }).count
    },
  }
}

function scopesOf(rows: readonly unknown[]): Scope[] {
  return (rows as Scope[]).map(({ owner_id, environment, tenant_id }) => ({ owner_id, environment, tenant_id }))
}
