import type { Egress, EgressResult } from '@parley/egress'
import { systemRandom } from '@parley/kernel'
import { MasterKeySealer, putSecret, withNewKey } from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { PlanCache } from '../plan-cache.ts'
import { JobsHarness, SOON } from '../testing/jobs-harness.ts'
import { WebhookSender, type WebhookSenderOptions } from './webhook-sender.ts'

/** Receivers: those named `dead` answer nothing until they are told to. */
class Receivers implements Egress {
  /** In the order in which they were sent to. */
  readonly heard: string[] = []
  readonly waiting: ((result: EgressResult) => void)[] = []

  async prepare({ url }: { readonly url: string }) {
    const name = new URL(url).hostname
    const send = async () => {
      this.heard.push(name)
      return name === 'dead' ? new Promise<EgressResult>(resolve => this.waiting.push(resolve)) : answer(200)
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
  ...{ type: 'answered', status, headers: {}, body: new Uint8Array(), truncated: false, durationMs: 1 },
})

let test: TestDatabase
let receivers: Receivers
const sealer = new MasterKeySealer(withNewKey(new Map([[1, Buffer.alloc(32, 1)]])))
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  await test.owner.query('delete from parley.outbox')
  receivers = new Receivers()
})

/** An environment with a receiver of that name. */
async function tenant(receiver: string): Promise<JobsHarness> {
  const stage = await JobsHarness.open(test)
  const notification = { url: `https://${receiver}`, secret: { id: 'hook', version: '1' }, events: ['run.ended'] }
  await stage.publish('teller', { notification })
  const value = { secret_id: 'hook', kind: 'webhook_signing', value: 'secret' } as const
  await stage.write(tx => putSecret(tx, stage.scope, sealer, value))
  return stage
}

/** Webhooks of so many runs that ended a minute ago. */
const due = ({ scope }: JobsHarness, count: number) =>
  test.owner.query(
    `insert into parley.outbox (tenant_id, run_id, event, payload, next_at)
     select $1, run_id, 'run.ended',
       jsonb_build_object('run_id', run_id, 'publication', '{"agent_id": "teller", "version": 1}'::jsonb), now() - interval '1 minute'
     from (select uuidv7() as run_id from generate_series(1, $2::integer)) runs`,
    [scope.tenant_id, count],
  )

function sender({ counters, log, time }: JobsHarness, options: Partial<WebhookSenderOptions> = {}): WebhookSender {
  const { database } = test
  return new WebhookSender({
    ...{ database, sealer, egress: receivers, counters, log, time, random: systemRandom, wallClock: () => Date.now() },
    plans: new PlanCache(database),
    onRoom: () => {},
    ...options,
  })
}

const heard = (name: string, count: number) => vi.waitFor(() => expect(receivers.count(name)).toBe(count), SOON)

describe('webhooks of a tenant whose receiver answers nothing', () => {
  it('hold up no other tenant’s', async () => {
    const [dead, quick] = [await tenant('dead'), await tenant('quick')]
    const one = sender(dead)
    await due(dead, 100)
    await one.round()
    await heard('dead', 8)
    await due(quick, 3)
    await one.round()
    await heard('quick', 3)
    await one.round()
    expect(receivers.count('dead')).toBe(8)
  })

  it('go on as soon as one of them is over', async () => {
    const dead = await tenant('dead')
    const one: WebhookSender = sender(dead, { onRoom: () => void one.round().catch(() => {}) })
    await due(dead, 10)
    await one.round()
    await heard('dead', 8)
    receivers.waiting[0]!(answer(200))
    await heard('dead', 9)
    receivers.waiting[1]!(answer(200))
    await heard('dead', 10)
  })

  it('leave the next place, where they hold all of them, to who has none', async () => {
    for (let tenants = 0; tenants < 9; tenants++) await due(await tenant('dead'), 20)
    const quick = await tenant('quick')
    const one: WebhookSender = sender(quick, { onRoom: () => void one.round().catch(() => {}) })
    await one.round()
    await heard('dead', 64)
    await due(quick, 1)
    expect(await one.round()).toBe(false)
    receivers.waiting[0]!(answer(200))
    await heard('quick', 1)
    expect(receivers.heard.indexOf('quick')).toBe(64)
  })
})
