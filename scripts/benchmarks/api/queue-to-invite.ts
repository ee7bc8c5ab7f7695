import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { pollUntil } from '../../proofs/calls/poll-until.ts'
import { quantile } from '../quantile.ts'
import { type EventLoops, eventLoops } from './event-loops.ts'
import { round, typicalAndSlow } from './figures.ts'
import { ask } from './load.ts'
import { LINE, type QueueHarness, type QueueKind } from './queue-harness.ts'

/** Calls before V8 has compiled the hot code; an engine's first calls use a whole core for some seconds. */
const WARM_UP_CALLS = 25
const ALL_WITHIN_MS = 60_000
const SOME_AT_ONCE = 16

interface QueueToInvite {
  readonly calls: number
  /** Calls that are requested per second, evenly spaced. */
  readonly rate: number
  /** Calls before those that count; default 25. */
  readonly warmUpCalls?: number
}

export interface QueueRow {
  readonly what: 'queue to INVITE'
  readonly queue: QueueKind
  readonly calls: number
  readonly rate: number
  /** From the run's `created_at` (in the transaction that admits it) to the first INVITE at the carrier. */
  readonly p50_ms: number
  readonly p99_ms: number
  /** Of that, until an engine had the run. */
  readonly claimed_p50_ms: number
  readonly claimed_p99_ms: number
  /** From the sending of `POST /runs` to the INVITE. */
  readonly request_p50_ms: number
  readonly request_p95_ms: number
  /** From the answer to `POST /runs` to the INVITE. */
  readonly after_answer_p50_ms: number
  readonly after_answer_p99_ms: number
  readonly event_loop: EventLoops
}

interface Ordered {
  readonly askedAt: number
  readonly answeredAt: number
}

/** Unix ms, all of one machine's clock, as in {@link Ordered}. */
interface Times {
  readonly createdAt: number
  readonly claimedAt: number
}

/** Creates calls at a steady rate. Rejects if one is not admitted, or if the carrier does not see exactly one INVITE of it. */
export async function measureQueue(
  harness: QueueHarness,
  { calls, rate, warmUpCalls = WARM_UP_CALLS }: QueueToInvite,
): Promise<QueueRow> {
  await invited(harness, await ordered(harness, warmUpCalls, rate))
  await eventLoops(harness)
  const orders = await ordered(harness, calls, rate)
  const invites = await invited(harness, orders)
  const event_loop = await eventLoops(harness)
  const times = await timesOf(harness)
  const lasted = (since: (to: string) => number) => [...invites].map(([to, at]) => at - since(to))
  const request = lasted(to => orders.get(to)!.askedAt)
  const claimed = typicalAndSlow([...invites.keys()].map(to => times.get(to)!.claimedAt - times.get(to)!.createdAt))
  const afterAnswer = typicalAndSlow(lasted(to => orders.get(to)!.answeredAt))
  return {
    what: 'queue to INVITE',
    queue: harness.queue,
    calls,
    rate,
    ...typicalAndSlow(lasted(to => times.get(to)!.createdAt)),
    claimed_p50_ms: claimed.p50_ms,
    claimed_p99_ms: claimed.p99_ms,
    request_p50_ms: round(quantile(request, 0.5), 2),
    request_p95_ms: round(quantile(request, 0.95), 2),
    after_answer_p50_ms: afterAnswer.p50_ms,
    after_answer_p99_ms: afterAnswer.p99_ms,
    event_loop,
  }
}

/** When each call was requested and answered by the API, by called number. */
async function ordered(harness: QueueHarness, count: number, rate: number): Promise<Map<string, Ordered>> {
  const { url, key } = harness.calls
  const agent = new Agent({ keepAlive: true, maxSockets: SOME_AT_ONCE })
  const orders = new Map<string, Ordered>()
  const begun = performance.now()
  const one = async (index: number) => {
    await pause(Math.max(0, begun + (index * 1000) / rate - performance.now()))
    const order = harness.order()
    const askedAt = wallNow()
    await ask(new URL(url), key, agent, order.ask)
    orders.set(order.to, { askedAt, answeredAt: wallNow() })
  }
  try {
    await Promise.all(Array.from({ length: count }, (_, index) => one(index)))
    return orders
  } finally {
    agent.destroy()
  }
}

/** Time of the first INVITE at the carrier (challenged or not) by called number, Unix ms. */
async function invited(harness: QueueHarness, requested: ReadonlyMap<string, Ordered>): Promise<Map<string, number>> {
  const carrier = harness.calls.carrier(LINE)
  const seen = await pollUntil(ALL_WITHIN_MS, async () => {
    const invites = carrier.rows().filter(({ kind, called }) => kind === 'invite' && requested.has(called))
    return invites.length >= requested.size ? invites : null
  })
  const numbers = new Set(seen?.map(({ called }) => called))
  if (seen?.length !== requested.size || numbers.size !== requested.size) {
    const outputs = harness.calls.processes.map(({ roles, output }) => `${roles}:\n${output.slice(-3000)}`)
    throw new Error(
      `${numbers.size} of ${requested.size} calls reached the carrier exactly once\n${outputs.join('\n')}`,
    )
  }
  const first = new Map<string, number>()
  for (const { kind, called, wall_ms } of carrier.rows())
    if ((kind === 'challenged' || kind === 'invite') && requested.has(called) && !first.has(called))
      first.set(called, wall_ms)
  return first
}

async function timesOf(harness: QueueHarness): Promise<Map<string, Times>> {
  const rows = await harness.calls.rows<{ to_number: string; created_at: Date; claimed_at: Date }>(
    `select r.to_number, r.created_at, min(e.at) as claimed_at
     from parley.runs r join parley.run_events e on e.tenant_id = r.tenant_id and e.run_id = r.run_id
     where e.kind = 'state' and e.fields ->> 'phone_state' = 'preparing'
     group by r.to_number, r.created_at`,
  )
  return new Map(
    rows.map(row => [row.to_number, { createdAt: row.created_at.getTime(), claimedAt: row.claimed_at.getTime() }]),
  )
}

function wallNow(): number {
  return performance.timeOrigin + performance.now()
}
