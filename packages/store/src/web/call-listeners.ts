import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'

/** Offers of one call that wait or were answered; older ones are removed. */
const MAX_LISTENERS = 100
/** An offer that no engine has answered after this long was lost. */
const ANSWER_MS = 15_000

interface CallListener {
  readonly listener_id: string
  readonly run_id: string
  readonly state: 'waiting' | 'answered' | 'refused'
  readonly answer: string | null
  readonly refusal: string | null
}

const LISTENER = sql.raw(`l.listener_id, l.run_id, l.answer,
  case when l.answer is not null then 'answered'
    when l.refusal is not null or l.created_at < now() - ${ANSWER_MS} * interval '1 ms' then 'refused' else 'waiting' end as state,
  case when l.answer is null and l.created_at < now() - ${ANSWER_MS} * interval '1 ms'
    then coalesce(l.refusal, 'no engine has answered the offer in time') else l.refusal end as refusal`)

/**
 * Stores the offer of a browser that listens to a live call. `run_ended`: the run is over or does not exist; `not_a_call`: it is a run
 * without audio; `listening_disabled`: the environment permits no listening.
 */
export async function insertListener(
  tx: Queries,
  scope: Scope,
  runId: string,
  offer: string,
): Promise<CallListener | 'run_ended' | 'not_a_call' | 'listening_disabled'> {
  const { rows: found } = await sql<{ kind: string; listening_enabled: boolean }>`
    select o.kind, t.listening_enabled
    from parley.run_ownership o join parley.tenants t on t.tenant_id = o.tenant_id
    where o.tenant_id = ${scope.tenant_id}::uuid and o.run_id = ${runId}::uuid for key share of o`.execute(tx)
  const [live] = found
  if (live === undefined) return 'run_ended'
  if (!live.listening_enabled) return 'listening_disabled'
  if (live.kind !== 'phone' && live.kind !== 'web') return 'not_a_call'
  await sql`
    delete from parley.call_listeners l where l.tenant_id = ${scope.tenant_id}::uuid and l.run_id = ${runId}::uuid
      and l.listener_id in (
        select o.listener_id from parley.call_listeners o
        where o.tenant_id = ${scope.tenant_id}::uuid and o.run_id = ${runId}::uuid
        order by o.listener_id desc offset ${MAX_LISTENERS - 1}::integer
      )`.execute(tx)
  const { rows } = await sql<CallListener>`
    insert into parley.call_listeners as l (tenant_id, run_id, offer)
    values (${scope.tenant_id}::uuid, ${runId}::uuid, ${offer}::text) returning ${LISTENER}`.execute(tx)
  return rows[0]!
}

/** Null: there is none, or the run is over. */
export async function readListener(
  db: Queries,
  scope: Scope,
  runId: string,
  listenerId: string,
): Promise<CallListener | null> {
  const { rows } = await sql<CallListener>`
    select ${LISTENER} from parley.call_listeners l
    where l.tenant_id = ${scope.tenant_id}::uuid and l.run_id = ${runId}::uuid and l.listener_id = ${listenerId}::uuid
  `.execute(db)
  return rows[0] ?? null
}

/** Takes the offers of a call that its engine has not read yet; each is taken once. */
export async function takeListenerOffers(
  tx: Queries,
  scope: Scope,
  runId: string,
): Promise<readonly { readonly listener_id: string; readonly offer: string }[]> {
  const { rows } = await sql<{ listener_id: string; offer: string }>`
    update parley.call_listeners l set taken = true
    where l.tenant_id = ${scope.tenant_id}::uuid and l.run_id = ${runId}::uuid and not l.taken
    returning l.listener_id, l.offer`.execute(tx)
  return rows
}

/** Stores the answer to a taken offer, or why there is none. */
export async function settleListener(
  tx: Queries,
  scope: Scope,
  { listener_id, run_id }: { readonly listener_id: string; readonly run_id: string },
  { answer, refusal }: { readonly answer?: string; readonly refusal?: string },
): Promise<void> {
  await sql`
    update parley.call_listeners l set answer = ${answer ?? null}::text, refusal = ${refusal ?? null}::text, offer = ''
    where l.tenant_id = ${scope.tenant_id}::uuid and l.run_id = ${run_id}::uuid and l.listener_id = ${listener_id}::uuid
  `.execute(tx)
}
