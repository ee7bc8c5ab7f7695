import { describe, expect, it } from 'vitest'
import { proveNoLeaks } from './leaks.ts'

const options = { seed: 1, seconds: 60, line: () => {}, progress: () => {} }

describe('after calls each way, ended from either side, a process holds what it held when idle', () => {
  it('after 50 calls', { timeout: 120_000 }, async () => {
    const { ok, summary } = await proveNoLeaks({ ...options, count: 25 })
    expect(ok, JSON.stringify(summary)).toBe(true)
  })

  it('and the proof fails where one call was never closed', { timeout: 120_000 }, async () => {
    const { ok } = await proveNoLeaks({ ...options, count: 1 }, 'a call')
    expect(ok).toBe(false)
  })
})
