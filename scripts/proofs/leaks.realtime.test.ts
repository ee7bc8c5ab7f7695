import { describe, expect, it } from 'vitest'
import { proveNoLeaks } from './leaks.ts'

const options = { seed: 1, seconds: 60, line: () => {}, progress: () => {} }

describe('the proof "leaks"', () => {
  it('after 50 calls, ended from either side, a process has no more resources than before', async () => {
    const { ok, summary } = await proveNoLeaks({ ...options, count: 25 })
    expect(ok, JSON.stringify(summary)).toBe(true)
  })

  it('the proof fails when one call was not closed', async () => {
    const { ok } = await proveNoLeaks({ ...options, count: 1 }, 'a call')
    expect(ok).toBe(false)
  })
})
