import type { Scope } from '@parley/contract'
import type { RunStatement } from '../leases.ts'
import type { JsonObject, PhoneState, RunChannel, RunKind, RunMode, RunState } from '../schema-runs.ts'
import { type Engines, enginesOn } from './engines.ts'
import type { OutboxItem } from './outbox.ts'
import { type OwnedRun, RUN_LEASE_MS, type RunOwner } from './ownership.ts'

/** A run that its owner still has. */
export interface RenewedRun {
  readonly run_id: string
  /** It was being written to at this moment and was not renewed: renew it again, soon. */
  readonly busy: boolean
  /** Somebody wants it to end. */
  readonly cancel_asked: boolean
  /** Revision of its newest update; 0: none. */
  readonly last_update: number
}

export interface WaitingRun {
  readonly run_id: string
  readonly scope: Scope
  readonly admitted_at: string
}

/** A run taken over from an owner that stopped renewing. */
export interface ReapedRun extends OwnedRun {
  readonly scope: Scope
  readonly channel: RunChannel
  readonly mode: RunMode
  readonly state: RunState
  readonly phone_state: PhoneState | null
  readonly lost_engine: string
  readonly lost_worker: string | null
  /** When its last true owner renewed: its far end may be busy for 28 s from then. */
  readonly last_renewed_at: string
  /** Of the timeline. */
  readonly last_seq: number
  /** As `storeDial` and `storeDialog` kept them: for CANCEL and BYE. */
  readonly dial: JsonObject | null
  readonly dialog: JsonObject | null
}

/** What engines, workers and sweeps do with the runs of all tenants. Times are on the database's clock. */
export interface RunsAcrossTenants {
  /** Keeps the owner's leases for `leaseMs` (9000) from now. What is not in the answer is lost: hang up, and write nothing. */
  renew(engine: string, runs: readonly OwnedRun[], leaseMs?: number): Promise<RenewedRun[]>
  /** Runs that wait for an owner, oldest first; `claimRun` takes one. */
  waiting(kind: RunKind, atMost: number): Promise<WaitingRun[]>
  /**
   * Takes over runs whose lease ended, each by one reaper; what they were sending and cannot be sent twice is `uncertain`
   * then. The reaper ends them (`finishRun`, with `engine_lost`; one that is still `admitted` as `expired`, or
   * `releaseRun` lets another have it). After the database was away, wait one lease before it.
   */
  reap(reaper: RunOwner, atMost: number, leaseMs?: number): Promise<ReapedRun[]>
  /** Ends admitted runs that nobody took in time; answers which. */
  expire(atMost: number): Promise<{ readonly run_id: string; readonly tenant_id: string }[]>
  /** Settles updates that no engine answered in time; answers how many. */
  expireUpdates(atMost: number): Promise<number>
  /** Webhooks that are due, of each run the first that is not settled; they are the caller's for `leaseMs`. */
  takeOutbox(leaseMs: number, atMost: number): Promise<OutboxItem[]>
  readonly engines: Engines
}

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
    async waiting(kind, atMost) {
      const { rows } = await run('waiting_runs', 'select * from parley.waiting_runs($1, $2)', [kind, atMost])
      return scoped<WaitingRun>(rows)
    },
    async reap({ engine, worker }, atMost, leaseMs = RUN_LEASE_MS) {
      const { rows } = await run('reap_runs', 'select * from parley.reap_runs($1, $2, $3, $4)', [
        engine,
        worker,
        leaseMs,
        atMost,
      ])
      return scoped<ReapedRun>(rows)
    },
    async expire(atMost) {
      const { rows } = await run('expire_runs', 'select * from parley.expire_runs($1)', [atMost])
      return rows as { run_id: string; tenant_id: string }[]
    },
    async expireUpdates(atMost) {
      const { rows } = await run('expire_updates', 'select parley.expire_updates($1) as settled', [atMost])
      return (rows[0] as { settled: number }).settled
    },
    async takeOutbox(leaseMs, atMost) {
      const { rows } = await run('take_outbox', 'select * from parley.take_outbox($1, $2)', [leaseMs, atMost])
      return scoped<OutboxItem>(rows)
    },
    engines: enginesOn(run),
  }
}

/** Puts a row's owner, environment and tenant together. */
function scoped<Row extends { readonly scope: Scope }>(rows: readonly unknown[]): Row[] {
  return (rows as readonly (Scope & Omit<Row, 'scope'>)[]).map(
    ({ owner_id, environment, tenant_id, ...row }) =>
      ({ ...row, scope: { owner_id, environment, tenant_id } }) as unknown as Row,
  )
}
