import { createHash, createHmac } from 'node:crypto'
import { alertWebhook } from '@parley/contract/testing'
import { OutboundHttp } from '@parley/egress'
import {
  type AlertDestinationValue,
  type AlertRuleRow,
  acknowledgeDelivery,
  deleteAlertRule,
  deleteSecret,
  insertAlertRule,
  intendAlertDelivery,
  MasterKeySealer,
  putSecret,
  readAlertRule,
  takeAlertDeliveries,
  updateAlertRule,
  withNewKey,
  writeAlertDestination,
} from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AlertReceiver } from '../testing/alert-receiver.ts'
import { JobsHarness } from '../testing/jobs-harness.ts'
import { AlertEvaluator } from './alert-evaluator.ts'
import { AlertSender } from './alert-sender.ts'

let test: TestDatabase
let harness: JobsHarness
let receiver: AlertReceiver
let egress: OutboundHttp
let evaluator: AlertEvaluator
let sender: AlertSender
const sealer = new MasterKeySealer(withNewKey(new Map([[1, Buffer.alloc(32, 1)]])))

beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  harness = await JobsHarness.open(test)
  receiver = await AlertReceiver.start()
  const { time, counters, log, queue } = harness
  egress = new OutboundHttp({ allow: [{ host: '127.0.0.1', port: receiver.port }], time })
  const shared = { database: test.database, queue, sealer, time, log, counters }
  evaluator = new AlertEvaluator(shared)
  const pagingUrl = receiver.url('/paging')
  sender = new AlertSender({ ...shared, egress, pagingUrl, wallClock: Date.now, retryAfterMs: [0, 0] })
  await destination('chat', null, receiver.url('/chat'))
  await destination('paging', null, 'routing-key')
  await secret('first')
})
afterEach(async () => {
  await egress.close()
  await receiver.close()
})

const secret = (value: string) =>
  harness.write(tx =>
    putSecret(tx, harness.scope, sealer, { secret_id: 'alert_webhook', kind: 'webhook_signing', value }),
  )

const destination = (kind: 'chat' | 'paging', expected: string | null, value: string | null) =>
  harness.write(tx => writeAlertDestination(tx, harness.scope, sealer, { kind, expected, value }))

async function rule(
  changes: object = {},
  value: AlertDestinationValue = { kind: 'webhook', url: receiver.url('/hook') },
) {
  const made = await harness.write(tx =>
    insertAlertRule(tx, harness.scope, sealer, {
      metric: 'call_error_rate_24h',
      threshold: '0.1',
      enabled: true,
      destination: value,
      ...changes,
    }),
  )
  if (typeof made === 'string') throw new Error(made)
  return made.id
}

const read = async (alertId: string): Promise<AlertRuleRow> =>
  (await readAlertRule(test.database.within(harness.scope), harness.scope, alertId))!

const sql = (text: string, ...values: unknown[]) => test.owner.query(text, [harness.scope.tenant_id, ...values])

/** Phone runs that ended, the first `failed` of them as failed. */
async function calls(count: number, failed: number, ago = '1 minute') {
  await sql(
    `insert into parley.runs (tenant_id, agent_id, version, channel, mode, state, trigger, test, created_at, ended_at, connected_ms,
       dynamic_variables, can_dial, notifies)
     select $1, 'greeter', 1, 'phone', 'outbound', case when n <= $3 then 'failed' else 'completed' end, '{}', false,
       date_trunc('milliseconds', now() - $4::interval), now(), 1000, '{}', false, false from generate_series(1, $2::int) n`,
    count,
    failed,
    ago,
  )
}

/** One more evaluation of every rule, and the deliveries that follow. */
async function evaluation() {
  await sql('update parley.alert_rules set next_evaluation_at = now() where tenant_id = $1')
  await evaluator.round(harness.scope)
  await sender.round(harness.scope)
  expect(harness.problems).toEqual([])
}

const acknowledge = (alertId: string, deliveryId: string) =>
  harness.write(tx => acknowledgeDelivery(tx, harness.scope, alertId, 1, deliveryId))

describe('an alert rule', () => {
  it('an alert rule fires when its value exceeds the threshold, and not again until the value was at or below it', async () => {
    const id = await rule()
    await calls(10, 1)
    await evaluation()
    expect(await read(id)).toMatchObject({ evaluation: { status: 'available', value: '0.1' }, latest_delivery: null })
    await calls(1, 1)
    await evaluation()
    await evaluation()
    const { latest_delivery, last_fired_at, evaluation: last } = await read(id)
    expect(last).toMatchObject({ value: '0.181818181818' })
    expect(latest_delivery).toMatchObject({
      status: 'delivered',
      value: '0.181818181818',
      threshold: '0.1',
      rule_revision: 1,
    })
    expect(Date.parse(last_fired_at!)).toBeLessThan(Date.parse(last.evaluated_at!))
    expect(receiver.received).toHaveLength(1)
    await calls(20, 0)
    await evaluation()
    await calls(20, 20)
    await evaluation()
    await evaluation()
    expect(receiver.received).toHaveLength(2)
  })

  it('an edit evaluates the rule anew and lets it fire again', async () => {
    const id = await rule()
    await calls(2, 2)
    await evaluation()
    const edited = await harness.write(tx =>
      updateAlertRule(tx, harness.scope, sealer, {
        alertId: id,
        expectedRevision: 1,
        metric: 'call_error_rate_24h',
        threshold: '0.2',
        enabled: true,
        destination: null,
      }),
    )
    expect(edited).toMatchObject({ revision: 2, evaluation: { status: 'pending', value: null } })
    await evaluation()
    expect(receiver.received.map(({ body }) => alertWebhook.parse(body).delivery.rule_revision)).toEqual([1, 2])
  })

  it('test runs, runs outside the window and other environments do not count', async () => {
    const id = await rule()
    await calls(10, 10, '25 hours')
    await calls(4, 4)
    await sql(
      'update parley.runs set test = true where tenant_id = $1 and ended_at > created_at and created_at > now() - $2::interval',
      '2 minutes',
    )
    await calls(4, 0)
    const home = harness
    harness = await JobsHarness.open(test)
    await calls(5, 5)
    harness = home
    await evaluation()
    expect((await read(id)).evaluation.evidence).toEqual({
      kind: 'platform_metric',
      metric: 'call_error_rate_24h',
      definition_version: 1,
      observation_count: 4,
      failed_count: 0,
      unknown_count: 0,
    })
  })

  it('an alert rule is evaluated once in 60 s', async () => {
    const id = await rule()
    await evaluator.round(harness.scope)
    const first = (await read(id)).evaluation.evaluated_at
    await evaluator.round(harness.scope)
    expect((await read(id)).evaluation.evaluated_at).toBe(first)
    expect(harness.queue.timers.at(-1)).toMatchObject({ work: 'alerts' })
    expect(harness.queue.timers.at(-1)!.inMs).toBeGreaterThan(50_000)
  })

  it('spend is the sum of the costs that the usage shows, with a hash of them', async () => {
    const id = await rule({ metric: 'spend_usd_per_hour', threshold: '1' })
    await evaluation()
    expect((await read(id)).evaluation).toMatchObject({ status: 'unavailable', reason: 'metric_unavailable' })
    await sql(
      "insert into parley.rate_cards (tenant_id, rate_card_id, effective_at, reserve_usd, rates) values ($1, 'r', now(), '{}', '[]')",
    )
    await calls(3, 0)
    await evaluation()
    expect((await read(id)).evaluation).toMatchObject({ status: 'unavailable', reason: 'incomplete_usage' })
    await sql('update parley.runs set cost_usd = 1.0 / 3 where tenant_id = $1')
    await evaluation()
    const { rows } = await sql('select run_id from parley.runs where tenant_id = $1 order by run_id::text')
    const lines = rows.map(({ run_id }) => `${run_id} 0.333333333333`).join('\n')
    expect((await read(id)).evaluation).toMatchObject({
      status: 'available',
      value: '0.999999999999',
      evidence: {
        kind: 'usage_view',
        observation_count: 3,
        view: {
          scope: harness.scope,
          snapshot: expect.stringMatching(/^\d+:\d+:[\d,]*$/),
          cohort: { observation_count: 3, sha256: createHash('sha256').update(lines).digest('hex') },
        },
      },
    })
  })

  it('latency is the 95th percentile of the model requests of the last hour', async () => {
    const id = await rule({ metric: 'p95_latency_ms_1h', threshold: '500' })
    await calls(1, 0)
    await evaluation()
    expect((await read(id)).evaluation).toMatchObject({ status: 'unavailable', reason: 'no_observations' })
    await sql(
      `insert into parley.run_events (tenant_id, run_id, seq, at, kind, fields)
       select $1, r.run_id, n, now(), 'turn', jsonb_build_object('index', n, 'latency', jsonb_build_object('llm', case when n <= 20 then n * 10 + 0.5 end))
       from parley.runs r, generate_series(1, 25) n where r.tenant_id = $1`,
    )
    await evaluation()
    expect((await read(id)).evaluation).toMatchObject({
      status: 'available',
      value: '190.5',
      evidence: { kind: 'gateway_attempt_latency', observation_count: 20 },
    })
  })

  it('recordings count where the agent requires them and the call was connected; partial ones failed', async () => {
    const id = await rule({ metric: 'recording_failure_rate_24h', threshold: '0.6' })
    await harness.publish('recorder', { recording: { required: true } })
    await calls(7, 0)
    await evaluation()
    expect((await read(id)).evaluation.reason).toBe('no_observations')
    await sql("update parley.runs set agent_id = 'recorder' where tenant_id = $1")
    await sql(
      `insert into parley.run_recordings (tenant_id, run_id, state)
       select $1, run_id, (array['ready', 'partial', 'failed', 'processing', 'expired'])[n]
       from (select run_id, row_number() over (order by run_id) as n from parley.runs where tenant_id = $1) r where n <= 5`,
    )
    // Of the two calls without a recording one was never connected.
    await sql(
      `update parley.runs set connected_ms = null where tenant_id = $1 and run_id = (
         select max(run_id::text)::uuid from parley.runs where tenant_id = $1)`,
    )
    await evaluation()
    expect((await read(id)).evaluation).toMatchObject({
      value: '0.75',
      evidence: { observation_count: 4, failed_count: 3, unknown_count: 1 },
    })
  })

  it('a destination that is gone makes its rules unavailable and cancels what waits for it', async () => {
    const chat = await rule({}, { kind: 'chat' })
    const hook = await rule()
    await calls(1, 1)
    await sql('update parley.alert_rules set next_evaluation_at = now() where tenant_id = $1')
    await evaluator.round(harness.scope)
    const { rows } = await sql("select revision from parley.alert_destinations where tenant_id = $1 and kind = 'chat'")
    expect(await destination('chat', rows[0].revision, null)).toBe('written')
    await harness.write(tx => deleteSecret(tx, harness.scope, 'alert_webhook', true))
    await sender.round(harness.scope)
    expect(receiver.received).toEqual([])
    expect(await read(chat)).toMatchObject({
      latest_delivery: { status: 'cancelled', error_code: 'destination_unavailable' },
    })
    expect(await read(hook)).toMatchObject({ latest_delivery: { status: 'cancelled', error_code: 'secret_missing' } })
    await evaluation()
    for (const id of [chat, hook])
      expect((await read(id)).evaluation).toMatchObject({ status: 'unavailable', reason: 'destination_unavailable' })
  })

  it('a rule that this version does not understand says why it has no value', async () => {
    const ids = [await rule(), await rule(), await rule(), await rule()]
    const changes = [
      "metric = 'moon_phase'",
      "destination_kind = 'pigeon'",
      "threshold = 'a lot'",
      "destination_sealed = '\\x00'",
    ]
    for (const [index, change] of changes.entries())
      await sql(`update parley.alert_rules set ${change} where tenant_id = $1 and alert_id = $2`, ids[index])
    await calls(1, 1)
    await evaluation()
    const reasons = await Promise.all(ids.map(async id => (await read(id)).evaluation.reason))
    expect(reasons).toEqual(['unsupported_metric', 'unsupported_destination', 'invalid_rule', 'invalid_rule'])
    expect((await read(ids[1]!)).destination).toEqual({ kind: 'unsupported' })
    expect(receiver.received).toEqual([])
  })
})

describe('a notification', () => {
  it('chat gets a text, paging an event with the delivery as its key, a webhook the signed event', async () => {
    const ids = [await rule({}, { kind: 'chat' }), await rule({}, { kind: 'paging' }), await rule()]
    await calls(2, 1)
    await secret('second')
    await evaluation()
    const byPath = Object.fromEntries(receiver.received.map(alert => [alert.path, alert]))
    const [, page, hook] = await Promise.all(ids.map(read))
    expect(byPath['/chat']!.body).toEqual({
      text: expect.stringMatching(/^Parley alert in Test \(production\): call_error_rate_24h is 0.5, above 0.1, from /),
    })
    expect(byPath['/paging']!.body).toMatchObject({
      routing_key: 'routing-key',
      event_action: 'trigger',
      dedup_key: page!.latest_delivery!.id,
      payload: { severity: 'critical', source: `parley/${harness.scope.tenant_id}` },
    })
    const { body, signature, text } = byPath['/hook']!
    const { latest_delivery: delivery, ...rest } = hook!
    expect(body).toMatchObject({ event: 'alert.fired', event_id: delivery!.id, scope: harness.scope })
    const webhook = alertWebhook.parse(body)
    expect(webhook).toEqual(body)
    expect(webhook.rule).toMatchObject({ id: rest.id, metric: rest.metric, evaluation: { value: '0.5' } })
    expect(webhook.delivery).toEqual({ ...delivery, status: 'sending', finished_at: null })
    const [, t] = /^t=(\d+),/.exec(signature!)!
    const signed = (value: string) => createHmac('sha256', value).update(`${t}.${text}`).digest('hex')
    expect(signature).toBe(`t=${t},v1=${signed('first')},v1=${signed('second')}`)
  })

  it('a refused request is repeated while sending, then cancelled with the error', async () => {
    const id = await rule()
    await calls(1, 1)
    receiver.answer = () => 503
    await evaluation()
    expect(receiver.received).toHaveLength(3)
    expect(new Set(receiver.received.map(({ body }) => alertWebhook.parse(body).event_id)).size).toBe(1)
    expect((await read(id)).latest_delivery).toMatchObject({ status: 'cancelled', error_code: 'http_503' })
  })

  it('a request without an answer is uncertain, and blocks the rule until it is acknowledged', async () => {
    const id = await rule()
    await calls(1, 1)
    receiver.answer = () => null
    await evaluation()
    receiver.answer = () => 200
    const { latest_delivery: delivery, blocked_by_delivery_id } = await read(id)
    expect(delivery).toMatchObject({ status: 'uncertain', error_code: 'no_answer', acknowledged_at: null })
    expect(blocked_by_delivery_id).toBe(delivery!.id)
    await calls(30, 0)
    await evaluation()
    await calls(30, 30)
    await evaluation()
    expect(receiver.received).toHaveLength(1)
    expect(await acknowledge(id, '0b0e3c1e-5a3c-4f4e-9f57-0b0f9c1d2e3f')).toBe('not_uncertain')
    const acknowledged = await acknowledge(id, delivery!.id)
    expect(acknowledged).toMatchObject({ blocked_by_delivery_id: null, latest_delivery: { status: 'uncertain' } })
    expect(await acknowledge(id, delivery!.id)).toEqual(acknowledged)
    await evaluation()
    expect(receiver.received).toHaveLength(2)
  })

  it('a delivery whose worker died after the intent is uncertain and is never sent; before the intent it is sent', async () => {
    const [dead, early] = [await rule(), await rule()]
    await calls(1, 1)
    await sql('update parley.alert_rules set next_evaluation_at = now() where tenant_id = $1')
    await evaluator.round(harness.scope)
    const taken = await harness.write(tx => takeAlertDeliveries(tx, harness.scope, 30_000, 10))
    const one = taken.find(({ alert_id }) => alert_id === dead)!
    expect(await harness.write(tx => intendAlertDelivery(tx, one, 'r'))).toBe(true)
    expect(await harness.write(tx => intendAlertDelivery(tx, one, 'r'))).toBe(false)
    await sender.round(harness.scope)
    expect(receiver.received).toEqual([])
    await sql("update parley.alert_deliveries set lease_until = now() - interval '1 ms' where tenant_id = $1")
    await sender.round(harness.scope)
    expect((await read(dead)).latest_delivery).toMatchObject({ status: 'uncertain', error_code: 'owner_lost' })
    expect((await read(early)).latest_delivery).toMatchObject({ status: 'delivered' })
    expect(receiver.received).toHaveLength(1)
  })

  it.each([
    ['disabled', 'rule_disabled'],
    ['deleted', 'rule_deleted'],
  ])('a rule that is %s is not evaluated, and its pending delivery is cancelled', async (how, code) => {
    const id = await rule()
    await calls(1, 1)
    await sql('update parley.alert_rules set next_evaluation_at = now() where tenant_id = $1')
    await evaluator.round(harness.scope)
    const { scope } = harness
    const change = {
      alertId: id,
      expectedRevision: 1,
      metric: 'call_error_rate_24h',
      threshold: '0.1',
      destination: null,
    }
    await harness.write(tx =>
      how === 'deleted'
        ? deleteAlertRule(tx, scope, id, 1)
        : updateAlertRule(tx, scope, sealer, { ...change, enabled: false }),
    )
    const before = await read(id)
    expect(before.latest_delivery).toMatchObject({ status: 'cancelled', error_code: code })
    await evaluation()
    expect(await read(id)).toEqual(before)
    expect(receiver.received).toEqual([])
  })

  it('a rule that is edited while its refused request is on its way does not repeat it', async () => {
    const id = await rule()
    await calls(1, 1)
    receiver.answer = async () => {
      await harness.write(tx => deleteAlertRule(tx, harness.scope, id, 1))
      return 503
    }
    await evaluation()
    expect(receiver.received).toHaveLength(1)
    expect((await read(id)).latest_delivery).toMatchObject({ status: 'cancelled', error_code: 'http_503' })
  })

  it('an address that is not allowed is never contacted', async () => {
    const id = await rule({}, { kind: 'webhook', url: 'http://127.0.0.1:1/hook' })
    await calls(1, 1)
    await evaluation()
    expect((await read(id)).latest_delivery).toMatchObject({ status: 'cancelled', error_code: 'address_not_allowed' })
  })
})
