import { describe, expect, it } from 'vitest'
import { proveSrtpFlood } from './srtp-flood.ts'

describe('a flood of invalid SRTP', () => {
  it('20,000 invalid packets against each suite: none is accepted or answered, and every sample of the call arrives unchanged', async () => {
    const lines: object[] = []
    const { ok } = await proveSrtpFlood({
      seed: 1,
      count: 20_000,
      seconds: 60,
      line: record => lines.push(record),
      progress: () => {},
    })
    expect(ok, lines.map(record => JSON.stringify(record)).join('\n')).toBe(true)
    expect(lines).toHaveLength(2)
  })
})
