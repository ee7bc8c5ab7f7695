import { describe, expect, it } from 'vitest'
import { type PlantedDrainFault, proveDrain } from './drain.ts'

async function prove(planted: PlantedDrainFault) {
  const lines: object[] = []
  const given = { seed: 1, count: 5, seconds: 120, line: (record: object) => lines.push(record), progress: () => {} }
  return { ...(await proveDrain(given, { callMs: 12_000, planted })), lines }
}

describe('SIGTERM in the middle of calls', { timeout: 300_000 }, () => {
  it('takes nothing new, and lets every call go on to its end', async () => {
    const { ok, summary, lines } = await prove('nothing')
    expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
    expect(summary).toMatchObject({ calls: 5, exit: 0, invite: { status: 503, hasRetryAfter: true } })
  })

  it('is told from an end at once', async () => {
    const { ok, lines } = await prove('cut off')
    expect(ok).toBe(false)
    expect(JSON.stringify(lines)).toContain('5 calls were cut off')
  })
})
