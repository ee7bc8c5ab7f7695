import { describe, expect, it } from 'vitest'
import { HeardLines } from './heard-lines.ts'
import { CALLER_LINES } from './script.ts'

const [table, name, tomorrow, people] = CALLER_LINES as readonly [string, string, string, string]

function inTwo(...requests: readonly string[]): number {
  const heard = new HeardLines()
  for (const text of requests) heard.hear(text)
  return heard.inTwo
}

describe('lines that an engine heard in two', () => {
  it('lines that were heard whole, over and over, are not counted', () => {
    expect(inTwo(table, name, tomorrow, people, table, name)).toBe(0)
  })

  it.each([
    ['whose pieces are two turns', [table, name, 'Tomorrow afternoon', 'would be better.', people], 1],
    ['whose pieces were joined', [table, name, 'Tomorrow', tomorrow, people], 1],
    ['in three pieces counts once', [table, 'My', 'My name is Anna', name, tomorrow], 1],
    ['whose end came after the whole', [table, 'two.', name, `${name} Miller.`, tomorrow], 2],
    ['whose last word was not awaited', [table, 'My name is', tomorrow], 1],
    ['that are two of one call', ['I would', table, 'My name', 'is Anna Miller.', tomorrow], 2],
  ])('a line %s', (_how, requests, count) => {
    expect(inTwo(...requests)).toBe(count)
  })

  it('a line that was misheard, but in one piece, is not counted', () => {
    expect(inTwo(table, 'My name is Hannah Miller.', tomorrow, people)).toBe(0)
  })
})
