// The short form of the proof is the first test of interop/web-page.test.ts, which measures a call in a page in the same way.
// Here the proof gets levels with planted faults.
import { describe, expect, it } from 'vitest'
import type { PageLog } from '../../interop/page-probe.ts'
import { faultsOf, measuresOf } from './web-page/verdict.ts'

const STEP_MS = 10
const SENTENCES = 4
const PERIOD_MS = 10_000
const SPEAKS_MS = 2000

/**
 * Levels of calls in which the agent speaks all the time. Every 10 s somebody says a sentence of 2 s; the agent stops `stopsAfterMs` after its
 * first sound and answers `answersAfterMs` after its last.
 */
function levels(stopsAfterMs: number, answersAfterMs: number): PageLog['levels'] {
  return Array.from({ length: (SENTENCES * PERIOD_MS + 5000) / STEP_MS }, (_, i) => {
    const at = i * STEP_MS
    const since = (at % PERIOD_MS) - 5000
    const isSaid = at < SENTENCES * PERIOD_MS && since >= 0
    const user = isSaid && since < SPEAKS_MS
    const agent = !isSaid || since < stopsAfterMs || since >= SPEAKS_MS + answersAfterMs
    return [at, user ? 0.1 : 0, agent ? 0.1 : 0] as const
  })
}
const calls = (page: PageLog['levels'], phone = levels(200, 600)) => ({
  page: measuresOf(page),
  phone: measuresOf(phone),
})

describe('the proof of a page beside a phone', () => {
  it('the proof of a page beside a phone measures when the agent stops and when it answers', () => {
    const { stopped_ms, answered_ms } = measuresOf(levels(200, 650))
    expect(stopped_ms).toHaveLength(SENTENCES)
    expect(answered_ms).toHaveLength(SENTENCES)
    for (const ms of stopped_ms) expect(Math.abs(ms - 200)).toBeLessThanOrEqual(STEP_MS)
    for (const ms of answered_ms) expect(Math.abs(ms - 650)).toBeLessThanOrEqual(STEP_MS)
  })

  it('the proof of a page beside a phone passes calls in which the page is like the phone', () => {
    expect(faultsOf(calls(levels(220, 650)), SENTENCES)).toEqual([])
  })

  it('the proof of a page beside a phone reports an agent that talks on for a second when it is interrupted', () => {
    expect(faultsOf(calls(levels(1000, 650)), SENTENCES)).toEqual([
      expect.stringMatching(/^in the page the agent stopped after (99|100)\d ms$/),
    ])
  })

  it('the proof of a page beside a phone reports answers that reach the page half a second later than the phone', () => {
    expect(faultsOf(calls(levels(200, 1150)), SENTENCES)).toEqual([
      expect.stringMatching(/^answers reach the page 5[45]\d ms later than the phone$/),
    ])
  })

  it('the proof of a page beside a phone reports an end that measured nothing', () => {
    const silence = levels(200, 600).map(([at]) => [at, 0, 0] as const)
    expect(faultsOf(calls(levels(200, 600), silence), SENTENCES)).toContain(
      `the phone measured less than half of ${SENTENCES} sentences`,
    )
  })
})
