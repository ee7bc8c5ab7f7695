import type { TimelineItem } from '@parley/conversation'
import { describe, expect, it } from 'vitest'
import { recordedTurns } from './replay-caller.ts'

const at = { seq: 1, at: '2026-11-23T09:00:00.000Z', offset_ms: 0 }
const says = (role: 'agent' | 'user', text: string) =>
  ({ ...at, kind: 'utterance', role, text, interrupted: false }) as unknown as TimelineItem
const presses = (digits: string) => ({ ...at, kind: 'digits', digits, direction: 'in' }) as unknown as TimelineItem

describe('the moves of a recorded caller up to a turn', () => {
  const timeline = [
    presses('1'),
    says('agent', 'Your number?'),
    says('user', 'Yes.'),
    presses('1042'),
    says('user', 'Tuesday.'),
    says('user', 'Goodbye.'),
  ]

  it.each([
    [0, ['1']],
    [1, ['1', 'Yes.', '1042']],
    [2, ['1', 'Yes.', '1042', 'Tuesday.']],
    [9, ['1', 'Yes.', '1042', 'Tuesday.', 'Goodbye.']],
  ])('keys belong to the turn in which they were pressed: up to turn %i', (last, moves) => {
    const made = recordedTurns(timeline, last).map(move => (move.type === 'turn' ? (move.text ?? move.digits) : null))
    expect(made).toEqual(moves)
  })
})
