import { expect, it } from 'vitest'
import { NoSanitisers, proof } from './native-fuzz.ts'

it('fuzzing the native layer: in seven calls under attack and pages of any content the sanitisers report nothing', {
  timeout: 600_000,
}, async context => {
  const lines: object[] = []
  const fuzzing = proof.run({
    seed: 1,
    count: 7,
    seconds: 120,
    line: record => lines.push(record),
    progress: () => {},
  })
  const { ok, summary } = await fuzzing.catch(error =>
    error instanceof NoSanitisers ? context.skip(error.message) : Promise.reject(error),
  )
  expect(ok, lines.map(record => JSON.stringify(record)).join('\n')).toBe(true)
  expect(summary).toMatchObject({ planted_overflow_reported: true, traces: 7 })
})
