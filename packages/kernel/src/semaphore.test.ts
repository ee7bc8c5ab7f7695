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

it('a semaphore refuses a task when as many wait as its limit allows', async () => {
  const semaphore = new Semaphore(1, { maxWaiting: 1, refuse: () => new Error('busy') })
  const { promise, resolve } = Promise.withResolvers<void>()
  const admitted = [semaphore.run(() => promise), semaphore.run(() => promise)]
  await expect(semaphore.run(() => promise)).rejects.toThrow('busy')
  await expect(semaphore.acquire(new AbortController().signal)).rejects.toThrow('busy')
  resolve()
  await Promise.all(admitted)
  expect(await semaphore.acquire(new AbortController().signal)).toBe(true)
})

it('a task that aborts while it waits gets no permit, and the next waiting task gets it', async () => {
  const semaphore = new Semaphore(1)
  const { signal } = new AbortController()
  const aborting = new AbortController()
  expect(await semaphore.acquire(signal)).toBe(true)
  const aborted = semaphore.acquire(aborting.signal)
  const next = semaphore.acquire(signal)
  aborting.abort()
  expect(await aborted).toBe(false)
  expect(await semaphore.acquire(aborting.signal)).toBe(false)
  semaphore.release()
  expect(await next).toBe(true)
})
