import type { Scope } from '@parley/contract'
import { VirtualTime } from '@parley/kernel'
import type { EnvironmentQueue } from '@parley/runs'
import { expect, it } from 'vitest'
import { EnvironmentRounds } from './environment-rounds.ts'
import { MemoryEnvironmentQueue } from './testing/memory-environment-queue.ts'

const SCOPE = { tenant_id: 'tenant', owner_id: 'owner', environment: 'production' } as Scope
const QUEUE = { listen: async () => async () => {}, wake() {}, wakeIn() {} } as unknown as EnvironmentQueue

/** One item, which ends while the round looks for others. */
class EndsDuringLook extends EnvironmentRounds<string> {
  readonly #end = Promise.withResolvers<void>()
  looks = 0
  looksAfterEnd = 0
  #hasEnded = false

  protected async take(): Promise<readonly string[]> {
    this.looks++
    if (this.looks === 1) return ['item']
    if (this.#hasEnded) this.looksAfterEnd++
    this.#end.resolve()
    await new Promise(resolve => setImmediate(resolve))
    return []
  }

  protected async carryOut(): Promise<void> {
    await this.#end.promise
    this.#hasEnded = true
  }

  protected async nextDueInMs(): Promise<null> {
    return null
  }
}

it('a round looks once more when its last item ended during a look: what ended may have made other work due', async () => {
  const time = new VirtualTime()
  const rounds = new EndsDuringLook({ work: 'trials', queue: QUEUE, environmentsAtOnce: 1, itemsAtOnce: 2, time })
  const round = rounds.round(SCOPE)
  await new Promise(resolve => setImmediate(resolve))
  time.advance(250)
  await round
  expect(rounds.looksAfterEnd).toBe(1)
})

/** One item, which ends when the test says so. */
class WaitsForItem extends EnvironmentRounds<string> {
  readonly ended = Promise.withResolvers<void>()
  #looks = 0

  protected async take(): Promise<readonly string[]> {
    return this.#looks++ === 0 ? ['item'] : []
  }

  protected carryOut(): Promise<void> {
    return this.ended.promise
  }

  protected async nextDueInMs(): Promise<null> {
    return null
  }
}

it('an environment that waits for a place while the process stops is left to another process, once', async () => {
  const [time, queue] = [new VirtualTime(), new MemoryEnvironmentQueue()]
  const rounds = new WaitsForItem({ work: 'trials', queue, environmentsAtOnce: 2, itemsAtOnce: 1, time })
  await rounds.start()
  queue.wake('trials', SCOPE)
  await new Promise(resolve => setImmediate(resolve))
  const closed = rounds.close()
  queue.wake('trials', { ...SCOPE, tenant_id: 'another' } as Scope)
  await new Promise(resolve => setImmediate(resolve))
  rounds.ended.resolve()
  await closed
  expect(queue.woken.filter(([, tenant]) => tenant === 'another')).toHaveLength(1)
})
