import { type AlertPlatform, type Environment, evaluations, hookOf, newRule, ruleWhen } from './alert-platform.ts'
import { recomputationFaults } from './recomputed.ts'
import { ageCalls, seedCalls } from './seeds.ts'

// biome-ignore lint/suspicious/noExplicitAny: the proof looks into answers of every shape
type Body = any
type Calls = Parameters<typeof seedCalls>[1]

interface MetricCase {
  readonly metric: string
  readonly threshold: string
  readonly below: Calls
  readonly above: Calls
}

const METRICS: readonly MetricCase[] = [
  {
    metric: 'spend_usd_per_hour',
    threshold: '2.5',
    below: { count: 3, cost: '0.333333333333333333' },
    above: { count: 2, cost: '1.25' },
  },
  {
    metric: 'p95_latency_ms_1h',
    threshold: '900',
    below: { count: 19, llmMs: 412.5 },
    above: { count: 5, llmMs: 1200.25 },
  },
  {
    metric: 'call_error_rate_24h',
    threshold: '0.1',
    below: { count: 12 },
    above: { count: 5, state: 'failed' },
  },
  {
    metric: 'recording_failure_rate_24h',
    threshold: '0.2',
    below: { count: 7 },
    above: { count: 3, recording: 'partial' },
  },
]

const DESTINATIONS = ['chat', 'paging', 'webhook', 'webhook'] as const

/**
 * Every metric has no value, then one below its threshold, fires once, recovers and fires once more; what it says can be computed
 * again from the API. Returns faults; `plantedNoticed`: changed evaluations are seen to be wrong.
 */
export async function proveMetrics(platform: AlertPlatform): Promise<{ faults: string[]; plantedNoticed: boolean }> {
  const results = await Promise.all(METRICS.map((metric, index) => proveMetric(platform, metric, DESTINATIONS[index]!)))
  return {
    faults: results.flatMap(({ faults }) => faults),
    plantedNoticed: results.every(({ plantedNoticed }) => plantedNoticed),
  }
}

async function proveMetric(
  platform: AlertPlatform,
  { metric, threshold, below, above }: MetricCase,
  kind: (typeof DESTINATIONS)[number],
) {
  const environment = await platform.environment()
  const { path, value } = await destination(platform, environment, kind)
  const { receiver } = platform
  const arrived = () => receiver.count(path)
  const faults: string[] = []
  const expectArrivals = (count: number, when: string) => {
    if (arrived() !== count) faults.push(`${metric}: ${arrived()} notifications ${when}, not ${count}`)
  }
  const id = await newRule(environment, receiver, metric, threshold, value)
  const is = (what: string, isSo: (rule: Body) => boolean) => ruleWhen(environment, id, `${metric} ${what}`, isSo)
  await is('without observations', ({ evaluation }) => evaluation.reason === 'no_observations')
  await seedCalls(environment, below)
  const low = await is('available', ({ evaluation }) => evaluation.status === 'available')
  faults.push(...(await recomputationFaults(environment, metric, low.evaluation)))
  expectArrivals(0, 'below the threshold')

  await seedCalls(environment, above)
  const high = await is('delivered', ({ latest_delivery }) => latest_delivery?.status === 'delivered')
  faults.push(...(await recomputationFaults(environment, metric, (await evaluations(environment, id, 1)).evaluation)))
  await evaluations(environment, id, 3)
  expectArrivals(1, 'above the threshold')

  await ageCalls(environment)
  await seedCalls(environment, below)
  await is('recovered', ({ evaluation }) => evaluation.value === low.evaluation.value)
  await evaluations(environment, id, 1)
  expectArrivals(1, 'after it recovered')
  await seedCalls(environment, above)
  const again = await is(
    'delivered again',
    ({ latest_delivery: { id, status } }) => status === 'delivered' && id !== high.latest_delivery.id,
  )
  expectArrivals(2, 'after it fired again')
  return { faults, plantedNoticed: await noticesChanges(environment, metric, again.latest_delivery) }
}

/** Whether an evaluation with another value, and one with another count, are reported. */
async function noticesChanges(
  environment: Environment,
  metric: string,
  { value, window, evidence }: Body,
): Promise<boolean> {
  const changed = [
    { value: `${value}1`, window, evidence },
    { value, window, evidence: { ...evidence, observation_count: evidence.observation_count + 1 } },
  ]
  const found = await Promise.all(changed.map(each => recomputationFaults(environment, metric, each)))
  return found.every(faults => faults.length > 0)
}

async function destination({ receiver }: AlertPlatform, environment: Environment, kind: (typeof DESTINATIONS)[number]) {
  const base = `http://127.0.0.1:${receiver.port}`
  if (kind === 'webhook') return { path: hookOf(environment), value: { kind, url: `${base}${hookOf(environment)}` } }
  const path = kind === 'chat' ? `/chat/${environment.scope.tenant_id}` : '/paging'
  const body =
    kind === 'chat'
      ? { chat: { expected_revision: null, webhook_url: `${base}${path}` } }
      : { paging: { expected_revision: null, routing_key: 'a routing key' } }
  await environment.call('alert_destinations.update', { body })
  return { path, value: { kind } }
}

/** Every reason for which an evaluation is unavailable comes up, each in an environment that is as the reason says. */
export async function proveReasons(platform: AlertPlatform): Promise<string[]> {
  const { receiver } = platform
  const faults: string[] = []
  const expectReason = async (
    reason: string,
    metric: string,
    hasPrices: boolean,
    arrange: (environment: Environment, alertId: string) => Promise<unknown>,
  ) => {
    const environment = await platform.environment(hasPrices)
    const id = await newRule(environment, receiver, metric, '0.01')
    await arrange(environment, id)
    const rule = await ruleWhen(environment, id, reason, ({ evaluation }) => evaluation.reason === reason)
    if (rule.evaluation.status !== 'unavailable' || rule.evaluation.value !== null)
      faults.push(`${reason}: ${JSON.stringify(rule.evaluation)}`)
    await evaluations(environment, id, 2)
    if (receiver.count(hookOf(environment)) > 0) faults.push(`${reason}: a notification arrived`)
  }
  const change = (columns: string) => (environment: Environment, alertId: string) =>
    environment.sql(`update parley.alert_rules set ${columns} where tenant_id = $1 and alert_id = $2`, alertId)
  const [spend, errors] = ['spend_usd_per_hour', 'call_error_rate_24h']
  await Promise.all([
    expectReason('no_observations', errors!, true, async () => {}),
    expectReason('metric_unavailable', spend!, false, environment => seedCalls(environment, { count: 1, cost: null })),
    expectReason('incomplete_usage', spend!, true, async environment => {
      await seedCalls(environment, { count: 1, cost: null })
    }),
    expectReason('incomplete_coverage', errors!, true, async environment => {
      await seedCalls(environment, { count: 3, state: 'running' })
    }),
    expectReason('unsupported_metric', errors!, true, change("metric = 'moon_phase'")),
    expectReason('unsupported_destination', errors!, true, change("destination_kind = 'pigeon'")),
    expectReason('invalid_rule', errors!, true, change("threshold = 'much'")),
    expectReason('destination_unavailable', errors!, true, ({ call }) =>
      call('secrets.delete', { params: { secret_id: 'alert_webhook' }, query: { force: true } }),
    ),
  ])
  return faults
}
