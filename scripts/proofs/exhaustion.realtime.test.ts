import { describe, expect, it } from 'vitest'
import { proveExhaustion } from './exhaustion.ts'

const options = { seed: 1, seconds: 60, line: () => {}, progress: () => {} }

describe('the proof "exhaustion": few addresses try to use up what all peers share', () => {
  it("another peer's OPTIONS are answered while few addresses hold unfinished handshakes and silent connections", {
    timeout: 120_000,
  }, async () => {
    const lines: object[] = []
    const { ok, summary } = await proveExhaustion(
      { ...options, count: 2, line: record => lines.push(record) },
      { addresses: 5, attacks: ['handshakes', 'connections'] },
    )
    expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
  })

  it("the proof fails for a peer with the attacker's address", { timeout: 60_000 }, async () => {
    const planted = "the attacker's address"
    const lines: { readonly options?: { readonly sent: number; readonly answered: number } }[] = []
    const { ok } = await proveExhaustion(
      { ...options, count: 1, line: record => lines.push(record) },
      { planted, addresses: 1, attacks: ['handshakes'] },
    )
    expect(ok).toBe(false)
    expect(lines[0]!.options!.answered).toBeLessThan(lines[0]!.options!.sent)
  })
})
