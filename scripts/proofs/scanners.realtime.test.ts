import { describe, expect, it } from 'vitest'
import { proveScanners } from './scanners.ts'

const options = { seed: 1, seconds: 60, line: () => {}, progress: () => {} }

describe('the proof "scanners": scanners with 50 sockets over each transport', () => {
  it('3,000 requests and bursts of random data are not answered and create neither a run nor state', async () => {
    const { ok, summary } = await proveScanners({ ...options, count: 1000 })
    expect(ok, JSON.stringify(summary)).toBe(true)
  })

  it('the proof fails when a scanner has guessed the token', async () => {
    const { ok } = await proveScanners({ ...options, count: 100 }, 'a guessed token')
    expect(ok).toBe(false)
  })
})
