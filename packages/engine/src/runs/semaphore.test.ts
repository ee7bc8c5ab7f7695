import { expect, it } from 'vitest'
import { Semaphore } from './semaphore.ts'

it('a semaphore runs at most its number of tasks at once, in order, also where tasks fail', async () => {
  const semaphore = new Semaphore(2)
  const begun: number[] = []
  const ends: PromiseWithResolvers<void>[] = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const all = ends.map(({ promise }, index) =>
    semaphore.run(() => {
      begun.push(index)
      return promise
    }),
  )
  expect(begun).toEqual([0, 1])
  ends[1]!.reject(new Error('broken'))
  await expect(all[1]).rejects.toThrow('broken')
  expect(begun).toEqual([0, 1, 2])
  for (const { resolve } of ends) resolve()
  await Promise.allSettled(all)
  expect(begun).toEqual([0, 1, 2, 3, 4])
  await semaphore.run(async () => begun.push(5))
  expect(begun.at(-1)).toBe(5)
})
