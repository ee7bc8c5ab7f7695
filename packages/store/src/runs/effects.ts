import { createHash } from 'node:crypto'
import type { Scope } from '@parley/contract'
import type { ParleyError } from '@parley/kernel'
import { type RawBuilder, sql } from 'kysely'
import { StoreError } from '../errors.ts'
import type { Queries } from '../protocol.ts'
import type { JsonObject, StoredEffectState } from '../schema-runs.ts'
import { heldRow } from './ownership.ts'
import type { Measurement, RunOwnership } from './protocol.ts'

/** Who may write effects: the owner of the run, or the sender of one of its webhooks. */
export type EffectWriter =
  | RunOwnership
  | { readonly run_id: string; readonly outbox_id: string; readonly attempts: number }

export interface NewEffect<Kind = string> {
  /** Idempotency key, opaque and unique within the run: the same key over retries is the same effect. */
  readonly effect_key: string
  readonly kind: Kind
  readonly action: { readonly id: string; readonly version: number }
  readonly node_id: string | null
  readonly ordinal: number | null
  /** Whether the request is idempotent: sending it twice has the effect of sending it once. Default false. */
  readonly idempotent?: boolean
  readonly attempt_id?: string | null
}

export interface StoredDecision {
  readonly decision: 'allow' | 'deny' | 'unavailable'
  readonly reason: string | null
  readonly policy_version: string
}

/** An effect as in the effects resource. Kinds, decisions and receipts are returned as stored. */
export interface EffectRow<Kind = string, Decision = StoredDecision, Receipt = JsonObject> {
  readonly effect_id: string
  readonly run_id: string
  readonly attempt_id: string | null
  readonly effect_key: string
  readonly action: { readonly id: string; readonly version: number }
  readonly effect_kind: Kind
  readonly node_id: string | null
  readonly ordinal: number | null
  readonly state: StoredEffectState
  readonly decision: Decision | null
  readonly send_attempts: number
  readonly receipts: readonly Receipt[]
  readonly error_code: string | null
  readonly created_at: string
  readonly settled_at: string | null
}

export interface EffectSettlement<Receipt = JsonObject> {
  readonly state: 'succeeded' | 'failed' | 'uncertain'
  readonly receipts?: readonly Receipt[]
  readonly error_code?: string | null
}

const RECORD = sql.raw(`e.effect_id, e.run_id, e.attempt_id, e.effect_key,
  jsonb_build_object('id', e.action_id, 'version', e.action_version) as action, e.effect_kind, e.node_id, e.ordinal,
  e.state, e.decision, e.send_attempts, e.receipts, e.error_code, e.created_at, e.settled_at`)

/** Kinds that act on third parties: sent only after a decision "allow". */
const JUDGED_KINDS = "array['http', 'sip_dial', 'sip_transfer', 'run_admission']"
const JUDGED = sql.raw(JUDGED_KINDS)

/** Reason why an acting effect may not be sent now, regardless of its policy decision; null: none. */
const DENIAL = sql.raw(`case
  when e.effect_kind <> all (${JUDGED_KINDS}) then null
  when held.cancel_asked then 'run_not_active'
  when held.is_owner and exists (
    select from parley.runs r
    left join parley.api_keys k on k.tenant_id = r.tenant_id and k.key_id = r.key_id
    left join parley.members m on m.user_id = r.user_id
    left join parley.web_calls w on w.tenant_id = r.tenant_id and w.run_id = r.run_id
    left join parley.site_keys s on s.tenant_id = w.tenant_id and s.site_key_id = w.site_key_id
    where r.tenant_id = held.tenant_id and r.run_id = held.run_id
      and (k.revoked_at is not null or m.removed_at is not null or s.revoked_at is not null)
  ) then 'key_revoked' end`)

/** The decision, replaced by that denial. */
function denied(decision: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`${decision} || jsonb_build_object('decision', 'deny', 'reason', ${DENIAL})`
}

/** The id of a run's effect, derived from the key, so that one index keeps both unique. */
export function effectIdOf(runId: string, effectKey: string): string {
  const digest = createHash('sha256').update(`${runId}/${effectKey}`).digest()
  // UUID version 8 (RFC 9562 section 5.8): its other bits are free to choose.
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x80, 6)
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = digest.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

/** In order of creation. */
export async function listEffects(db: Queries, scope: Scope, runId: string): Promise<EffectRow[]> {
  const { rows } = await sql<EffectRow>`
    select ${RECORD} from parley.run_effects e
    where e.tenant_id = ${scope.tenant_id}::uuid and e.run_id = ${runId}::uuid order by e.place`.execute(db)
  return rows
}

/**
 * Records an intended effect; returns the existing record if the key was intended before. Throws `run_lost`, and
 * `effect_key_taken` when the key belongs to another action.
 */
export async function intendEffect(
  tx: Queries,
  scope: Scope,
  writer: EffectWriter,
  effect: NewEffect,
): Promise<EffectRow> {
  const made = await insertEffect(tx, scope, writer, effect)
  if (made !== null) return made
  const there = await stillMine(tx, scope, writer, effectIdOf(writer.run_id, effect.effect_key))
  if (there === null) throw lost(writer)
  if (there.action.id !== effect.action.id || there.effect_kind !== effect.kind)
    throw new StoreError(
      'effect_key_taken',
      `the effect key "${effect.effect_key}" belongs to another effect of the run: use a new key`,
    )
  return there
}

/** Records an intended effect in one statement; null: {@link intendEffect} tells why it did not. */
export async function insertEffect(
  tx: Queries,
  scope: Scope,
  writer: EffectWriter,
  effect: NewEffect,
): Promise<EffectRow | null> {
  const effectId = effectIdOf(writer.run_id, effect.effect_key)
  const { rows } = await sql<EffectRow>`
    with held as ${writerRow(scope, writer)}
    insert into parley.run_effects as e (
      tenant_id, run_id, effect_id, effect_key, attempt_id, action_id, action_version, effect_kind, idempotent, node_id, ordinal
    )
    select held.tenant_id, held.run_id, ${effectId}::uuid, ${effect.effect_key}::text, ${effect.attempt_id ?? null}::uuid,
      ${effect.action.id}::text, ${effect.action.version}::integer, ${effect.kind}::text, ${effect.idempotent ?? false}::boolean,
      ${effect.node_id}::text, ${effect.ordinal}::integer
    from held
    on conflict (tenant_id, run_id, effect_id) do nothing
    returning ${RECORD}`.execute(tx)
  return rows[0] ?? null
}

/**
 * Stores the policy decision. If the run's API key is revoked, its member removed, or the run is being ended, "allow" for an acting effect
 * becomes "deny" (`key_revoked`, `run_not_active`).
 */
export function policyDecision(decision: StoredDecision): EffectStep {
  return decided(decision, 'intended')
}

/** As {@link policyDecision}; an effect that is allowed is sent now, as by {@link sending}: the two steps in one. */
export function permission(decision: StoredDecision): EffectStep {
  return decided(decision, 'sending')
}

function decided(decision: StoredDecision, allowed: 'intended' | 'sending'): EffectStep {
  const verdict = sql`case
    when ${decision.decision}::text <> 'allow' or ${DENIAL} is null then ${JSON.stringify(decision)}::jsonb
    else ${denied(sql`${JSON.stringify(decision)}::jsonb`)} end`
  const isDenied = sql`${verdict} ->> 'decision' <> 'allow'`
  const sends = allowed === 'sending' ? 1 : 0
  return {
    set: sql`decision = ${verdict},
      state = case when ${isDenied} then 'failed' else ${allowed}::text end,
      send_attempts = case when ${isDenied} then 0 else ${sends}::integer end,
      error_code = case ${verdict} ->> 'decision' when 'deny' then 'policy_denied' when 'unavailable' then 'policy_unavailable' end,
      settled_at = case when ${isDenied} then parley.now_ms() end`,
    when: sql`e.state = 'intended' and e.decision is null`,
  }
}

/**
 * Call it before each send. An allowed effect that was not sent is denied if the run's API key was revoked since or the
 * run is being ended: its state is `failed` then, and it may not be sent. Throws as {@link stepEffect}.
 */
export function sendEffect(tx: Queries, scope: Scope, writer: EffectWriter, effectId: string): Promise<EffectRow> {
  return stepEffect(tx, scope, writer, effectId, sending())
}

/** The step of {@link sendEffect}. */
export function sending(): EffectStep {
  const isDenied = sql`(e.send_attempts = 0 and ${DENIAL} is not null)`
  return {
    set: sql`state = case when ${isDenied} then 'failed' else 'sending' end,
      send_attempts = e.send_attempts + case when ${isDenied} then 0 else 1 end,
      decision = case when ${isDenied} then ${denied(sql`e.decision`)} else e.decision end,
      error_code = case when ${isDenied} then 'policy_denied' end,
      settled_at = case when ${isDenied} then parley.now_ms() end`,
    when: sql`e.state in ('intended', 'sending') and (e.decision ->> 'decision' = 'allow'
      or (e.decision is null and e.effect_kind <> all (${JUDGED})))`,
  }
}

/** Stores the result of the effect. Throws as {@link stepEffect}. */
export function settleEffect(
  tx: Queries,
  scope: Scope,
  writer: EffectWriter,
  effectId: string,
  outcome: EffectSettlement,
): Promise<EffectRow> {
  return stepEffect(tx, scope, writer, effectId, settlement(outcome))
}

/** The step of {@link settleEffect}. */
export function settlement({ state, receipts = [], error_code = null }: EffectSettlement): EffectStep {
  return {
    set: sql`state = ${state}::text, receipts = e.receipts || ${JSON.stringify(receipts)}::jsonb,
      error_code = ${error_code}::text, settled_at = parley.now_ms()`,
    // An effect that was not sent can only fail; a sent one can also succeed or be uncertain.
    when: sql`(e.state = 'sending' or (e.state = 'intended' and ${state}::text = 'failed'))`,
  }
}

/** A model request. It does not act on third parties, so it is recorded afterwards. */
export interface InferenceEffect extends NewEffect, EffectSettlement {
  /** ISO time of sending. */
  readonly created_at: string
  /** What the run used since the inference before. Default: nothing. */
  readonly usage?: readonly Measurement[]
}

/** Writes many in one statement; existing ones are unchanged. */
export async function recordInference(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  effects: readonly InferenceEffect[],
): Promise<'recorded' | 'lost'> {
  const answer = await sql`
    with held as ${heldRow(scope, owned)}, made as (${inferenceInsert(owned.run_id, effects)})
    select from held`.execute(tx)
  return answer.rows.length === 1 ? 'recorded' : 'lost'
}

/** Inserts the model requests of the run in the relation `held`. */
export function inferenceInsert(runId: string, effects: readonly InferenceEffect[]): RawBuilder<unknown> {
  const rows = effects.map(effect => ({
    ...effect,
    effect_id: effectIdOf(runId, effect.effect_key),
    action_id: effect.action.id,
    action_version: effect.action.version,
    receipts: effect.receipts ?? [],
  }))
  return sql`
      insert into parley.run_effects (
        tenant_id, run_id, effect_id, effect_key, attempt_id, action_id, action_version, effect_kind, idempotent, node_id, ordinal,
        state, send_attempts, receipts, error_code, created_at, settled_at, usage
      )
      select held.tenant_id, held.run_id, e.effect_id, e.effect_key, e.attempt_id, e.action_id, e.action_version,
        'gateway_inference', true, e.node_id, e.ordinal, e.state, 1, e.receipts, e.error_code, e.created_at, parley.now_ms(), e.usage
      from held, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as e (
        effect_id uuid, effect_key text, attempt_id uuid, action_id text, action_version integer, node_id text, ordinal integer,
        state text, receipts jsonb, error_code text, created_at timestamptz, usage jsonb
      )
      on conflict do nothing`
}

/** What a run used, as far as its ledger knows. */
export async function usageInLedger(tx: Queries, scope: Scope, runId: string): Promise<Measurement[]> {
  const { rows } = await sql<Measurement>`
    select u.meter, u.provider, u.model_id, sum(u.quantity)::float8 as quantity
    from parley.run_effects e,
      jsonb_to_recordset(e.usage) as u (meter text, provider text, model_id text, quantity bigint)
    where e.tenant_id = ${scope.tenant_id}::uuid and e.run_id = ${runId}::uuid and e.usage is not null
    group by u.meter, u.provider, u.model_id`.execute(tx)
  return rows
}

/** A step of an effect. */
export interface EffectStep {
  readonly set: RawBuilder<unknown>
  /** States from which the step is allowed, checked in the same statement. */
  readonly when: RawBuilder<unknown>
}

/** Takes a step in one statement; null: {@link stepEffect} tells why it did not. */
export async function tryStep(
  tx: Queries,
  scope: Scope,
  writer: EffectWriter,
  effectId: string,
  { set, when }: EffectStep,
): Promise<EffectRow | null> {
  const { rows } = await sql<EffectRow>`
    with held as ${writerRow(scope, writer)}
    update parley.run_effects e set ${set} from held
    where e.tenant_id = held.tenant_id and e.run_id = held.run_id and e.effect_id = ${effectId}::uuid and ${when}
    returning ${RECORD}`.execute(tx)
  return rows[0] ?? null
}

/** Takes a step. Throws `effect_step_not_allowed`, `effect_not_found`, `run_lost`. */
export async function stepEffect(
  tx: Queries,
  scope: Scope,
  writer: EffectWriter,
  effectId: string,
  step: EffectStep,
): Promise<EffectRow> {
  const stepped = await tryStep(tx, scope, writer, effectId, step)
  if (stepped !== null) return stepped
  const there = await stillMine(tx, scope, writer, effectId)
  if (there === null) throw new StoreError('effect_not_found', `the run has no effect with the id ${effectId}`)
  throw new StoreError('effect_step_not_allowed', `this step is not allowed for an effect in state "${there.state}"`)
}

/** Reads an effect for a writer; null: it does not exist. Throws `run_lost`. */
async function stillMine(tx: Queries, scope: Scope, writer: EffectWriter, effectId: string): Promise<EffectRow | null> {
  const { rows: held } = await sql`select from ${writerRow(scope, writer)} held`.execute(tx)
  if (held.length === 0) throw lost(writer)
  const { rows } = await sql<EffectRow>`
    select ${RECORD} from parley.run_effects e
    where e.tenant_id = ${scope.tenant_id}::uuid and e.run_id = ${writer.run_id}::uuid and e.effect_id = ${effectId}::uuid`.execute(
    tx,
  )
  return rows[0] ?? null
}

function writerRow(scope: Scope, writer: EffectWriter): RawBuilder<unknown> {
  if ('fence' in writer) return sql`(select held.*, true as is_owner from ${heldRow(scope, writer)} held)`
  return sql`(select tenant_id, run_id, false as cancel_asked, false as is_owner from parley.outbox
    where tenant_id = ${scope.tenant_id}::uuid and run_id = ${writer.run_id}::uuid and outbox_id = ${writer.outbox_id}::bigint
      and attempts = ${writer.attempts}::integer and lease_until > clock_timestamp() for no key update)`
}

function lost({ run_id }: EffectWriter): ParleyError {
  return new StoreError('run_lost', `this process no longer owns the run ${run_id}: write nothing for it`)
}
