import { expect, it } from 'vitest'
import { type CaseResult, changeCounts, compared } from './comparison.ts'

const judged = (case_id: string, verdict: CaseResult['verdict'], suite_id = 'suite') => ({ suite_id, case_id, verdict })
const changes = (...args: Parameters<typeof compared>) => compared(...args).map(({ change }) => change)

it('a case that passed before and fails now is regressed, and the reverse is fixed', () => {
  const before = [judged('a', 'passed'), judged('b', 'failed'), judged('c', 'passed'), judged('d', 'errored')]
  const now = [judged('a', 'failed'), judged('b', 'passed'), judged('c', 'passed'), judged('d', 'failed')]
  expect(changes(now, before)).toEqual(['regressed', 'fixed', 'same', 'same'])
  expect(changeCounts(compared(now, before))).toEqual({ regressed: 1, fixed: 1, new: 0 })
})

it('a case that the other test run does not have is new, also if a case of another suite has its id', () => {
  expect(changes([judged('a', 'passed')], [judged('a', 'passed', 'another')])).toEqual(['new'])
})

it('a case without a verdict on one side has no change', () => {
  expect(changes([judged('a', null)], [judged('a', 'passed')])).toEqual([null])
  expect(changes([judged('a', 'failed')], [judged('a', null)])).toEqual([null])
})
