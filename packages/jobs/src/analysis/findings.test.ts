import type { AnalysisItem } from '@parley/flow'
import { describe, expect, it } from 'vitest'
import { dispositionOf, findingsSchema, readFindings } from './findings.ts'

const described = { description: 'd', required: false }
const ITEMS: AnalysisItem[] = [
  { type: 'system-presets', name: 'call_summary' },
  { type: 'system-presets', name: 'call_successful' },
  { type: 'system-presets', name: 'user_sentiment' },
  { type: 'enum', name: 'disposition', choices: ['Call Back', 'Sold!'], ...described },
  { type: 'number', name: 'guests', ...described, required: true },
  { type: 'boolean', name: 'outside', ...described },
  { type: 'string', name: 'note', ...described, examples: ['by the window'] },
]
const GOOD = {
  call_summary: 'They booked.',
  call_successful: true,
  user_sentiment: 'positive',
  disposition: 'Call Back',
  guests: 4,
  outside: false,
  note: 'By the sea',
}
const read = (answer: object) => readFindings(ITEMS, answer as Record<string, unknown>)

describe('the findings of an analysis', () => {
  it('the schema of an analysis allows its own fields and no others', () => {
    expect(findingsSchema(ITEMS)).toMatchObject({
      type: 'object',
      additionalProperties: false,
      required: ['call_summary', 'call_successful', 'user_sentiment', 'guests'],
      properties: {
        user_sentiment: { type: 'string', enum: ['positive', 'neutral', 'negative', 'unknown'] },
        disposition: { type: 'string', enum: ['Call Back', 'Sold!'], description: 'd' },
        guests: { type: 'number' },
        note: { type: 'string', examples: ['by the window'] },
      },
    })
  })

  it('findings are stored by name, with presets in fields of their own', () => {
    const { findings, issues } = read(GOOD)
    expect(issues).toEqual([])
    expect(findings).toEqual({
      summary: 'They booked.',
      sentiment: 'positive',
      successful: true,
      custom: { disposition: 'Call Back', guests: 4, outside: false, note: 'By the sea' },
    })
    expect(dispositionOf(ITEMS, findings)).toBe('call_back')
  })

  it('a finding is null when it is missing, of the wrong type or not among the choices', () => {
    const { findings, issues } = read({
      call_summary: 7,
      call_successful: 'yes',
      user_sentiment: 'great',
      disposition: 'call back',
      guests: Number.NaN,
      outside: null,
      surprise: 1,
    })
    expect(findings).toEqual({
      summary: null,
      sentiment: null,
      successful: null,
      custom: { disposition: null, guests: null, outside: null, note: null },
    })
    expect(issues).toHaveLength(6)
    expect(issues[0]).toBe('"surprise" was not asked for')
    expect(dispositionOf(ITEMS, findings)).toBeUndefined()
    expect(read({}).issues).toEqual([
      'call_summary is missing',
      'call_successful is missing',
      'user_sentiment is missing',
      'guests is missing',
    ])
  })

  it('a text finding has a bounded length and no characters that the database refuses', () => {
    expect(read({ ...GOOD, note: 'a\u0000b\ud800' }).findings.custom.note).toBe('ab\ufffd')
    expect(String(read({ ...GOOD, note: 'x'.repeat(100_000) }).findings.custom.note)).toHaveLength(8000)
  })

  it('findings contain only requested presets, and a disposition only for an enum', () => {
    const items: AnalysisItem[] = [{ type: 'string', name: 'disposition', ...described }]
    const { findings } = readFindings(items, { disposition: 'Sold' })
    expect(findings).toEqual({ summary: null, sentiment: null, successful: null, custom: { disposition: 'Sold' } })
    expect(dispositionOf(items, findings)).toBeUndefined()
  })
})
