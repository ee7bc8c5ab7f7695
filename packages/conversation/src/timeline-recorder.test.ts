import { describe, expect, it } from 'vitest'
import { TimelineRecorder } from './timeline-recorder.ts'

describe('the timeline recorder', () => {
  it('timeline items are numbered from 1 and have a wall-clock time and a call offset', () => {
    let offset: number | null = null
    const recorder = new TimelineRecorder(
      () => Date.UTC(2026, 0, 5, 9, 30, 0, 250),
      () => offset,
    )
    const first = recorder.record({ kind: 'hold', held: true })
    offset = 1200
    const second = recorder.record({ kind: 'hold', held: false })
    const third = recorder.record({ kind: 'digits', direction: 'in', digits: '1' }, 1100)
    expect([first, second, third]).toEqual([
      { seq: 1, at: '2026-01-05T09:30:00.250Z', offset_ms: null, kind: 'hold', held: true },
      { seq: 2, at: '2026-01-05T09:30:00.250Z', offset_ms: 1200, kind: 'hold', held: false },
      { seq: 3, at: '2026-01-05T09:30:00.250Z', offset_ms: 1100, kind: 'digits', direction: 'in', digits: '1' },
    ])
  })
})
