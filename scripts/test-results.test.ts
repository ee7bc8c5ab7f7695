import { describe, expect, it } from 'vitest'
import { filesToRepeat, skipResult, summaryLines, timeLines, withSecondAttempt } from './test-results.ts'

describe('the summary of a test run', () => {
  it('the summary lists failed and skipped tests by name, and its last line has the counts of all checks', () => {
    const lines = summaryLines([
      { name: 'lint', state: 'passed', reason: '' },
      { name: 'a.test.ts > holds', state: 'failed', reason: 'expected 1 to be 2' },
      { name: 'b.test.ts > calls', state: 'skipped', reason: 'baresip is not installed' },
    ])
    expect(lines.at(-1)).toBe('1 passed, 1 failed, 1 skipped')
    expect(lines).toContain('  a.test.ts > holds: expected 1 to be 2')
    expect(lines).toContain('  b.test.ts > calls: baresip is not installed')
  })

  it('the reason of a skip is read from the name of the test or its group, also with brackets in it', () => {
    const name = 'b.test.ts > baresip (skipped: sox is not installed (at all): apt-get install sox) > hears us'
    expect(skipResult(name, undefined)).toEqual({
      name: 'b.test.ts > baresip > hears us',
      state: 'skipped',
      reason: 'sox is not installed (at all): apt-get install sox',
    })
    expect(skipResult('c.test.ts > d', 'no IPv6 here')).toMatchObject({ state: 'skipped', reason: 'no IPv6 here' })
  })

  it('a skip without a reason counts as a failure', () => {
    expect(skipResult('c.test.ts > d', undefined)).toMatchObject({ state: 'failed' })
  })
})

describe('a second attempt', () => {
  const file = (group: string, name: string) => ({ group, file: name, ms: 1, cpuMs: 1 })
  const failed = (name: string) => ({ name: `${name} > holds`, state: 'failed', reason: 'late', file: name }) as const

  it('a failed file of any group runs again, and one in whose time an error came that no test awaited', () => {
    const files = [file('unit', 'a'), file('realtime', 'b'), file('slow', 'c'), file('realtime', 'd')]
    expect(filesToRepeat([failed('a'), failed('b'), failed('c')], files)).toEqual(['a', 'b', 'c'])
    const stray = { ...failed('d'), name: 'd > outside of any test' }
    expect(filesToRepeat([stray], files)).toEqual(['d'])
  })

  it('nothing runs again when more than sixteen files failed', () => {
    const names = Array.from({ length: 17 }, (_, n) => `${n}`)
    expect(
      filesToRepeat(
        names.map(failed),
        names.map(name => file('realtime', name)),
      ),
    ).toEqual([])
  })

  it('a test that passes alone counts as passed and is named in the summary; one that fails again counts as failed', () => {
    const passed = { ...failed('a'), state: 'passed', reason: '' } as const
    const { results, passedThen } = withSecondAttempt([failed('a'), failed('b')], [passed, failed('b')])
    const lines = summaryLines(results, passedThen)
    expect(lines).toContain('Failed beside other tests and passed alone:')
    expect(lines).toContain('  a > holds')
    expect(lines.at(-1)).toBe('1 passed, 1 failed, 0 skipped')
  })
})

describe('the times of a test run', () => {
  it('the seconds per group are followed by the 20 slowest files, then by the 20 with the most processor time', () => {
    const times = (n: number) => ({ ms: 1000 * n, cpuMs: 100 * (30 - n) })
    const files = Array.from({ length: 30 }, (_, n) => ({ group: 'unit', file: `${n}.test.ts`, ...times(n) }))
    const lines = timeLines(
      [
        { group: 'static checks', files: 0, ms: 12_340, cpuMs: 0 },
        { group: 'unit', files: 30, ms: 435_000, cpuMs: 45_600 },
      ],
      files,
    )
    expect(lines.slice(0, 6)).toEqual([
      'Seconds per group, and processor time of its workers and their processes:',
      '  static checks   12.3 s',
      '  unit           435.0 s   45.6 s  30 files',
      '',
      'The 20 slowest files:',
      '   29.0 s  29.test.ts (unit)',
    ])
    expect(lines[24]).toBe('   10.0 s  10.test.ts (unit)')
    expect(lines.slice(25, 28)).toEqual([
      '',
      'The 20 files with the most processor time:',
      '    3.0 s  0.test.ts (unit)',
    ])
    expect(lines).toHaveLength(47)
    expect(lines.at(-1)).toContain('19.test.ts')
  })
})
