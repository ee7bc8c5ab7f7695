import { setImmediate as turn } from 'node:timers/promises'
import type { Scope } from '@parley/contract'
import { redisMissing, startRedis, type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { BullConnections, type BullOptions } from './bull-connections.ts'
import { BullEnvironmentQueue } from './bull-environment-queue.ts'

const SOON = { timeout: 15_000, interval: 10 }
const environment = (tenant_id: string): Scope => ({ owner_id: 'o', environment: 'production', tenant_id })

let count = 0
let on: BullOptions['on']
let problems: string[]
const opened: BullConnections[] = []
/** Wake-ups on their way to a queue. */
const adding = new Set<Promise<unknown>>()

/** Connections that note in `adding` what they add. */
class NotedConnections extends BullConnections {
  override queue(name: string): ReturnType<BullConnections['queue']> {
    const queue = super.queue(name)
    return {
      add: (...job) => {
        const added = queue.add(...job).finally(() => adding.delete(added))
        adding.add(added)
        return added
      },
    }
  }
}

/** The queue as another process has it. */
function queue(): BullEnvironmentQueue {
  const connections = new NotedConnections({ on, wallClock: Date.now, onProblem: line => problems.push(line) })
  opened.push(connections)
  return new BullEnvironmentQueue(connections)
}

/** Resolves when all wake-ups so far are in their queues. */
async function added(): Promise<void> {
  do {
    await Promise.allSettled(adding)
    await turn()
  } while (adding.size > 0)
}
beforeEach(() => {
  problems = []
})
afterEach(async () => {
  for (const release of held.splice(0)) release()
  for (const connections of opened.splice(0)) await connections.close()
  expect(problems).toEqual([])
})

const held: (() => void)[] = []
const hold = () => new Promise<void>(resolve => held.push(resolve))

/** Wakes another environment several times: a round that was due before has begun when the last of its rounds has. */
async function roundsOf(api: BullEnvironmentQueue, other: Scope, rounds: string[]): Promise<void> {
  for (let round = 1; round <= 3; round++) {
    api.wake('webhooks', other)
    await vi.waitFor(() => expect(rounds.filter(id => id === other.tenant_id)).toHaveLength(round), SOON)
  }
}

function promises(): void {
  it('an environment has one queued job however often it is woken, and environments take turns in order', async () => {
    const [api, worker] = [queue(), queue()]
    const [a, b, c] = [environment(`a-${count}`), environment(`b-${count}`), environment(`c-${count++}`)]
    for (let wakeUp = 0; wakeUp < 50; wakeUp++) api.wake('webhooks', a)
    await added()
    for (let wakeUp = 0; wakeUp < 50; wakeUp++) api.wake('webhooks', b)
    await added()
    const rounds: string[] = []
    await worker.listen('webhooks', 1, async ({ tenant_id }) => void rounds.push(tenant_id))
    await vi.waitFor(() => expect(rounds).toEqual([a.tenant_id, b.tenant_id]), SOON)
    await roundsOf(api, c, rounds)
    expect(rounds.slice(0, 3)).toEqual([a.tenant_id, b.tenant_id, c.tenant_id])
    expect(rounds).toHaveLength(5)
  })

  it('one round of an environment runs at a time in all processes, and one more for wake-ups during it', async () => {
    const [api, one, other] = [queue(), queue(), queue()]
    const [a, b] = [environment(`a-${count}`), environment(`b-${count++}`)]
    const others: string[] = []
    let [running, most, rounds] = [0, 0, 0]
    const round = async ({ tenant_id }: Scope) => {
      if (tenant_id === b.tenant_id) return void others.push(tenant_id)
      rounds++
      most = Math.max(most, ++running)
      await hold()
      running--
    }
    await one.listen('webhooks', 4, round)
    await other.listen('webhooks', 4, round)
    api.wake('webhooks', a)
    await vi.waitFor(() => expect(rounds).toBe(1), SOON)
    for (let wakeUp = 0; wakeUp < 20; wakeUp++) api.wake('webhooks', a)
    await added()
    await roundsOf(api, b, others)
    expect(rounds).toBe(1)
    held.shift()!()
    await vi.waitFor(() => expect(rounds).toBe(2), SOON)
    held.shift()!()
    others.length = 0
    await roundsOf(api, b, others)
    expect([rounds, most]).toEqual([2, 1])
  })

  it('a long round of one environment does not delay a round of another', async () => {
    const [api, worker] = [queue(), queue()]
    const [slow, quick] = [environment(`slow-${count}`), environment(`quick-${count++}`)]
    const rounds: string[] = []
    await worker.listen('webhooks', 2, async ({ tenant_id }) => {
      rounds.push(tenant_id)
      if (rounds.length === 1) await hold()
    })
    api.wake('webhooks', slow)
    await vi.waitFor(() => expect(rounds).toEqual([slow.tenant_id]), SOON)
    for (let wakeUp = 0; wakeUp < 100; wakeUp++) api.wake('webhooks', slow)
    api.wake('webhooks', quick)
    await vi.waitFor(() => expect(rounds).toEqual([slow.tenant_id, quick.tenant_id]), SOON)
  })

  it('a round can be scheduled for later, and a wake-up before that time starts it earlier', async () => {
    const [api, worker] = [queue(), queue()]
    const a = environment(`a-${count++}`)
    const rounds: number[] = []
    await worker.listen('webhooks', 2, async () => void rounds.push(performance.now()))
    const at = performance.now()
    api.wakeIn('webhooks', a, 600_000)
    await added()
    api.wakeIn('webhooks', a, 1000)
    await vi.waitFor(() => expect(rounds).toHaveLength(1), SOON)
    expect(rounds[0]! - at).toBeGreaterThan(990)
    api.wakeIn('webhooks', a, 600_000)
    api.wake('webhooks', a)
    await vi.waitFor(() => expect(rounds).toHaveLength(2), SOON)
  })

  it('a failed round is retried later', async () => {
    const [api, worker] = [queue(), queue()]
    const rounds: number[] = []
    await worker.listen('analyses', 2, async () => {
      rounds.push(performance.now())
      if (rounds.length === 1) throw new Error('the database is away')
    })
    api.wake('analyses', environment(`a-${count++}`))
    await vi.waitFor(() => expect(rounds).toHaveLength(2), SOON)
    expect(rounds[1]! - rounds[0]!).toBeGreaterThan(900)
  })
}

describe('the queue of environments on Postgres gives', () => {
  let test: TestDatabase
  beforeAll(async () => {
    test = await testDatabase()
    on = { postgres: test.owner.url }
  })
  afterAll(() => test?.close())
  promises()
})

describe.skipIf(redisMissing() !== null)(`the queue of environments on Redis${redisMissing() ?? ''} gives`, () => {
  let redis: Awaited<ReturnType<typeof startRedis>>
  beforeAll(async () => {
    redis = await startRedis()
    on = { redis: `redis://127.0.0.1:${redis.port}` }
  })
  afterAll(() => redis?.stop())
  promises()
})
