import { expect, it } from 'vitest'
import { proveIdempotency } from './idempotency.ts'

it('requests with idempotency keys take effect once each while the API is killed and while its database is down', async () => {
  const lines: object[] = []
  const line = (record: object) => lines.push(record)
  const { ok, summary } = await proveIdempotency({ seed: 1, count: 100, seconds: 180, line, progress: () => {} })
  expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
  expect(summary).toMatchObject({ faults: 0, kills: 2, planted_found: true })
})
