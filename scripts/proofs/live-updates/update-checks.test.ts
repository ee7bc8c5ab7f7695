import { describe, expect, it } from 'vitest'
import { deadlineFaults, type Item, streamFaults, turnFaults } from './update-checks.ts'

describe('the turns of an agent after updates', () => {
  const updates = [
    { value: 'apple', sentAt: 100, appliedAt: 120 },
    { value: 'bread', sentAt: 300, appliedAt: 320 },
  ]
  const faultsOf = (...turns: [number, string][]) =>
    turnFaults(
      turns.map(([requestedAt, text]) => ({ requestedAt, text: `Is it ${text}?` })),
      updates,
      'nothing',
    )

  it('a turn may speak the newest applied update, or one that was on its way', () => {
    expect(faultsOf([90, 'nothing'], [110, 'nothing'], [130, 'apple'], [310, 'bread'], [400, 'bread'])).toEqual([])
    expect(faultsOf([110, 'apple'], [310, 'apple'], [400, 'bread'])).toEqual([])
  })

  it('a turn that speaks an update too early or too late is a fault, and so is an update that no turn speaks', () => {
    expect(faultsOf([130, 'nothing'], [200, 'apple'], [400, 'bread'])).toEqual([
      'turn 0 says "Is it nothing?" 10 ms after "apple" was applied',
    ])
    expect(faultsOf([90, 'apple'], [130, 'apple'], [400, 'bread'])).toHaveLength(1)
    expect(faultsOf([130, 'apple'])).toEqual(['no turn says "bread"'])
    expect(turnFaults([], [{ value: 'apple', sentAt: 1, appliedAt: null }], '')).toEqual(['"apple" was not applied'])
  })
})

describe('an update that no process could apply', () => {
  const at = (ms: number) => new Date(ms).toISOString()
  const reading = (requestedAt: number, status: string) => ({ requestedAt, answeredAt: requestedAt + 10, status })
  const waited = [reading(0, 'acknowledged'), reading(9000, 'acknowledged')]
  const receipt = { status: 'indeterminate', reason: 'deadline', deadline: at(10_000), completed_at: at(10_900) }

  it('an update that waits until its deadline and is indeterminate soon after it passes the check', () => {
    expect(deadlineFaults([...waited, reading(10_990, 'indeterminate')], receipt, 3000)).toEqual([])
  })

  it('an update that is indeterminate before its deadline or long after it, or ends otherwise, is a fault', () => {
    expect(deadlineFaults([reading(9900, 'indeterminate')], receipt, 3000)).toEqual([
      'indeterminate 90 ms before its deadline',
    ])
    expect(deadlineFaults([...waited, reading(13_100, 'acknowledged')], receipt, 3000)).toHaveLength(1)
    expect(
      deadlineFaults([...waited, reading(20_000, 'applied')], { ...receipt, status: 'applied' }, 3000),
    ).toHaveLength(2)
    expect(deadlineFaults(waited, { ...receipt, completed_at: at(9999) }, 3000)).toHaveLength(1)
    expect(deadlineFaults(waited, { ...receipt, completed_at: null }, 3000)).toHaveLength(1)
  })
})

describe('an event stream', () => {
  const timeline: readonly Item[] = ['state', 'node', 'digits', 'state'].map((kind, at) => ({ seq: at + 1, kind }))
  const of = (...seqs: number[]) => seqs.map(seq => timeline[seq - 1]!)

  it('a stream with each event once and in order passes the check', () => {
    expect(streamFaults(of(1, 2, 3, 4), timeline, true)).toEqual([])
  })

  it('a stream with a duplicate, a gap, a foreign event or without its end is a fault', () => {
    expect(streamFaults(of(1, 2, 2, 3, 4), timeline, true)).toEqual(['event 2 arrived twice'])
    expect(streamFaults(of(1, 3, 4), timeline, true)).toEqual(['a gap before event 3: 2 is missing'])
    expect(streamFaults(of(1, 2, 3), timeline, true)).toEqual(['the stream ends after event 3 of 4'])
    expect(streamFaults(of(1, 2, 3, 4), timeline, false)).toEqual(['the stream was not ended'])
    const other = { seq: 4, kind: 'node' }
    expect(streamFaults([...of(1, 2, 3), other], timeline, true)).toEqual(['event 4 differs from the timeline'])
  })
})
