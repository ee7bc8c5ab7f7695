import { NARROWBAND, WIDEBAND } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { heardOf } from './heard-text.ts'

const timed = {
  text: 'We open at nine.',
  samples: 8000,
  complete: true,
  words: [
    { text: 'We', startMs: 0 },
    { text: 'open', startMs: 250 },
    { text: 'at', startMs: 500 },
    { text: 'nine.', startMs: 700 },
  ],
}

describe('the heard part of a sentence', () => {
  it.each([
    [0, ''],
    [1999, ''],
    [2000, 'We'],
    [5599, 'We open'],
    [5600, 'We open at'],
    [7999, 'We open at'],
    [8000, 'We open at nine.'],
  ])('after %i samples: "%s"', (played, text) => {
    expect(heardOf(timed, played, NARROWBAND)).toBe(text)
  })

  it('the heard part of a sentence is the same at the same time of a call of 16 kHz', () => {
    const wide = { ...timed, samples: 16_000 }
    expect(heardOf(wide, 11_199, WIDEBAND)).toBe('We open')
    expect(heardOf(wide, 11_200, WIDEBAND)).toBe('We open at')
  })

  it('the heard part of a sentence excludes the last word while it is still being synthesised', () => {
    expect(heardOf({ ...timed, complete: false }, 8000, NARROWBAND)).toBe('We open at')
  })

  it('the heard part of a sentence is proportional without word times, and never the whole before the end', () => {
    const untimed = { ...timed, words: [] }
    expect(heardOf(untimed, 4100, NARROWBAND)).toBe('We open')
    expect(heardOf(untimed, 7999, NARROWBAND)).toBe('We open at')
    expect(heardOf({ ...untimed, complete: false }, 4000, NARROWBAND)).toBe('')
  })

  it("the heard part of a sentence uses the voice's own words when it splits the text differently", () => {
    expect(heardOf({ ...timed, text: 'Open 9' }, 2000, NARROWBAND)).toBe('We')
  })
})
