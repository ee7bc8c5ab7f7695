import { VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { Signal } from './signal.ts'

describe('a signal', () => {
  it('a signal wakes a waiting task, and is remembered when no task waits', async () => {
    const time = new VirtualTime()
    const bell = new Signal(time)
    const heard = bell.wait(1000)
    bell.notify()
    await heard
    bell.notify()
    await bell.wait(1000)
    expect(time.now()).toBe(0)
    expect(time.nextDeadline()).toBeUndefined()
  })

  it('waiting for a signal ends at the deadline', async () => {
    const time = new VirtualTime()
    const heard = new Signal(time).wait(1000)
    time.advance(1000)
    await heard
  })
})
