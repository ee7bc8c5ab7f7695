import { expect, it } from 'vitest'
import { sleepUntil, withDeadline } from './deadline.ts'
import { VirtualTime } from './virtual-time.ts'

const never = new AbortController().signal

it('work that is done before its deadline gives its result, and no timer is left', async () => {
  const time = new VirtualTime()
  expect(await withDeadline(time, 1000, never, Promise.resolve('done'))).toBe('done')
  expect(time.nextDeadline()).toBeUndefined()
})

it('work that is not done at its deadline gives null, and its later failure is ignored', async () => {
  const time = new VirtualTime()
  const work = Promise.withResolvers<string>()
  const result = withDeadline(time, 1000, never, work.promise)
  time.advance(1000)
  expect(await result).toBeNull()
  work.reject(new Error('late'))
  await expect(work.promise).rejects.toThrow('late')
})

it('work that fails before its deadline rejects', async () => {
  const failed = Promise.reject(new Error('no'))
  await expect(withDeadline(new VirtualTime(), 1000, never, failed)).rejects.toThrow('no')
})

it('a sleep ends at once when it is aborted', async () => {
  const time = new VirtualTime()
  const wake = new AbortController()
  const sleep = sleepUntil(time, 1000, wake.signal)
  wake.abort()
  await sleep
  expect(time.nextDeadline()).toBeUndefined()
})
