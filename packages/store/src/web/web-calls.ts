import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import { isHeld, isOfCall } from '../runs/ownership.ts'
import type { RunOwnership } from '../runs/protocol.ts'

/** Most SDP fragments that are stored for one offer; a browser sends one for each candidate, or one with all of them. */
const MAX_FRAGMENTS = 30

/** How the browser connects: to the engine, by its offer; or to a room of LiveKit, which the engine joins. */
type WebCallKind = 'direct' | 'livekit'

interface NewWebCall {
  readonly run_id: string
  /** SHA-256 of the token. */
  readonly token_hash: Buffer
  readonly validForMs: number
  /** The site key of the page that makes the call; null: the call was created with an API key or by a person. */
  readonly site_key_id: string | null
  /** Default direct. */
  readonly kind?: WebCallKind
}

/** The offer, the answer and the candidates that browser and engine of a call have exchanged so far. */
export interface WebCallRow {
  readonly kind: WebCallKind
  /** Time until the token expires, ms; 0: it has expired. */
  readonly left_ms: number
  /** Number of offers so far; the following fields belong to the newest. */
  readonly attempt: number
  readonly offer: string | null
  readonly answer: string | null
  readonly refusal: string | null
  /** SDP fragments (RFC 8840), in their order. */
  readonly candidates: readonly string[]
  readonly hung_up: boolean
}

/** Makes the admitted run a web call that waits for its first offer until the token expires; returns that time (ISO). */
export async function insertWebCall(tx: Queries, scope: Scope, call: NewWebCall): Promise<string> {
  const { run_id, token_hash, validForMs, site_key_id, kind = 'direct' } = call
  const { rows } = await sql<{ expires_at: string }>`
    with waiting as (
      update parley.run_ownership o set start_before = parley.now_ms() + ${validForMs}::integer * interval '1 ms'
      where o.tenant_id = ${scope.tenant_id}::uuid and o.run_id = ${run_id}::uuid returning o.start_before
    )
    insert into parley.web_calls (tenant_id, run_id, token_hash, expires_at, site_key_id, kind)
    select ${scope.tenant_id}::uuid, ${run_id}::uuid, ${token_hash}, start_before, ${site_key_id}::uuid, ${kind}::text
    from waiting
    returning expires_at`.execute(tx)
  return rows[0]!.expires_at
}

function ofRun(scope: Scope, runId: string) {
  return sql`w.tenant_id = ${scope.tenant_id}::uuid and w.run_id = ${runId}::uuid`
}

function isLive(scope: Scope, runId: string) {
  return sql`exists (select from parley.run_ownership o where ${isOfCall('o', scope, runId)})`
}

/** Stores the first offer and the secret for later ones. False: the token was used or has expired, or the run is over. */
export async function storeFirstOffer(
  tx: Queries,
  scope: Scope,
  runId: string,
  offer: string,
  resumeHash: Buffer,
): Promise<boolean> {
  const { rows } = await sql`
    update parley.web_calls w set attempt = 1, offer = ${offer}::text, resume_hash = ${resumeHash}
    where ${ofRun(scope, runId)} and w.attempt = 0 and w.expires_at > clock_timestamp() and ${isLive(scope, runId)}
    returning w.run_id`.execute(tx)
  return rows.length === 1
}

/** Stores the offer of a page that connects again; returns its number. Null: the run is over. */
export async function storeNextOffer(tx: Queries, scope: Scope, runId: string, offer: string): Promise<number | null> {
  const { rows } = await sql<{ attempt: number }>`
    update parley.web_calls w set attempt = w.attempt + 1, offer = ${offer}::text, answer = null, refusal = null,
      candidates = '{}'
    where ${ofRun(scope, runId)} and not w.hung_up and ${isLive(scope, runId)}
    returning w.attempt`.execute(tx)
  return rows[0]?.attempt ?? null
}

/** The id that the browser has for a live web call: that of the run itself or, after an agent swap, that of the first run of the call. */
export async function webCallRunId(db: Queries, scope: Scope, runId: string): Promise<string> {
  const { rows } = await sql<{ first_run_id: string | null }>`
    select o.first_run_id from parley.run_ownership o
    where o.tenant_id = ${scope.tenant_id}::uuid and o.run_id = ${runId}::uuid`.execute(db)
  return rows[0]?.first_run_id ?? runId
}

/** Null: the run is no web call. */
export async function readWebCall(db: Queries, scope: Scope, runId: string): Promise<WebCallRow | null> {
  const { rows } = await sql<WebCallRow>`
    select w.kind, w.attempt, w.offer, w.answer, w.refusal, w.candidates, w.hung_up,
      greatest(0, extract(epoch from w.expires_at - clock_timestamp()) * 1000)::float8 as left_ms
    from parley.web_calls w where ${ofRun(scope, runId)}`.execute(db)
  return rows[0] ?? null
}

/**
 * Stores the answer to an offer in the web call of the run `runId`, or why there is none. `owned`: that run, or the run that continues
 * its call. False: this process no longer owns that run, or the browser has made a newer offer.
 */
export async function settleWebOffer(
  tx: Queries,
  scope: Scope,
  runId: string,
  owned: RunOwnership,
  attempt: number,
  { answer, refusal }: { readonly answer?: string; readonly refusal?: string },
): Promise<boolean> {
  const { rows } = await sql`
    update parley.web_calls w set answer = ${answer ?? null}::text, refusal = ${refusal ?? null}::text
    where ${ofRun(scope, runId)} and w.attempt = ${attempt}::integer
      and exists (select from parley.run_ownership where ${isHeld(scope, owned)})
    returning w.run_id`.execute(tx)
  return rows.length === 1
}

/** Adds ICE candidates of the browser. False: the call is over, or the browser has sent too many fragments. */
export async function addWebCandidates(tx: Queries, scope: Scope, runId: string, fragment: string): Promise<boolean> {
  const { rows } = await sql`
    update parley.web_calls w set candidates = w.candidates || ${fragment}::text
    where ${ofRun(scope, runId)} and cardinality(w.candidates) < ${MAX_FRAGMENTS}::integer and ${isLive(scope, runId)}
    returning w.run_id`.execute(tx)
  return rows.length === 1
}

/** Records that the user has hung up; the engine of the call then ends it. */
export async function hangUpWebCall(tx: Queries, scope: Scope, runId: string): Promise<void> {
  await sql`update parley.web_calls w set hung_up = true where ${ofRun(scope, runId)}`.execute(tx)
}
