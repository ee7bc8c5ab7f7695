import { describe, expect, it } from 'vitest'
import { proveSilence } from './silence.ts'

function options(count: number) {
  const lines: { readonly kind?: string; readonly ok?: boolean }[] = []
  return { lines, count, seed: 5, seconds: 60, line: (line: object) => void lines.push(line), progress: () => {} }
}

describe('the proof "silence": services stall, answer nothing, or answer all at once', () => {
  it('the caller hears no silence longer than the contract', async () => {
    const short = options(15)
    await proveSilence(short)
    expect(short.lines).toMatchObject([
      { kind: 'stall', turns: 15 },
      { kind: 'nothing', turns: 15 },
      { kind: 'burst', turns: 15 },
      { kind: 'slow', turns: 15 },
    ])
    for (const line of short.lines)
      expect(line).toHaveProperty(
        'silence_p999_ms',
        expect.toSatisfy(ms => ms <= 2000),
      )
  })

  it('the proof "silence" fails for agents that do not observe the contract', async () => {
    expect(await proveSilence(options(30), 10_000)).toMatchObject({ ok: false })
  })
})
