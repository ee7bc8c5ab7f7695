import { describe, expect, it } from 'vitest'
import { skipResult, summaryLines } from './test-results.ts'

describe('the summary of a test run', () => {
  it('ends with the counts over everything, after what was skipped and what failed, by name', () => {
    const lines = summaryLines([
      { name: 'lint', state: 'passed', reason: '' },
      { name: 'a.test.ts > holds', state: 'failed', reason: 'expected 1 to be 2' },
      { name: 'b.test.ts > calls', state: 'skipped', reason: 'baresip is not installed' },
    ])
    expect(lines.at(-1)).toBe('1 passed, 1 failed, 1 skipped')
    expect(lines).toContain('  a.test.ts > holds: expected 1 to be 2')
    expect(lines).toContain('  b.test.ts > calls: baresip is not installed')
  })

  it('takes the reason of a skip from its name, also from that of a group and with brackets in it', () => {
    const name = 'b.test.ts > baresip (skipped: sox is not installed (at all): apt-get install sox) > hears us'
    expect(skipResult(name, undefined)).toEqual({
      name: 'b.test.ts > baresip > hears us',
      state: 'skipped',
      reason: 'sox is not installed (at all): apt-get install sox',
    })
    expect(skipResult('c.test.ts > d', 'no IPv6 here')).toMatchObject({ state: 'skipped', reason: 'no IPv6 here' })
  })

  it('counts a skip without a reason as a failure', () => {
    expect(skipResult('c.test.ts > d', undefined)).toMatchObject({ state: 'failed' })
  })
})
