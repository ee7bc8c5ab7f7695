import { beforeAll, describe, expect, it } from 'vitest'
import { proveFaults } from './faults.ts'

interface Line {
  readonly moment: string
  readonly line: string
  readonly planted: string | null
  readonly faults: readonly string[]
}

/** One stand for all: where all three look at the same kills, each says what it is about. */
describe('an engine that is killed in mid-call', () => {
  const lines: Line[] = []
  const told: string[] = []
  let outcome: Awaited<ReturnType<typeof proveFaults>>

  beforeAll(async () => {
    const line = (record: object) => void lines.push(record as Line)
    const progress = (text: string) => void told.push(text)
    outcome = await proveFaults({ seed: 8, count: 20, seconds: 300, line, progress }, { leaseMs: 3000 })
  }, 600_000)

  it('leaves nobody on the line, 20 times: runs end, the carrier has its BYE or CANCEL, no permit is left', () => {
    const kills = lines.filter(({ planted }) => planted === null)
    expect(kills.filter(({ faults }) => faults.length > 0)).toEqual([])
    expect(kills).toHaveLength(20)
    expect(new Set(kills.map(({ moment }) => moment)).size).toBe(13)
    expect(new Set(kills.map(({ line }) => line)).size).toBe(2)
    expect(outcome, told.join('\n')).toMatchObject({ ok: true, summary: { permits_left: null } })
  })

  it('is missed where nobody reaps', () => {
    const [planted] = lines.filter(line => line.planted === 'nobody reaps')
    expect(planted?.faults.join('; ')).toMatch(
      /the run is running.*the carrier has no BYE or CANCEL.*its permit is left/,
    )
  })

  it('is not called again by an engine that forgot', () => {
    const [planted] = lines.filter(line => line.planted === 'engine dials again')
    expect(planted?.faults).toContain('2 calls where there is one')
  })

  it('is missed where a call was acknowledged that nobody knows how to hang up', () => {
    const [planted] = lines.filter(line => line.planted === 'the dialog is lost')
    expect(planted?.faults).toContain('the carrier has no BYE or CANCEL')
  })
})
