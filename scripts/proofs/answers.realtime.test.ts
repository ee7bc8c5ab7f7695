import { expect, it } from 'vitest'
import { ANSWER_ROWS } from './answers/answer-rows.ts'
import { proveAnswers } from './answers.ts'

/** Other platforms run beside this one; `answer-handling.test.ts` judges the 300 ms in virtual time. */
const MESSAGE_WITHIN_MS = 3000

const options = { seed: 1, seconds: 60, count: 1, line: () => {}, progress: () => {} }

it('each kind of far end is detected over TLS and SRTP, its run says so, it gets what the agent has for it, and the proof reports a planted fault', {
  timeout: 400_000,
}, async () => {
  const [person] = ANSWER_ROWS
  const planted = { ...person!, name: 'planted', expected: { ...person!.expected, classes: ['voicemail'] } }
  const lines: object[] = []
  const { ok, summary } = await proveAnswers(
    { ...options, line: record => lines.push(record) },
    [...ANSWER_ROWS, planted],
    MESSAGE_WITHIN_MS,
  )
  expect(summary, JSON.stringify(lines)).toEqual({ rows: ANSWER_ROWS.length + 1, failed: 1 })
  expect(lines).toContainEqual(expect.objectContaining({ row: 'planted', faults: ['classes is human, not voicemail'] }))
  expect(ok).toBe(false)
})
