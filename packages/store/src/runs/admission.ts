import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { DatabaseError } from 'pg'
import { PreparedQuery } from '../prepared-query.ts'
import type { Queries } from '../protocol.ts'
import type { JsonObject, RunChannel, RunMode } from '../schema-runs.ts'
import type { RunOwner, RunOwnership } from './protocol.ts'

/** A request for a run. The publication must exist; channel, numbers, secrets and models must have been checked. */
export interface RunRequest {
  /** Default: a new one. */
  readonly run_id?: string
  readonly agent_id: string
  readonly version: number
  readonly channel: RunChannel
  readonly mode: RunMode
  readonly trigger: JsonObject
  /** A run of a test publication: it is not billed and does not count towards the spend cap. */
  readonly test: boolean
  readonly from_number: string | null
  readonly to_number: string | null
  readonly trunk_id: string | null
  readonly dynamic_variables: Readonly<Record<string, string>>
  readonly metadata: JsonObject | null
  readonly caller_identity: JsonObject | null
  /** API key of the request; null for people, inbound calls and jobs. */
  readonly key_id: string | null
  /** Member whose session made the request. Default null. */
  readonly user_id?: string | null
  readonly can_dial: boolean
  /** Whether the publication has agent webhooks, which are then written to the outbox. */
  readonly notifies: boolean
}

export type AdmissionRefusal =
  | 'admission_disabled'
  | 'tenant_not_configured'
  | 'spend_cap'
  | 'daily_call_limit'
  | 'concurrent_capacity'

export type Admission =
  | {
      readonly kind: 'admitted'
      readonly run_id: string
      readonly created_at: string
      readonly owned: RunOwnership | null
    }
  | {
      readonly kind: 'refused'
      readonly reason: AdmissionRefusal
      /** Decimal; null if the reason has no limit. USD for `spend_cap`, else a count. */
      readonly limit: string | null
      readonly used: string | null
      /** Id of the `rejected` run, if the request asked for one. */
      readonly run_id: string | null
    }

export interface AdmissionOptions {
  /** First owner of the run and its lease, for an engine that answers an INVITE. Default: none. */
  readonly owner?: RunOwner & { readonly leaseMs: number }
  /** Creates a `rejected` run on refusal, for inbound calls. Default false: a refusal creates nothing. */
  readonly keepRefused?: boolean
}

/** Result row of `parley.admit_run`, or of a copy of it with a planted fault. */
export interface AdmittedRow {
  readonly run_id: string | null
  readonly created_at: string | null
  readonly fence: string
  readonly refused: AdmissionRefusal | null
  readonly limit_value: string | null
  readonly used_value: string | null
}

interface AdmissionGiven {
  readonly tenant_id: string
  /** JSON. */
  readonly request: string
  readonly engine: string | null
  readonly worker: string | null
  readonly lease_ms: number | null
  readonly keep_refused: boolean
}

/** A call of `parley.admit_run`, or of a copy of it with a planted fault. */
export function admissionBy(admit: string): PreparedQuery<AdmissionGiven, AdmittedRow> {
  return new PreparedQuery(
    (_, { tenant_id, request, engine, worker, lease_ms, keep_refused }: AdmissionGiven) => sql<AdmittedRow>`
    select run_id, created_at, fence, refused, trim_scale(limit_value) as limit_value, trim_scale(used_value) as used_value
    from ${sql.ref(admit)}(
      ${tenant_id}::uuid, ${request}::jsonb, ${engine}::text, ${worker}::text, ${lease_ms}::integer, ${keep_refused}::boolean
    )`,
  )
}

const admission = admissionBy('parley.admit_run')

/**
 * Takes a permit and creates the run, or returns the reason of the refusal. Limits are exact: admissions of the
 * environment are serialised from here to the commit, so call it last in the transaction.
 */
export async function admitRun(
  tx: Queries,
  scope: Scope,
  request: RunRequest,
  options: AdmissionOptions = {},
): Promise<Admission> {
  return admitBy(admission, tx, scope, request, options)
}

/** As {@link admitRun}, by another database function. */
export async function admitBy(
  admit: PreparedQuery<AdmissionGiven, AdmittedRow>,
  tx: Queries,
  scope: Scope,
  request: RunRequest,
  { owner, keepRefused = false }: AdmissionOptions = {},
): Promise<Admission> {
  const rows = await admit.rows(tx, {
    tenant_id: scope.tenant_id,
    request: JSON.stringify(request),
    engine: owner?.engine ?? null,
    worker: owner?.worker ?? null,
    lease_ms: owner?.leaseMs ?? null,
    keep_refused: keepRefused,
  })
  const { run_id, created_at, fence, refused, limit_value, used_value } = rows[0]!
  if (refused !== null) return { kind: 'refused', reason: refused, limit: limit_value, used: used_value, run_id }
  if (run_id === null || created_at === null)
    throw new TypeError('parley.admit_run returned an admitted run without run_id or created_at')
  return { kind: 'admitted', run_id, created_at, owned: owner === undefined ? null : { run_id, fence } }
}

/** Names a run and its time before it is admitted, so that its answer can be made before (`lockAgentForRun`). */
export interface NewRun {
  readonly run_id: string
  readonly created_at: string
}

/** An admission that was refused after its answer was made: the transaction can only be rolled back. */
export class RefusedAdmission extends Error {
  readonly refused: Pick<Extract<Admission, { readonly kind: 'refused' }>, 'reason' | 'limit' | 'used'>

  constructor(refused: RefusedAdmission['refused']) {
    super(`the run is refused: ${refused.reason}`)
    this.refused = refused
  }
}

const admissionOrFailure = new PreparedQuery(
  (_, { tenant_id, request }: { readonly tenant_id: string; readonly request: string }) =>
    sql`select from parley.admit_run(${tenant_id}::uuid, ${request}::jsonb, null, null, null, false, true)`,
)

/** The condition with which `parley.admit_run` refuses such a run. */
const REFUSED = 'PA001'

/**
 * As {@link admitRun}, for a run whose answer is made already: the last statement before COMMIT, so that the environment's other
 * admissions wait for that alone. Throws `RefusedAdmission`.
 */
export async function admitWithAnswer(tx: Queries, scope: Scope, request: RunRequest & NewRun): Promise<void> {
  try {
    await admissionOrFailure.execute(tx, { tenant_id: scope.tenant_id, request: JSON.stringify(request) })
  } catch (error) {
    if (error instanceof DatabaseError && error.code === REFUSED)
      throw new RefusedAdmission(JSON.parse(error.detail ?? '{}') as RefusedAdmission['refused'])
    throw error
  }
}

/**
 * Counts a transfer towards the daily limit, before its REFER or INVITE is sent. Null: counted. Otherwise the limit and
 * the count so far; the request must not be sent then. Admissions of the environment wait for the commit.
 */
export async function countTransfer(
  tx: Queries,
  scope: Scope,
): Promise<{ readonly limit: number; readonly used: number } | null> {
  const { rows } = await sql<{ daily_limit: number | null; used: number | null }>`
    select * from parley.count_call(${scope.tenant_id}::uuid, date_trunc('minute', parley.now_ms()))`.execute(tx)
  const { daily_limit: limit, used } = rows[0]!
  return limit === null || used === null ? null : { limit, used }
}
