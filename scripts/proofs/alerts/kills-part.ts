import { setTimeout as pause } from 'node:timers/promises'
import { type Random, randomBelow } from '@parley/kernel'
import { pollUntil } from '../calls/poll-until.ts'
import { type AlertPlatform, type Environment, evaluations, hookOf, newRule, ruleWhen } from './alert-platform.ts'
import { ageCalls, seedCalls } from './seeds.ts'

const METRIC = 'call_error_rate_24h'
const FIRST_REQUEST_WITHIN_MS = 120_000
/** The kill comes at a random time within this after the first request. */
const KILL_WITHIN_MS = 400

interface KilledDelivery {
  readonly environment: Environment
  readonly alertId: string
  readonly path: string
  /** Its receiver does not answer until the worker was killed. */
  readonly isHeld: boolean
}

interface KillReport {
  readonly faults: readonly string[]
  /** Deliveries by their status after the kill. */
  readonly statuses: Readonly<Record<string, number>>
  readonly plantedNoticed: boolean
}

/**
 * Rules of `count` environments fire together, and the worker is killed while it sends: half of the receivers never answer, the
 * others after a random time. Nobody gets a notification twice; one that may have arrived is uncertain and blocks its rule until it
 * is acknowledged. Planted fault: the intent of one delivery is deleted before the next worker starts, as if it was never stored.
 */
export async function proveKill(platform: AlertPlatform, count: number, random: Random): Promise<KillReport> {
  const { receiver } = platform
  const deliveries = await Promise.all(
    Array.from({ length: count + 1 }, (_, index) => prepare(platform, index, random)),
  )
  const planted = deliveries[0]!
  await Promise.all(deliveries.map(({ environment }) => seedCalls(environment, { count: 2, state: 'failed' })))
  const isSending = await pollUntil(FIRST_REQUEST_WITHIN_MS, async () =>
    receiver.count(planted.path) > 0 ? true : null,
  )
  if (isSending === null) throw new Error(`no notification was sent: ${platform.output}`)
  await pause(randomBelow(random, KILL_WITHIN_MS))
  await platform.killWorker()
  // A held request that had not left by then is sent by the next worker, and answered.
  const unanswered = new Set(deliveries.filter(({ isHeld, path }) => isHeld && receiver.count(path) > 0))
  for (const { path } of deliveries) receiver.delays.delete(path)
  await planted.environment.sql(
    "update parley.alert_deliveries set in_flight = false, status = 'pending', lease_until = null where tenant_id = $1",
  )
  await platform.startWorker()
  const settled = await Promise.all(deliveries.map(delivery => settle(platform, delivery, unanswered.has(delivery))))
  const [plantedFaults, ...rest] = settled
  const statuses: Record<string, number> = {}
  for (const { status } of rest) statuses[status] = (statuses[status] ?? 0) + 1
  return {
    faults: rest.flatMap(({ faults }) => faults),
    statuses,
    plantedNoticed: plantedFaults!.faults.some(fault => fault.includes('arrived twice')),
  }
}

/** An environment with a rule that has no value yet. Even ones are held; the first is the planted one. */
async function prepare(platform: AlertPlatform, index: number, random: Random): Promise<KilledDelivery> {
  const environment = await platform.environment()
  const path = hookOf(environment)
  const isHeld = index % 2 === 0
  platform.receiver.delays.set(path, isHeld ? null : randomBelow(random, KILL_WITHIN_MS))
  const alertId = await newRule(environment, platform.receiver, METRIC, '0.1')
  return { environment, alertId, path, isHeld }
}

/** Waits for what became of the delivery, and returns what is wrong with it. */
async function settle(
  { receiver }: AlertPlatform,
  { environment, alertId, path }: KilledDelivery,
  isUnanswered: boolean,
): Promise<{ readonly status: string; readonly faults: string[] }> {
  const faults: string[] = []
  const is = (what: string, isSo: Parameters<typeof ruleWhen>[3]) => ruleWhen(environment, alertId, what, isSo)
  const rule = await is('settled', ({ latest_delivery }) =>
    ['delivered', 'uncertain'].includes(latest_delivery?.status),
  )
  const { id, status } = rule.latest_delivery
  if (receiver.count(id) > 1) faults.push(`the delivery ${id} arrived twice`)
  if (status === 'delivered' && receiver.count(id) === 0) faults.push(`the delivery ${id} never arrived`)
  if (isUnanswered && status !== 'uncertain') faults.push(`the delivery ${id} had no answer and is ${status}`)
  if (status === 'uncertain' && rule.blocked_by_delivery_id !== id)
    faults.push(`the delivery ${id} does not block its rule`)
  const before = receiver.count(path)
  await ageCalls(environment)
  await seedCalls(environment, { count: 5 })
  await is('recovered', ({ evaluation }) => evaluation.value === '0')
  await seedCalls(environment, { count: 5, state: 'failed' })
  if (status === 'uncertain') {
    await is('above again', ({ evaluation }) => evaluation.value === '0.5')
    await evaluations(environment, alertId, 3)
    if (receiver.count(path) !== before) faults.push(`the blocked rule ${alertId} fired`)
    const body = { expected_revision: 1, delivery_id: id }
    await environment.call('alerts.acknowledge', { params: { alert_id: alertId }, body })
  }
  await is('fired again', ({ latest_delivery }) => latest_delivery.id !== id && latest_delivery.status === 'delivered')
  if (receiver.count(path) !== before + 1)
    faults.push(`${receiver.count(path) - before} notifications after the acknowledgement`)
  return { status, faults }
}
