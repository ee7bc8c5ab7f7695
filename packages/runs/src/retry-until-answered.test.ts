import { VirtualTime } from '@parley/kernel'
import { StoreError } from '@parley/store'
import { describe, expect, it } from 'vitest'
import { RunsError } from './errors.ts'
import { retryUntilAnswered } from './retry-until-answered.ts'

const away = () => Promise.reject(new StoreError('database_unavailable', 'away'))

/** Lets everything happen that needs no time, then `ms` pass. */
async function pass(time: VirtualTime, ms: number): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
  time.advance(ms)
  await new Promise(resolve => setImmediate(resolve))
}

describe('retrying until the database answers', () => {
  it('a database request is retried with growing pauses of at most 2 s', async () => {
    const time = new VirtualTime()
    const attempts: number[] = []
    let answers = false
    const answer = retryUntilAnswered(
      time,
      () => false,
      () => {
        attempts.push(time.now())
        return answers ? Promise.resolve('here') : away()
      },
    )
    for (let waited = 0; waited < 8000; waited += 50) await pass(time, 50)
    expect(attempts).toEqual([0, 250, 750, 1750, 3750, 5750, 7750])
    answers = true
    await pass(time, 2000)
    expect(await answer).toBe('here')
  })

  it('a database request is not retried after its caller aborted', async () => {
    const time = new VirtualTime()
    let isOver = false
    const answer = retryUntilAnswered(time, () => isOver, away)
    isOver = true
    await pass(time, 250)
    expect(await answer).toBeUndefined()
  })

  it('an error that a retry cannot mend is thrown at once', async () => {
    const refused = new RunsError('timeline_broken', 'no')
    const asking = retryUntilAnswered(
      new VirtualTime(),
      () => false,
      () => Promise.reject(refused),
    )
    await expect(asking).rejects.toBe(refused)
  })
})
