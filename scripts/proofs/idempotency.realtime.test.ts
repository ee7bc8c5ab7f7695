import { describe, expect, it } from 'vitest'
import type { PlantedClient } from './api/keyed-creates.ts'
import { proveIdempotency } from './idempotency.ts'

async function prove(count: number, planted?: PlantedClient) {
  const lines: object[] = []
  const options = { seed: 1, count, seconds: 180, line: (record: object) => lines.push(record), progress: () => {} }
  return { ...(await proveIdempotency(options, planted)), lines }
}

describe('creates with idempotency keys', { timeout: 240_000 }, () => {
  it('are done once each while the API is killed, and while its database goes away', async () => {
    const { ok, summary, lines } = await prove(100)
    expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
    expect(summary).toMatchObject({ faults: 0, kills: 2 })
  })

  it('are not done once each by a client that takes another key for another try', async () => {
    const { ok, lines } = await prove(48, 'fresh keys for retries')
    expect(ok).toBe(false)
    expect(JSON.stringify(lines)).toContain('2 times in the table')
  })
})
