import type { Egress, EgressResult } from '@parley/egress'
import { systemRandom } from '@parley/kernel'
import { MasterKeySealer, putSecret, withNewKey } from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { PlanCache } from '../plan-cache.ts'
import { JobsHarness, SOON } from '../testing/jobs-harness.ts'
import { WebhookSender, type WebhookSenderOptions } from './webhook-sender.ts'

/** Receivers: one named `dead` answers nothing until the test says so, one named `failing` answers 503. */
class Receivers implements Egress {
  /** In the order in which they were sent to. */
  readonly heard: string[] = []
  readonly waiting: ((result: EgressResult) => void)[] = []
  /** All receivers answer from now on. */
  isEnding = false

  async prepare({ url }: { readonly url: string }) {
    const name = new URL(url).hostname
    const send = async () => {
      this.heard.push(name)
      if (name === 'dead' && !this.isEnding) return new Promise<EgressResult>(resolve => this.waiting.push(resolve))
      return answer(name === 'failing' ? 503 : 200)
    }
    return { type: 'prepared', send } as const
  }

  async send(request: { readonly url: string }): Promise<EgressResult> {
    return (await this.prepare(request)).send()
  }

  async close(): Promise<void> {}

  count(name: string): number {
    return this.heard.filter(one => one === name).length
  }
}
const answer = (status: number): EgressResult => ({
  type: 'answered',
  status,
  headers: {},
  body: new Uint8Array(),
  truncated: false,
  durationMs: 1,
})

let test: TestDatabase
let receivers: Receivers
const senders: WebhookSender[] = []
const sealer = new MasterKeySealer(withNewKey(new Map([[1, Buffer.alloc(32, 1)]])))
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  await test.owner.query('delete from parley.outbox')
  receivers = new Receivers()
})
// A round that still waits for an answer would ask the database after it is closed.
afterEach(async () => {
  receivers.isEnding = true
  for (const release of receivers.waiting.splice(0)) release(answer(200))
  await Promise.all(senders.splice(0).map(one => one.close()))
})

/** An environment with a receiver of that name. */
async function tenant(receiver: string): Promise<JobsHarness> {
  const harness = await JobsHarness.open(test)
  const notification = { url: `https://${receiver}`, secret: { id: 'hook', version: '1' }, events: ['run.ended'] }
  await harness.publish('teller', { notification })
  const value = { secret_id: 'hook', kind: 'webhook_signing', value: 'secret' } as const
  await harness.write(tx => putSecret(tx, harness.scope, sealer, value))
  return harness
}

/** Stores the webhooks of `count` runs that ended a minute ago. */
const due = ({ scope }: JobsHarness, count: number) =>
  test.owner.query(
    `insert into parley.outbox (tenant_id, run_id, event, payload, next_at)
     select $1, run_id, 'run.ended',
       jsonb_build_object('run_id', run_id, 'publication', '{"agent_id": "teller", "version": 1}'::jsonb), now() - interval '1 minute'
     from (select uuidv7() as run_id from generate_series(1, $2::integer)) runs`,
    [scope.tenant_id, count],
  )

function sender(
  { counters, log, queue, time }: JobsHarness,
  options: Partial<WebhookSenderOptions> = {},
): WebhookSender {
  const { database } = test
  const one = new WebhookSender({
    database,
    queue,
    sealer,
    egress: receivers,
    counters,
    log,
    time,
    random: systemRandom,
    wallClock: () => Date.now(),
    plans: new PlanCache(database),
    ...options,
  })
  senders.push(one)
  return one
}

const heard = (name: string, count: number) => vi.waitFor(() => expect(receivers.count(name)).toBe(count), SOON)

describe('webhooks of an environment whose receiver does not answer', () => {
  it('an unresponsive receiver takes eight places and delays no other environment’s webhooks', async () => {
    const [dead, quick] = [await tenant('dead'), await tenant('quick')]
    const { queue } = dead
    const one = sender(dead)
    await one.start()
    await due(dead, 100)
    queue.wake('webhooks', dead.scope)
    await heard('dead', 8)
    await due(quick, 3)
    queue.wake('webhooks', quick.scope)
    await heard('quick', 3)
    queue.wake('webhooks', dead.scope)
    dead.time.advance(1000)
    await due(quick, 1)
    queue.wake('webhooks', quick.scope)
    await heard('quick', 4)
    expect(receivers.count('dead')).toBe(8)
  })

  it('the ninth webhook of an environment is sent when one of the eight sends ends', async () => {
    const dead = await tenant('dead')
    const one = sender(dead)
    await due(dead, 10)
    void one.round(dead.scope)
    await heard('dead', 8)
    receivers.waiting[0]!(answer(200))
    await heard('dead', 9)
    receivers.waiting[1]!(answer(200))
    await heard('dead', 10)
  })

  it('webhooks that hang do not delay newly due ones of their environment while a place is free', async () => {
    const dead = await tenant('dead')
    const one = sender(dead)
    await due(dead, 7)
    void one.round(dead.scope)
    await heard('dead', 7)
    await due(dead, 1)
    // Again and again: when the round waits is its own affair.
    await vi.waitFor(() => {
      dead.time.advance(250)
      expect(receivers.count('dead')).toBe(8)
    }, SOON)
  })

  it('an environment that holds every place yields to a waiting environment after 5 s', async () => {
    const [first, second, quick] = [await tenant('dead'), await tenant('dead'), await tenant('quick')]
    const one = sender(first, { environmentsAtOnce: 2 })
    await one.start()
    for (const { scope } of [first, second]) {
      await due({ scope } as JobsHarness, 20)
      first.queue.wake('webhooks', scope)
    }
    await heard('dead', 16)
    await due(quick, 1)
    first.queue.wake('webhooks', quick.scope)
    first.time.advance(5000)
    for (const release of receivers.waiting.splice(0)) release(answer(200))
    await heard('quick', 1)
  })
})

describe('a webhook', () => {
  it('a failed webhook wakes its environment when its next try is due', async () => {
    const harness = await tenant('failing')
    await due(harness, 1)
    await sender(harness, { retryAfterMs: [60_000] }).round(harness.scope)
    expect(harness.queue.timers).toMatchObject([{ work: 'webhooks', scope: harness.scope }])
    const { inMs } = harness.queue.timers[0]!
    expect(inMs).toBeGreaterThan(30_000)
    expect(inMs).toBeLessThanOrEqual(60_000)
  })
})
