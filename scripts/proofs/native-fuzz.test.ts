import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildSanitised, proof } from './native-fuzz.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-sanitised-'))
const tried = buildSanitised(join(folder, 'overflow.node'), [join(import.meta.dirname, 'native-fuzz', 'overflow.cc')])
rmSync(folder, { recursive: true, force: true })
const isMissing = 'obstacle' in tried
const note = isMissing ? ` (skipped: ${tried.obstacle})` : ''

describe.skipIf(isMissing)(`fuzzing the native layer${note}`, () => {
  it('seven calls under attack and pages of any content: the sanitisers report nothing', {
    timeout: 300_000,
  }, async () => {
    const lines: object[] = []
    const { ok, summary } = await proof.run({
      seed: 1,
      count: 7,
      seconds: 120,
      line: record => lines.push(record),
      progress: () => {},
    })
    expect(ok, lines.map(record => JSON.stringify(record)).join('\n')).toBe(true)
    expect(summary).toMatchObject({ planted_overflow_reported: true, traces: 7 })
  })
})
