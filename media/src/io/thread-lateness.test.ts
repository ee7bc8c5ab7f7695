import { expect, it } from 'vitest'
import { ThreadLateness } from './thread-lateness.ts'

it('the counts of a thread have a slot that was missed as a packet that is late, its quantiles only packets that were sent', () => {
  const lateness = new ThreadLateness(new Int32Array(new SharedArrayBuffer(64)), 0)
  lateness.note(1, 0, 20)
  lateness.note(5, 3, 20)
  const { count, maxMs, counts } = lateness.takeSummary()
  expect({ count, maxMs }).toEqual({ count: 2, maxMs: 5 })
  const late = [...counts.buckets.entries()].flatMap(([step, packets]) =>
    packets > 0 ? [Math.round(step * 0.02)] : [],
  )
  expect(late).toEqual([1, 5, 25, 45, 65])
  expect(counts.maxMs).toBe(65)
  expect(lateness.takeSummary().counts.buckets).toHaveLength(0)
})
