import { describe, expect, it } from 'vitest'
import { proveStrangers } from './strangers.ts'

const options = { seed: 1, seconds: 60, line: () => {}, progress: () => {} }

describe('the proof "strangers": someone who knows everything about a live call and a trunk', () => {
  it('injected requests, forbidden media addresses and too many calls are refused, and the live call is unharmed', async () => {
    const lines: object[] = []
    const { ok, summary } = await proveStrangers({ ...options, count: 500, line: record => lines.push(record) })
    expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
  })

  it('the proof fails when the caller hangs up during the attack', async () => {
    const { ok } = await proveStrangers({ ...options, count: 500 }, 'the caller hangs up')
    expect(ok).toBe(false)
  })
})
