import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { IDS, type Ids, LARGEST_OPERATION, proveBySchemathesis, SCHEMATHESIS } from './schemathesis.ts'

// Schemathesis creates a folder in its working directory.
const found = spawnSync('schemathesis', ['--version'], { encoding: 'utf8', timeout: 60_000, cwd: tmpdir() })
const missing = found.status !== 0
const note = missing ? ` (skipped: schemathesis is not installed: pip install schemathesis==${SCHEMATHESIS})` : ''

async function prove(plan: { readonly bounds: Ids; readonly random: Ids; readonly planted?: 'a handler that throws' }) {
  const lines: object[] = []
  const options = { seed: 1, count: 4, seconds: 800, line: (record: object) => lines.push(record), progress: () => {} }
  const outcome = await proveBySchemathesis(options, plan)
  return { ...outcome, lines }
}

describe.skipIf(missing)(`schemathesis tests the API by its OpenAPI document${note}`, { timeout: 900_000 }, () => {
  // The bounds of all edits of a draft take minutes: `npm run proof -- schemathesis` tests them.
  it('every operation answers as the document declares, to values at its bounds and to random requests, and never with 5xx', async () => {
    const { ok, lines } = await prove({ bounds: IDS.filter(id => id !== LARGEST_OPERATION), random: IDS })
    expect(ok, JSON.stringify(lines)).toBe(true)
  })

  it('the report names a handler that throws', async () => {
    const { ok, lines } = await prove({ bounds: ['agents.list'], random: [], planted: 'a handler that throws' })
    expect(ok).toBe(false)
    expect(JSON.stringify(lines)).toContain('Server error')
  })
})
