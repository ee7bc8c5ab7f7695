import { describe, expect, it } from 'vitest'
import { type PlantedTollFault, proveTollFraud } from './toll-fraud.ts'

async function prove(count: number, planted: PlantedTollFault) {
  const lines: object[] = []
  const given = { seed: 1, count, seconds: 120, line: (record: object) => lines.push(record), progress: () => {} }
  return { ...(await proveTollFraud(given, { planted })), lines }
}

describe('whoever wants a call to go where none may', { timeout: 300_000 }, () => {
  it('gets no INVITE and no REFER past the policy to the carrier', async () => {
    const { ok, summary, lines } = await prove(2, 'nothing')
    expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
    expect(summary).toEqual({ tries: 8, faulty: 0 })
  })

  it('is seen by the carrier where staff opened the policy', async () => {
    const { ok, lines } = await prove(1, 'open policy')
    expect(ok).toBe(false)
    expect(JSON.stringify(lines)).toContain('a REFER to +19005551234')
  })
})
