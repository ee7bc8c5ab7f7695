import { describe, expect, it } from 'vitest'
import { deadlineFaults, type Item, streamFaults, turnFaults } from './update-checks.ts'

describe('turns after updates', () => {
  const updates = [
    { value: 'apple', sentAt: 100, appliedAt: 120 },
    { value: 'bread', sentAt: 300, appliedAt: 320 },
  ]
  const said = (...turns: [number, string][]) =>
    turnFaults(
      turns.map(([askedAt, text]) => ({ askedAt, text: `Is it ${text}?` })),
      updates,
      'nothing',
    )

  it('say the newest that was applied, or one that was on its way', () => {
    expect(said([90, 'nothing'], [110, 'nothing'], [130, 'apple'], [310, 'bread'], [400, 'bread'])).toEqual([])
    expect(said([110, 'apple'], [310, 'apple'], [400, 'bread'])).toEqual([])
  })

  it('are at fault one turn too late, too early, and where nobody says an update', () => {
    expect(said([130, 'nothing'], [200, 'apple'], [400, 'bread'])).toEqual([
      'turn 0 says "Is it nothing?" 10 ms after "apple" was applied',
    ])
    expect(said([90, 'apple'], [130, 'apple'], [400, 'bread'])).toHaveLength(1)
    expect(said([130, 'apple'])).toEqual(['no turn says "bread"'])
    expect(turnFaults([], [{ value: 'apple', sentAt: 1, appliedAt: null }], '')).toEqual(['"apple" was not applied'])
  })
})

describe('an update that nobody could apply', () => {
  const at = (ms: number) => new Date(ms).toISOString()
  const look = (askedAt: number, status: string) => ({ askedAt, answeredAt: askedAt + 10, status })
  const waited = [look(0, 'acknowledged'), look(9000, 'acknowledged')]
  const receipt = { status: 'indeterminate', reason: 'deadline', deadline: at(10_000), completed_at: at(10_900) }

  it('waits until its deadline and is indeterminate soon after it', () => {
    expect(deadlineFaults([...waited, look(10_990, 'indeterminate')], receipt, 3000)).toEqual([])
  })

  it('is at fault before it, long after it, and with another end', () => {
    expect(deadlineFaults([look(9900, 'indeterminate')], receipt, 3000)).toEqual([
      'indeterminate 90 ms before its deadline',
    ])
    expect(deadlineFaults([...waited, look(13_100, 'acknowledged')], receipt, 3000)).toHaveLength(1)
    expect(deadlineFaults([...waited, look(20_000, 'applied')], { ...receipt, status: 'applied' }, 3000)).toHaveLength(
      2,
    )
    expect(deadlineFaults(waited, { ...receipt, completed_at: at(9999) }, 3000)).toHaveLength(1)
    expect(deadlineFaults(waited, { ...receipt, completed_at: null }, 3000)).toHaveLength(1)
  })
})

describe('a stream', () => {
  const timeline: readonly Item[] = ['state', 'node', 'digits', 'state'].map((kind, at) => ({ seq: at + 1, kind }))
  const of = (...seqs: number[]) => seqs.map(seq => timeline[seq - 1]!)

  it('gives each event once, in order, to the end', () => {
    expect(streamFaults(of(1, 2, 3, 4), timeline, true)).toEqual([])
  })

  it('is at fault with a double, a gap, another event, and without its end', () => {
    expect(streamFaults(of(1, 2, 2, 3, 4), timeline, true)).toEqual(['event 2 twice'])
    expect(streamFaults(of(1, 3, 4), timeline, true)).toEqual(['a gap before event 3: 2 is missing'])
    expect(streamFaults(of(1, 2, 3), timeline, true)).toEqual(['ends behind event 3 of 4'])
    expect(streamFaults(of(1, 2, 3, 4), timeline, false)).toEqual(['was not ended'])
    const other = { seq: 4, kind: 'node' }
    expect(streamFaults([...of(1, 2, 3), other], timeline, true)).toEqual(['event 4 is not what the timeline has'])
  })
})
