import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Benchmark, BenchmarkOptions } from '../benchmark.ts'
import { quantile } from '../quantile.ts'
import { openWebhookPlatform, type WebhookPlatform } from './webhook-platform.ts'

const ms = (value: number) => Math.round(value * 10) / 10

/** From commit to arrival, ms: webhooks of one environment, `perSecond` evenly. */
async function latencies(platform: WebhookPlatform, receiver: 'quick', perSecond: number, forMs: number) {
  const environment = await platform.environment(receiver)
  const committed = new Map<string, number>()
  for (let sent = 0; sent < (perSecond * forMs) / 1000; sent++) {
    const runId = randomUUID()
    await platform.announce(environment, [runId])
    committed.set(runId, performance.now())
    await pause(1000 / perSecond)
  }
  await platform.arrived([...committed.keys()])
  const each = [...committed].map(([runId, at]) => platform.arrivals.get(runId)! - at)
  return { webhooks: each.length, p50_ms: ms(quantile(each, 0.5)), p99_ms: ms(quantile(each, 0.99)) }
}

/** A backlog of ten environments, announced at once. */
async function throughput(platform: WebhookPlatform, webhooks: number) {
  const environments = await Promise.all(Array.from({ length: 10 }, () => platform.environment('quick')))
  const runs = environments.map(() => Array.from({ length: webhooks / 10 }, () => randomUUID()))
  const at = performance.now()
  await Promise.all(environments.map((environment, index) => platform.announce(environment, runs[index]!)))
  await platform.arrived(runs.flat())
  return { webhooks, per_second: Math.round((webhooks / (performance.now() - at)) * 1000) }
}

async function run({ option, line, progress }: BenchmarkOptions): Promise<object> {
  const forMs = Number(option('seconds') ?? 20) * 1000
  const webhooks = Number(option('webhooks') ?? 2000)
  const platform = await openWebhookPlatform()
  try {
    await latencies(platform, 'quick', 20, 2000)
    progress('latency of one environment')
    const alone = await latencies(platform, 'quick', 20, forMs)
    line({ what: 'alone', ...alone })
    progress('throughput of ten environments')
    const backlog = await throughput(platform, webhooks)
    line({ what: 'backlog', ...backlog })
    progress('latency beside an environment whose receiver answers nothing')
    const dead = await platform.environment('dead')
    await platform.announce(
      dead,
      Array.from({ length: 500 }, () => randomUUID()),
    )
    await pause(2000)
    const beside = await latencies(platform, 'quick', 20, forMs)
    line({ what: 'beside a dead receiver', ...beside })
    return { what: 'webhooks', alone, backlog, beside }
  } finally {
    await platform.close()
  }
}

/** Agent webhooks from commit to arrival: one worker, an embedded Postgres, a receiver on loopback. */
export const benchmark: Benchmark = { name: 'webhooks', options: ['seconds', 'webhooks'], run }
