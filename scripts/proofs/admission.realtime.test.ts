import { describe, expect, it } from 'vitest'
import { type AdmissionOptions, proveAdmission } from './admission.ts'

async function prove(options: Partial<AdmissionOptions> = {}) {
  const lines: object[] = []
  const short = { capacity: 10, dailyLimit: 25, dollars: 4, callMs: 5000, ...options }
  const given = { seed: 1, count: 60, seconds: 120, line: (record: object) => lines.push(record), progress: () => {} }
  return { ...(await proveAdmission(given, short)), lines }
}

describe('many runs asked for at once', { timeout: 300_000 }, () => {
  it('are admitted up to each limit and not one more, as the carrier saw', async () => {
    const { ok, summary, lines } = await prove()
    expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
    expect(summary).toMatchObject({ most_at_once: 10, faults: 0 })
  })

  it('are one too many by a verdict that takes the capacity for one less', async () => {
    const { ok, lines } = await prove({ judgedAs: 9 })
    expect(ok).toBe(false)
    expect(JSON.stringify(lines)).toContain('10 calls at once')
  })
})
