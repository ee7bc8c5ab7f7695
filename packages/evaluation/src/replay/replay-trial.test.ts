import { planOf, says } from '@parley/conversation/testing'
import { expect, it } from 'vitest'
import { runReplayTrial } from './replay-trial.ts'

it.each([
  [1, false, 'code_changed'],
  [2, true, 'redacted'],
] as const)('a run with a log of format %i, redacted %s, is not replayed: %s', async (format, redacted, reason) => {
  const header = { format, redacted, kind: 'text', code: 'c', lexicon: 'l', plan: 'p', seed: 1, startedAt: 0 }
  const options = {
    plan: planOf([says('hello', 'Hello.')]),
    log: { header: { ...header, startedAtMs: 0, facts: null }, lines: [], isTruncated: false },
    isSame: false,
  }
  const report = await runReplayTrial(options as unknown as Parameters<typeof runReplayTrial>[0])
  expect(report).toMatchObject({ verdict: 'errored', replay: null })
  expect(report.error).toContain(reason)
})
