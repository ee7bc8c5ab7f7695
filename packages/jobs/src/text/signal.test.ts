import { VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { Signal } from './signal.ts'

describe('a bell', () => {
  it('wakes who waits, and is heard later where nobody waited', async () => {
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

  it('is not waited for beyond the deadline', async () => {
    const time = new VirtualTime()
    const heard = new Signal(time).wait(1000)
    time.advance(1000)
    await heard
  })
})
