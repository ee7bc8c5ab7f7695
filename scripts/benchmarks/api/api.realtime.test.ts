import { expect, it } from 'vitest'
import { benchmark } from './benchmark.ts'

type Summary = Readonly<Record<'read_ratio' | 'read_p99_ms' | 'edit_p99_ms' | 'list_p99_ratio', number>>

function measured(planted: string): Promise<Summary> {
  const given: Readonly<Record<string, string>> = { rounds: '1', reads: '100', agents: '100', planted }
  return benchmark.run({
    option: name => given[name],
    line: () => {},
    progress: () => {},
  }) as Promise<Summary>
}

it('npm run bench -- api shows a pipeline that wastes 20 ms in each request', { timeout: 120_000 }, async () => {
  const sound = await measured('0')
  const wasteful = await measured('20')
  for (const figure of Object.values(sound).filter(value => typeof value === 'number'))
    expect(figure).toBeGreaterThan(0)
  expect(wasteful.read_ratio).toBeGreaterThan(2 * sound.read_ratio)
  // Sixteen ask at once, and wait for one another.
  expect(wasteful.read_p99_ms).toBeGreaterThan(16 * 20)
})
