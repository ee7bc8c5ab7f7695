import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { releaseMemoryOfStart } from './memory-of-start.ts'

const garbage = () => new WeakRef({ of: 'the start' })

describe('the memory of a start', () => {
  it('garbage is collected at once', async () => {
    const reference = garbage()
    await turn()
    releaseMemoryOfStart()
    expect(reference.deref()).toBeUndefined()
  })
})
