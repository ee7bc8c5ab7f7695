import { describe, expect, it } from 'vitest'
import { type UpgradeObservations, upgradeFaults } from './upgrade-faults.ts'

const GOOD = { state: 'completed', kind: 'caller_hung_up', webhooks: ['run.started', 'run.ended'] }
const CUT_OFF = { ...GOOD, state: 'failed', kind: 'error' }
const FINE: UpgradeObservations = {
  count: 2,
  created: 6,
  calls: 6,
  cutOff: 0,
  live: 2,
  exit: 0,
  runs: [GOOD, GOOD, GOOD, GOOD, GOOD, GOOD],
}

describe('the upgrade proof', () => {
  it('the proof accepts an upgrade in which every call ended as its far end wanted', () => {
    expect(upgradeFaults(FINE)).toEqual([])
  })

  it('the proof notices that the earlier process was killed instead of being asked to end', () => {
    // As `npm run proof -- upgrade` saw it with the planted fault.
    const runs = [CUT_OFF, CUT_OFF, CUT_OFF, { ...CUT_OFF, webhooks: ['run.ended'] }, GOOD, GOOD]
    expect(upgradeFaults({ ...FINE, exit: null, cutOff: 3, runs })).toEqual([
      '3 calls were cut off',
      '2 of 6 runs completed because the far end hung up',
      '1 runs did not send exactly run.started and run.ended',
      'the earlier process ended with null',
    ])
  })

  it.each<[string, Partial<UpgradeObservations>, string]>([
    ['a run that was lost', { runs: FINE.runs.slice(1) }, '5 runs of 6'],
    ['a request that was refused', { created: 5 }, '5 requests of 6 were accepted'],
    ['a phone that was called twice', { calls: 7 }, '7 calls of 6'],
    ['calls that ended before the later version was ready', { live: 1 }, '1 of 2 calls were live'],
    ['a webhook that was sent twice', { runs: twice() }, '1 runs did not send exactly'],
    ['an earlier process that does not end', { exit: 'alive' }, 'the earlier process ended with alive'],
  ])('the proof notices %s', (_name, change, fault) => {
    expect(upgradeFaults({ ...FINE, ...change })).toEqual([expect.stringContaining(fault)])
  })
})

function twice(): UpgradeObservations['runs'] {
  return [{ ...GOOD, webhooks: ['run.started', 'run.ended', 'run.ended'] }, ...FINE.runs.slice(1)]
}
