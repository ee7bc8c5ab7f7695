import { expect, it } from 'vitest'
import { Gate } from './gate.ts'

it('lets no more through at once than it says, in order, whatever becomes of them', async () => {
  const gate = new Gate(2)
  const begun: number[] = []
  const ends: PromiseWithResolvers<void>[] = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const all = ends.map(({ promise }, index) =>
    gate.pass(() => {
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
  await gate.pass(async () => begun.push(5))
  expect(begun.at(-1)).toBe(5)
})
