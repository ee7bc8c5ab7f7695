import { beforeAll, describe, expect, it } from 'vitest'
import { proveFaults } from './faults.ts'

/** Of the 13 moments; `npm run proof -- faults` kills at every one. */
const SAMPLED_MOMENTS = 5
/** Its sample has calls out and in, both lines, a transfer, a hang-up, and an answer without an ACK. The planted faults add three moments. */
const SEED = 28

interface Line {
  readonly moment: string
  readonly line: string
  readonly planted: string | null
  readonly faults: readonly string[]
}

// One series of kills on one platform; each test examines a part of the report.
describe('the proof "faults": an engine that is killed during a call', () => {
  const lines: Line[] = []
  const log: string[] = []
  let outcome: Awaited<ReturnType<typeof proveFaults>>

  beforeAll(async () => {
    const line = (record: object) => void lines.push(record as Line)
    const progress = (text: string) => void log.push(text)
    // A lease must outlast the replay of a killed engine's journal, which begins within two seconds on a machine that is not busy.
    const leaseMs = 5000
    outcome = await proveFaults({ seed: SEED, count: SAMPLED_MOMENTS, seconds: 300, line, progress }, { leaseMs })
  }, 600_000)

  it('a kill at five moments that a fixed seed chooses ends its run, brings the carrier a BYE or CANCEL and leaves no permit', () => {
    const kills = lines.filter(({ planted }) => planted === null)
    expect(kills.filter(({ faults }) => faults.length > 0)).toEqual([])
    expect(kills).toHaveLength(SAMPLED_MOMENTS)
    expect(new Set(kills.map(({ moment }) => moment)).size).toBe(SAMPLED_MOMENTS)
    expect(new Set(kills.map(({ moment }) => moment.startsWith('inbound')))).toEqual(new Set([true, false]))
    expect(new Set(kills.map(({ line }) => line)).size).toBe(2)
    expect(outcome, log.join('\n')).toMatchObject({ ok: true, summary: { permits_left: null } })
  })

  it('the proof fails when no worker reaps the run of a killed engine', () => {
    const [planted] = lines.filter(line => line.planted === 'no reaper')
    expect(planted?.faults.join('; ')).toMatch(
      /the run is running.*the carrier has no BYE or CANCEL.*its permit was not returned/,
    )
  })

  it('the proof fails when another engine dials the call of a killed engine again', () => {
    const [planted] = lines.filter(line => line.planted === 'engine dials again')
    expect(planted?.faults).toContain('2 calls instead of one')
  })

  it('the proof fails when the dialog was not stored before the ACK', () => {
    const [planted] = lines.filter(line => line.planted === 'the dialog is lost')
    expect(planted?.faults).toContain('the carrier has no BYE or CANCEL')
  })
})
