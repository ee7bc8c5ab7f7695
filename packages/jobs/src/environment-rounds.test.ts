import type { Scope } from '@parley/contract'
import { VirtualTime } from '@parley/kernel'
import type { EnvironmentQueue } from '@parley/runs'
import { expect, it } from 'vitest'
import { EnvironmentRounds } from './environment-rounds.ts'

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
