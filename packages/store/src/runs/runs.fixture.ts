import type { Scope } from '@parley/contract'
import type { Queries } from '../protocol.ts'
import type { TestDatabase } from '../testing/test-database.ts'
import { type Admission, type AdmissionOptions, admitRun, type RunRequest } from './admission.ts'
import type { NewEvent } from './events.ts'
import { finishRun, type RunEnding } from './finish.ts'
import { moveRun } from './ownership.ts'
import type { RunOwner, RunOwnership } from './protocol.ts'

export const ENGINE: RunOwner = { engine: 'engine-1', worker: null }
export const REAPER: RunOwner = { engine: 'worker-9', worker: 'reaper' }
/** Longer than any test takes, so that no search for ended leases finds a run of another test. */
const LEASE_MS = 3_600_000

/** An outbound call of the agent `greeter`. */
export const OUTBOUND: RunRequest = {
  agent_id: 'greeter',
  version: 1,
  channel: 'phone',
  mode: 'outbound',
  trigger: { kind: 'api', idempotency_key_sha256: 'a'.repeat(64) },
  test: false,
  from_number: '+4930111',
  to_number: '+4930222',
  trunk_id: 'carrier',
  dynamic_variables: { name: 'Ada' },
  metadata: { order: 7 },
  caller_identity: null,
  key_id: null,
  can_dial: true,
  notifies: false,
}
export const CHAT: RunRequest = { ...OUTBOUND, channel: 'cloud', mode: 'chat', from_number: null, to_number: null }

export const COMPLETED: RunEnding = {
  state: 'completed',
  phone_state: 'ended',
  outcome: { kind: 'completed', detail: null, sip_status: null, ended_by: 'agent' },
  disposition: 'completed',
}
export const CHAT_OVER: RunEnding = { state: 'completed', outcome: COMPLETED.outcome, disposition: 'completed' }

/** Somebody pressed keys. */
export const pressed = (digits: string): NewEvent => ({
  at: '2026-01-02T03:04:05.678Z',
  offset_ms: 12.5,
  kind: 'digits',
  fields: { direction: 'in', digits },
})

/** An environment with the published agents `greeter` and `other`, admission on. */
export async function workspace(
  test: TestDatabase,
  settings: { readonly capacity?: number | null; readonly daily?: number | null } = {},
): Promise<Scope> {
  const scope = await test.scope()
  const { capacity = 100, daily = null } = settings
  await test.owner.query(
    'update parley.tenants set admission_enabled = true, concurrent_capacity = $2, daily_call_limit = $3 where tenant_id = $1',
    [scope.tenant_id, capacity, daily],
  )
  for (const agent of ['greeter', 'other']) {
    await test.owner.query("insert into parley.agents (tenant_id, agent_id, name) values ($1, $2, 'A')", [
      scope.tenant_id,
      agent,
    ])
    await test.owner.query(
      `insert into parley.publications (tenant_id, agent_id, version, digest, plan_schema_version, channels, languages,
         source_kind, published_by, test, draft_id, draft_revision, plan, draft, warnings)
       values ($1, $2, 1, 'd', 3, '{phone,cloud}', '{en}', 'api', '{}', false, uuidv7(), 1, '{}', '{}', '[]')`,
      [scope.tenant_id, agent],
    )
  }
  return scope
}

export function admit(
  test: TestDatabase,
  scope: Scope,
  request: RunRequest = OUTBOUND,
  options: AdmissionOptions = {},
): Promise<Admission> {
  return test.database.transaction(scope, tx => admitRun(tx, scope, request, options))
}

export async function admitted(test: TestDatabase, scope: Scope, request: RunRequest = OUTBOUND): Promise<string> {
  const admission = await admit(test, scope, request)
  if (admission.kind !== 'admitted') throw new Error(`refused: ${admission.reason}`)
  return admission.run_id
}

/** A run with the owner `owner` and a lease of an hour. */
export async function owned(
  test: TestDatabase,
  scope: Scope,
  request: RunRequest = OUTBOUND,
  owner: RunOwner = ENGINE,
): Promise<RunOwnership> {
  const admission = await admit(test, scope, request, { owner: { ...owner, leaseMs: LEASE_MS } })
  if (admission.kind !== 'admitted' || admission.owned === null) throw new Error('refused')
  return admission.owned
}

/** Moves the lease of a run into the past, because tests cannot advance the database's clock. */
export async function letLeaseEnd(test: TestDatabase, { run_id }: Pick<RunOwnership, 'run_id'>): Promise<void> {
  await test.owner.query(
    "update parley.run_ownership set lease_until = now() - interval '1 ms', renewed_at = now() - interval '9 s' where run_id = $1",
    [run_id],
  )
}

export async function rowOf(test: TestDatabase, runId: string): Promise<Record<string, unknown>> {
  const { rows } = await test.owner.query('select * from parley.runs where run_id = $1', [runId])
  return rows[0]
}

/** Taken permits by the counter and by the rows, and calls in the daily count. */
export async function counted(test: TestDatabase, { tenant_id }: Scope) {
  const { rows } = await test.owner.query(
    `select coalesce((select live from parley.run_counters where tenant_id = $1), 0) as live,
       (select count(*)::int from parley.run_ownership where tenant_id = $1) as permits,
       coalesce((select sum(calls)::int from parley.call_minutes where tenant_id = $1), 0) as calls`,
    [tenant_id],
  )
  return rows[0] as { live: number; permits: number; calls: number }
}

/** Shorthands for operations on runs, bound to the database of the current test. */
export function talesOn(database: () => TestDatabase) {
  const withinOf =
    (scope: Scope) =>
    <Result>(work: (tx: Queries) => Promise<Result>) =>
      database().database.transaction(scope, work)

  async function running(scope: Scope, request = OUTBOUND): Promise<RunOwnership> {
    const run = await owned(database(), scope, request)
    await withinOf(scope)(tx => moveRun(tx, scope, run, { state: 'running' }))
    return run
  }

  const end = (scope: Scope, run: RunOwnership, ending: Partial<RunEnding> = {}) =>
    withinOf(scope)(tx => finishRun(tx, scope, run, { ...('outcome' in ending ? CHAT_OVER : COMPLETED), ...ending }))
  return { withinOf, running, end }
}
