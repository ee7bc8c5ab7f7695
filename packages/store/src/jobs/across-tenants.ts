import type { RunStatement } from '../leases.ts'
import { scoped } from '../scoped.ts'
import { unshared } from '../unshared.ts'
import type { DueAnalysis, JobsAcrossTenants, LostRun } from './protocol.ts'

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
      return scoped<LostRun>(rows)
    },
    async takeAnalyses(leaseMs, atMost, tries, { eachAtMost, underWay, after } = unshared(atMost)) {
      const { rows } = await run(
        'take_analyses',
        'select * from parley.take_analyses($1::integer, $2::integer, $3::integer, $4::integer, $5::uuid[], $6::uuid)',
        [leaseMs, atMost, tries, eachAtMost, underWay, after],
      )
      return scoped<DueAnalysis>(rows)
    },
  }
}
