import { randomBytes } from 'node:crypto'
import { newAgentId as schema } from '@parley/contract'
import { expect, it } from 'vitest'
import { newAgentId } from './agents-id.ts'

it('a generated agent id is valid and each character is equally likely', () => {
  const counts = new Map<string, number>()
  for (let n = 0; n < 5000; n++) {
    const id = newAgentId(randomBytes)
    expect(schema.safeParse(id).success).toBe(true)
    expect(id).toMatch(/^agent_[0-9a-z]{20}$/)
    for (const letter of id.slice('agent_'.length)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  }
  // Each character is expected 2778 times, with a standard deviation of 52. Five deviations are not chance; a plain modulo is off by seven.
  expect(counts.size).toBe(36)
  for (const [letter, count] of counts) expect(Math.abs(count - 100_000 / 36), letter).toBeLessThan(5 * 52)
})

it('generating an agent id draws more random bytes when all bytes are too high to be unbiased', () => {
  let draws = 0
  const id = newAgentId(count => Buffer.alloc(count, draws++ === 0 ? 255 : 35))
  expect(id).toBe(`agent_${'z'.repeat(20)}`)
})
