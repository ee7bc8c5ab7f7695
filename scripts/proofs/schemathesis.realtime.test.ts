import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { randomBelow, SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { IDS, type Ids, LARGEST_OPERATION, proveBySchemathesis, SCHEMATHESIS } from './schemathesis.ts'

// Schemathesis creates a folder in its working directory.
const found = spawnSync('schemathesis', ['--version'], { encoding: 'utf8', timeout: 60_000, cwd: tmpdir() })
const missing = found.status !== 0
const note = missing ? ` (skipped: schemathesis is not installed: pip install schemathesis==${SCHEMATHESIS})` : ''

/** Every third operation has its bounds tested here; `npm run proof -- schemathesis` tests those of all. */
const SAMPLED_SHARE = 3

/** Chosen by a fixed seed, without the operation whose bounds take minutes. */
function sampledOperations(): Ids {
  const random = new SeededRandom(1)
  return IDS.filter(id => randomBelow(random, SAMPLED_SHARE) === 0 && id !== LARGEST_OPERATION)
}

async function prove(plan: { readonly bounds: Ids; readonly random: Ids; readonly planted?: 'a handler that throws' }) {
  const lines: object[] = []
  const options = { seed: 1, count: 3, seconds: 800, line: (record: object) => lines.push(record), progress: () => {} }
  const outcome = await proveBySchemathesis(options, plan)
  return { ...outcome, lines }
}

describe.skipIf(missing)(`schemathesis tests the API by its OpenAPI document${note}`, { timeout: 900_000 }, () => {
  it('every operation answers random requests as the document declares, a sample of operations also values at their bounds, and none with 5xx', async () => {
    const { ok, lines } = await prove({ bounds: sampledOperations(), random: IDS })
    expect(ok, JSON.stringify(lines)).toBe(true)
  })

  it('the report names a handler that throws', async () => {
    const { ok, lines } = await prove({ bounds: ['agents.list'], random: [], planted: 'a handler that throws' })
    expect(ok).toBe(false)
    expect(JSON.stringify(lines)).toContain('Server error')
  })
})
