import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { runningTime } from './running-time.ts'

/** Lets nothing else run in this process for `ms`. */
function compute(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

it('running time stands still while the process cannot run, so that a limit does not pass before what had arrived is read', async () => {
  const fired: string[] = []
  const begun = runningTime.now()
  runningTime.at(begun + 100, () => fired.push('limit'))
  const arrived = sleep(1).then(() => fired.push('answer'))
  compute(300)
  await arrived
  expect(fired).toEqual(['answer'])
  expect(runningTime.now() - begun).toBeLessThan(100)
})

it('running time moves as real time does while the process is idle; timers fire in order and not before their deadline', async () => {
  const fired: number[] = []
  const begun = runningTime.now()
  const cancelled = runningTime.at(begun + 15, () => fired.push(15))
  cancelled.cancel()
  await new Promise<void>(resolve => {
    runningTime.at(begun + 60, resolve)
    for (const ms of [40, 10, 20]) runningTime.at(begun + ms, () => fired.push(ms))
  })
  expect(fired).toEqual([10, 20, 40])
  expect(runningTime.now() - begun).toBeGreaterThanOrEqual(60)
  await sleep(50)
  expect(runningTime.now() - begun).toBeGreaterThan(60)
})
