import { describe, it } from 'vitest'
import { type PlantedDrainFault, proveDrain } from './drain.ts'

async function prove(planted: PlantedDrainFault) {
  const lines: object[] = []
  const options = { seed: 1, count: 5, seconds: 120, line: (record: object) => lines.push(record), progress: () => {} }
  // On a busy machine the process gets to its signal later.
  const readyMs = 4000
  return { ...(await proveDrain(options, { callMs: 12_000, readyMs, planted })), lines }
}

// Concurrent, because each test has a platform of its own and mostly waits for calls to end.
describe('the proof "drain"', { concurrent: true }, () => {
  it('after SIGTERM a process refuses new calls with 503, dials none, and every live call continues until its far end hangs up', async ({
    expect,
  }) => {
    const { ok, summary, lines } = await prove('nothing')
    expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
    expect(summary).toMatchObject({ calls: 5, exit: 0, invite: { status: 503, hasRetryAfter: true } })
  })

  it('the proof fails for a process that cuts its calls off', async ({ expect }) => {
    const { ok, lines } = await prove('cut off')
    expect(ok).toBe(false)
    expect(JSON.stringify(lines)).toContain('5 calls were cut off')
  })
})
