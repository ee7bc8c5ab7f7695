import { describe, expect, it } from 'vitest'
import { type FaultsOptions, proveFaults } from './faults.ts'

async function prove(count: number, options: Partial<FaultsOptions>) {
  const lines: object[] = []
  const short = { leaseMs: 1500, ...options }
  const given = { seed: 1, count, seconds: 120, line: (record: object) => lines.push(record), progress: () => {} }
  return { ...(await proveFaults(given, short)), lines }
}

describe('an engine that is killed in mid-call', { timeout: 300_000 }, () => {
  it('leaves nobody on the line: runs end, the carrier has its BYE or CANCEL, no permit is left', async () => {
    const { ok, lines } = await prove(2, { moments: ['ringing', 'in conversation'] })
    expect(ok, JSON.stringify(lines)).toBe(true)
    expect(lines).toHaveLength(2)
  })

  it('is missed where nobody reaps', async () => {
    const { ok, lines } = await prove(1, { moments: ['ringing'], overWithinMs: 8000, planted: 'nobody reaps' })
    expect(ok).toBe(false)
    expect(JSON.stringify(lines)).toMatch(/the run is running.*the carrier has no BYE or CANCEL.*permits left/)
  })

  it('is not called again by an engine that forgot', async () => {
    const { ok, lines } = await prove(1, { moments: ['just answered'], planted: 'engine dials again' })
    expect(ok).toBe(false)
    expect(JSON.stringify(lines)).toContain('2 calls where there is one')
  })
})
