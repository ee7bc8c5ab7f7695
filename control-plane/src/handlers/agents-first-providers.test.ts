import { describe, expect, it } from 'vitest'
import type { Catalogue } from '../catalogue.ts'
import { TEST_CATALOGUE } from '../testing/test-platform.ts'
import { firstProviders } from './agents-first-providers.ts'

const voice = (voice_id: string, languages: string[], ready = true) => ({
  ...TEST_CATALOGUE.voices[3]!,
  voice_id,
  languages,
  ready,
})
const recogniser = TEST_CATALOGUE.voices[1]!
const withVoices = (...voices: Catalogue['voices']): Catalogue => ({
  ...TEST_CATALOGUE,
  voices: [recogniser, ...voices],
})

describe('default providers of a new agent', () => {
  it('a new agent gets the first ready voice that speaks its language', () => {
    const catalogue = withVoices(
      voice('away', ['es'], false),
      voice('ann', ['en-GB']),
      voice('bea', ['es-419']),
      voice('cleo', ['multi']),
    )
    expect(firstProviders(catalogue, 'en').tts.voiceId).toBe('ann')
    expect(firstProviders(catalogue, 'es').tts.voiceId).toBe('bea')
  })

  it('a new agent gets a voice that is not ready when no voice of its language is ready', () => {
    expect(firstProviders(withVoices(voice('away', ['es'], false)), 'es').tts.voiceId).toBe('away')
  })

  it('choosing providers fails when the platform has no voice for the language', () =>
    expect(() => firstProviders(withVoices(voice('ann', ['en'])), 'es')).toThrow(/tts/))
})
