import { expect, it } from 'vitest'
import { linesOf, newAssertion, newCase, stepsOf } from './case-fields.ts'

it('the steps of a script are lines of words', () => {
  expect(linesOf([{ says: 'Hello.' }, { presses: '1' }, { says: 'Two\nlines' }])).toBe('Hello.\n\nTwo lines')
})

it('a step keeps its other fields when its words change', () => {
  const steps = [{ says: 'Hello.', level_db: -30 }, { presses: '1' }]
  expect(stepsOf('Good day.\n\nGoodbye.\n', steps)).toEqual([
    { says: 'Good day.', level_db: -30 },
    { presses: '1' },
    { says: 'Goodbye.' },
  ])
})

it('a step without a line is removed', () => {
  expect(stepsOf('Hello.', [{ says: 'Hello.' }, { says: 'Goodbye.' }])).toEqual([{ says: 'Hello.' }])
})

it('a new assertion has an id that no other assertion of the case has', () => {
  expect(newAssertion('judge', [{ id: 'judge' }, { id: 'judge_2' }]).id).toBe('judge_3')
})

it('a new case has an id that no other case of the suite has', () => {
  expect(newCase([{ case_id: 'case_2' }], 'en').case_id).toBe('case_3')
})
