import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import { ownsRun } from './ownership.ts'
import type { OutboxItem, RunOwnership } from './protocol.ts'
import { runAsJson } from './runs.ts'

/** Webhook events that the process which owns a live run adds to the outbox. */
export type OwnerEvent = 'run.started' | 'run.transfer'

/**
 * Adds a webhook of a live run to the outbox if its publication has agent webhooks. `eventId`: a UUID that makes a retry
 * idempotent; default: a new event.
 */
export async function announce(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  event: OwnerEvent,
  eventId: string | null = null,
): Promise<'announced' | 'lost'> {
  if (!(await ownsRun(tx, scope, owned))) return 'lost'
  await add(tx, scope, owned.run_id, event, eventId)
  return 'announced'
}

/** Adds the webhook of a finished analysis; call it in the transaction of `writeAnalysis`, after that returned true. */
export function announceAnalysis(tx: Queries, scope: Scope, runId: string): Promise<void> {
  return add(tx, scope, runId, 'run.analyzed')
}

/** Adds nothing if the run has this event already. A caller that gives an id holds the lock of `ownsRun`, so that no other transaction adds it meanwhile. */
async function add(
  tx: Queries,
  scope: Scope,
  runId: string,
  event: string,
  eventId: string | null = null,
): Promise<void> {
  await sql`
    insert into parley.outbox (tenant_id, run_id, event, event_id)
    select r.tenant_id, r.run_id, ${event}::text, coalesce(${eventId}::uuid, parley.uuidv7()) from parley.runs r
    where r.tenant_id = ${scope.tenant_id}::uuid and r.run_id = ${runId}::uuid and r.notifies and not exists (
      select from parley.outbox b
      where b.tenant_id = r.tenant_id and b.run_id = r.run_id and b.event_id = ${eventId}::uuid
    )`.execute(tx)
  await snapshotPending(tx, scope, runId, event)
}

/** Stores the run's current representation in its webhook of this event, if that waits for one. One statement. */
export async function snapshotPending(tx: Queries, scope: Scope, runId: string, event: string): Promise<void> {
  await sql`
    update parley.outbox set payload = ${runAsJson(tx, scope, runId)}
    where tenant_id = ${scope.tenant_id}::uuid and run_id = ${runId}::uuid and event = ${event}::text
      and payload is null and settled_at is null`.execute(tx)
}

/**
 * Leases due webhooks of one environment for `leaseMs`, the one that has been due longest first; of each run only the first that is not
 * settled. The statement reads few rows regardless of the backlog.
 */
export async function takeWebhooks(tx: Queries, scope: Scope, leaseMs: number, atMost: number): Promise<OutboxItem[]> {
  const { rows } = await sql<Omit<OutboxItem, 'scope'>>`
    with due as (
      select b.tenant_id, b.run_id, b.outbox_id from parley.outbox b
      where b.tenant_id = ${scope.tenant_id}::uuid and b.delivered is null
        and b.next_at <= statement_timestamp()
        and (b.lease_until is null or b.lease_until <= clock_timestamp())
        and not exists (
          select from parley.outbox earlier
          where earlier.tenant_id = b.tenant_id and earlier.run_id = b.run_id and earlier.outbox_id < b.outbox_id
            and earlier.settled_at is null
        )
      order by b.next_at limit ${atMost}::integer
      for no key update of b skip locked
    )
    update parley.outbox b
    set attempts = b.attempts + 1, lease_until = parley.now_ms() + ${leaseMs}::integer * interval '1 ms'
    from due where b.tenant_id = due.tenant_id and b.run_id = due.run_id and b.outbox_id = due.outbox_id
    returning b.outbox_id, b.run_id, b.event_id, b.event, b.payload, b.occurred_at, b.attempts`.execute(tx)
  return rows.map(row => ({ ...row, scope }))
}

/** Ms until the next webhook of the environment without a lease is due, 0 if overdue; null: there is none. */
export async function nextWebhookDueInMs(tx: Queries, scope: Scope): Promise<number | null> {
  const { rows } = await sql<{ in_ms: number }>`
    select greatest(0, ceil(extract(epoch from b.next_at - clock_timestamp()) * 1000))::integer as in_ms
    from parley.outbox b
    where b.tenant_id = ${scope.tenant_id}::uuid and b.delivered is null
      and (b.lease_until is null or b.lease_until <= clock_timestamp())
    order by b.next_at limit 1`.execute(tx)
  return rows[0]?.in_ms ?? null
}

/** Result of a send: delivered, abandoned, or to be retried. */
export type SendResult =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'given_up' }
  | { readonly kind: 'again'; readonly inMs: number }

/** Settles a send; false: another sender has the lease. The run's next webhook is due only after this one is settled. */
export async function settleSend(tx: Queries, item: OutboxItem, result: SendResult): Promise<boolean> {
  const isOver = result.kind !== 'again'
  const inMs = result.kind === 'again' ? result.inMs : 0
  const { rows } = await sql`
    with settled as (
      update parley.outbox set lease_until = null,
        settled_at = case when ${isOver}::boolean then parley.now_ms() end,
        delivered = case when ${isOver}::boolean then ${result.kind === 'delivered'}::boolean end,
        next_at = parley.now_ms() + ${inMs}::double precision * interval '1 ms'
      where tenant_id = ${item.scope.tenant_id}::uuid and run_id = ${item.run_id}::uuid
        and outbox_id = ${item.outbox_id}::bigint and attempts = ${item.attempts}::integer
        and settled_at is null and lease_until > clock_timestamp()
      returning tenant_id, run_id, outbox_id, settled_at, next_at
    ), behind as (
      update parley.outbox b set next_at = settled.next_at from settled
      where settled.settled_at is null and b.tenant_id = settled.tenant_id and b.run_id = settled.run_id
        and b.outbox_id > settled.outbox_id and b.settled_at is null and b.next_at < settled.next_at
    )
    select from settled`.execute(tx)
  return rows.length === 1
}
