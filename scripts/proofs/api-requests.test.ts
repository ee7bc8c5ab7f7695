import { describe, expect, it } from 'vitest'
import { type PlantedHandler, proveApiRequests } from './api-requests.ts'

async function prove(count: number, planted?: PlantedHandler) {
  const lines: object[] = []
  const options = { seed: 1, count, seconds: 1700, line: (record: object) => lines.push(record), progress: () => {} }
  return { ...(await proveApiRequests(options, planted)), lines }
}

describe('the proof "api-requests"', { timeout: 1_800_000 }, () => {
  it('600 random requests are answered as the contract declares, none with 5xx', async () => {
    const { ok, summary, lines } = await prove(600)
    expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
    expect(summary).toMatchObject({ faults: 0, never: [], unfinished: 0 })
  })

  it('the proof reports a handler that throws', async () => {
    const { ok, lines } = await prove(150, 'a handler that throws')
    expect(ok).toBe(false)
    expect(lines).toContainEqual(
      expect.objectContaining({ operation: 'runs.list', status: 500, faults: ['status 500'] }),
    )
  })
})
