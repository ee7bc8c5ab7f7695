import { digest, planSchema } from '@parley/contract/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryDraft } from '../../fuzz/arbitrary-draft.ts'
import { type Draft, readDraft } from '../plan/draft.ts'
import { draftEnvironment, nothing } from '../testing/draft-environment.ts'
import { draftOf, ends, says, when } from '../testing/flow-harness.ts'
import { digestOf, planOf } from './publish.ts'

const hello = (rest: Partial<Draft> = {}) =>
  readDraft(draftOf([says('hi', 'Hello.', { edges: [when('bye', 'end')] }), ends()], {}, rest))

function published(rest: Partial<Draft> = {}) {
  const result = planOf(hello(rest), draftEnvironment)
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics))
  return result
}

describe('a published plan', () => {
  it('a published plan has every default filled in and hashes to its digest', () => {
    const { plan, digest: hash, channels, languages, warnings } = published()
    expect(planSchema.parse(plan)).toEqual(plan)
    expect(plan.settings.userDtmfOptions).toEqual({ digitLimit: null, terminationKey: null, timeoutMs: 3000 })
    expect(digest.safeParse(hash).success).toBe(true)
    expect({ channels, languages, warnings }).toEqual({ channels: ['cloud'], languages: ['en'], warnings: [] })
    expect('source' in plan).toBe(false)
  })

  it('equal drafts publish to the same plan, whatever their key order and source', () => {
    const source = { kind: 'agent_import', agent_version: 3, flow_id: null, flow_version: null, unplaced: {} } as const
    const { settings, ...rest } = hello()
    expect(planOf({ ...rest, settings, source }, draftEnvironment)).toEqual(published())
    expect(published({ settings: { voiceSpeed: 1.1, channels: ['cloud'] } }).digest).toBe(
      published({ settings: { channels: ['cloud'], voiceSpeed: 1.1 } }).digest,
    )
    expect(published({ name: 'Other' }).digest).not.toBe(published().digest)
  })

  it('an explicit default publishes to the same plan as an omitted one', () => {
    expect(published({ settings: { channels: ['cloud'], language: 'en' } }).digest).toBe(published().digest)
  })

  it('the digests of already published plans do not change', () => {
    expect(published().digest).toMatchInlineSnapshot(
      `"sha256:17e438f30c3dd193fa2dfe25845e4883dac11a414926428cf6847c6fa591131d"`,
    )
  })

  it.each([
    ['en', ['en']],
    ['en-GB', ['en']],
    ['multi', ['en', 'es']],
    [
      ['es-MX', 'en', 'es'],
      ['es', 'en'],
    ],
  ] as const)('the setting language %j publishes the languages %j', (language, languages) => {
    const settings = { channels: ['cloud' as const], language: typeof language === 'string' ? language : [...language] }
    expect(published({ settings }).languages).toEqual(languages)
  })

  it('a draft with errors publishes no plan', () => {
    const result = planOf(hello(), nothing)
    expect(result.ok).toBe(false)
    expect(result.ok ? [] : result.diagnostics.map(({ code }) => code)).toEqual([
      'model_not_ready',
      'voice_not_found',
      'voice_not_found',
    ])
    expect(planOf(hello({ settings: { language: 'fr' } }), draftEnvironment).ok).toBe(false)
  })

  it('a stored plan parses, is equal and hashes to its digest', () => {
    fc.assert(
      fc.property(arbitraryDraft, written => {
        const result = planOf(readDraft(written), draftEnvironment)
        if (!result.ok) throw new Error(JSON.stringify(result.diagnostics.slice(0, 3)))
        const readBack = planSchema.parse(JSON.parse(JSON.stringify(result.plan)))
        expect(readBack).toEqual(result.plan)
        expect(digestOf(readBack)).toBe(result.digest)
      }),
      { numRuns: 50 },
    )
  })
})
