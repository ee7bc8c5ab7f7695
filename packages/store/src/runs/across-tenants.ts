import { type RunStatement, scopedRows } from '../statements.ts'
import { enginesOn } from './engines.ts'
import { RUN_LEASE_MS } from './ownership.ts'
import type { ReapedRun, RenewedRun, RunsAcrossTenants, WaitingRun } from './protocol.ts'

export function runsOn(run: RunStatement): RunsAcrossTenants {
  return {
    async renew(engine, runs, leaseMs = RUN_LEASE_MS) {
      if (runs.length === 0) return []
      const { rows } = await run(
        'renew_runs',
        'select * from parley.renew_runs($1, $2::uuid[], $3::bigint[], $4::integer)',
        [engine, runs.map(({ run_id }) => run_id), runs.map(({ fence }) => fence), leaseMs],
      )
      return rows as RenewedRun[]
    },
    async waiting(kind, atMost, underWay = []) {
      const { rows } = await run('waiting_runs', 'select * from parley.waiting_runs($1, $2::integer, $3::uuid[])', [
        kind,
        atMost,
        underWay,
      ])
      return scopedRows<WaitingRun>(rows)
    },
    async reap({ engine, worker }, atMost, leaseMs = RUN_LEASE_MS) {
      const { rows } = await run('reap_runs', 'select * from parley.reap_runs($1, $2, $3, $4)', [
        engine,
        worker,
        leaseMs,
        atMost,
      ])
      return scopedRows<ReapedRun>(rows)
    },
    async expire(atMost) {
      const { rows } = await run('expire_runs', 'select * from parley.expire_runs($1)', [atMost])
      return rows as { run_id: string; tenant_id: string }[]
    },
    async expireUpdates(atMost) {
      const { rows } = await run('expire_updates', 'select * from parley.expire_updates($1)', [atMost])
      return rows as { run_id: string; revision: number }[]
    },
    engines: enginesOn(run),
  }
}
