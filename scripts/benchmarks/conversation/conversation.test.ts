import { describe, expect, it } from 'vitest'
import { CONDITIONS, DIMENSIONS } from './conditions.ts'
import { type ConditionFigures, wordErrors } from './figures.ts'
import { reportPage } from './report-page.ts'

const figures: ConditionFigures[] = CONDITIONS.map(({ dimension, codec, level }) => ({
  dimension,
  codec,
  level,
  calls: 10,
  words: 100,
  word_error_rate: 0.25,
  cut_offs: 1,
  replies: 30,
  latency_p50_ms: 700,
  latency_p95_ms: null,
}))

describe('the benchmark of conversations on damaged lines', () => {
  it('varies noise, echo, loss and codec', () => {
    for (const dimension of DIMENSIONS)
      expect(new Set(CONDITIONS.filter(one => one.dimension === dimension).map(({ codec }) => codec)).size).toBe(2)
    expect(CONDITIONS.some(({ damage }) => damage.loss === 0.1)).toBe(true)
  })

  it.each([
    ['one two three', 'one two three', 0],
    ['one two three', 'one three', 1],
    ['one two', 'one four two', 1],
    ['one two', 'one four', 1],
    ['one', '', 1],
    ['', 'one two', 2],
  ])('"%s" heard as "%s" has %i word errors', (spoken, heard, errors) => {
    const words = (text: string) => text.split(' ').filter(word => word !== '')
    expect(wordErrors(words(spoken), words(heard))).toBe(errors)
  })

  it('its page plots each measure by each dimension, and loads nothing', () => {
    const page = reportPage(figures, 'about <this>')
    expect(page.match(/<svg/g)).toHaveLength(4 * DIMENSIONS.length)
    expect(page.match(/<polyline/g)).toHaveLength(8 * DIMENSIONS.length)
    expect(page).toContain('about &lt;this&gt;')
    expect(page).not.toMatch(/src=|href=|<script/)
    expect(page.match(/<tr>/g)).toHaveLength(1 + CONDITIONS.length)
  })
})
