import type { Scope } from '@parley/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { JsonObject, RunChannel, RunMode } from '../schema-runs.ts'
import type { RunOwner, RunOwnership } from './protocol.ts'

/** A run as it is asked for; its publication must be there, channel, numbers, secrets and models were checked. */
export interface RunRequest {
  /** Default: a new one. */
  readonly run_id?: string
  readonly agent_id: string
  readonly version: number
  readonly channel: RunChannel
  readonly mode: RunMode
  readonly trigger: JsonObject
  /** Of a test publication: the spend cap does not touch it, and it is not billed. */
  readonly test: boolean
  readonly from_number: string | null
  readonly to_number: string | null
  readonly trunk_id: string | null
  readonly dynamic_variables: Readonly<Record<string, string>>
  readonly metadata: JsonObject | null
  readonly caller_identity: JsonObject | null
  /** The API key that asked; null for people, inbound calls and jobs. */
  readonly key_id: string | null
  readonly can_dial: boolean
  /** Whether the publication has agent webhooks: then they get into the outbox. */
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
      /** Decimal; null where the reason has none. USD for `spend_cap`, else a count. */
      readonly limit: string | null
      readonly used: string | null
      /** Of the rejected run that was left behind, where that was asked for. */
      readonly run_id: string | null
    }

export interface AdmissionOptions {
  /** Who owns the run from the start, and for how long unless renewed: an engine that answers an INVITE. Default: nobody. */
  readonly owner?: RunOwner & { readonly leaseMs: number }
  /** Leaves a `rejected` run behind when refused: inbound calls. Default false: a refusal creates nothing. */
  readonly keepRefused?: boolean
}

/** What a call of `parley.admit_run` (or a planted copy of it) answers. */
export interface AdmittedRow {
  readonly run_id: string | null
  readonly created_at: string | null
  readonly fence: string
  readonly refused: AdmissionRefusal | null
  readonly limit_value: string | null
  readonly used_value: string | null
}

/**
 * Takes a permit and makes the run, or says what refused it. Exact under any race: the environment's admissions take
 * turns from here to the commit, so call it last in the transaction.
 */
export async function admitRun(
  tx: Queries,
  scope: Scope,
  request: RunRequest,
  options: AdmissionOptions = {},
): Promise<Admission> {
  return admitBy(sql`parley.admit_run`, tx, scope, request, options)
}

/** As {@link admitRun}, by another function of the database. */
export async function admitBy(
  admit: RawBuilder<unknown>,
  tx: Queries,
  scope: Scope,
  request: RunRequest,
  { owner, keepRefused = false }: AdmissionOptions = {},
): Promise<Admission> {
  const { rows } = await sql<AdmittedRow>`
    select run_id, created_at, fence, refused, trim_scale(limit_value) as limit_value, trim_scale(used_value) as used_value
    from ${admit}(
      ${scope.tenant_id}::uuid, ${JSON.stringify(request)}::jsonb, ${owner?.engine ?? null}::text,
      ${owner?.worker ?? null}::text, ${owner?.leaseMs ?? null}::integer, ${keepRefused}::boolean
    )`.execute(tx)
  const { run_id, created_at, fence, refused, limit_value, used_value } = rows[0]!
  if (refused !== null) return { kind: 'refused', reason: refused, limit: limit_value, used: used_value, run_id }
  if (run_id === null || created_at === null) throw new TypeError('an admitted run has an id and a time')
  return { kind: 'admitted', run_id, created_at, owned: owner === undefined ? null : { run_id, fence } }
}

/**
 * Counts a transfer in the daily limit, as its REFER or INVITE leaves. Null: counted; else the limit and what is used of
 * it, and it must not be sent. The environment's admissions wait for the commit.
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
