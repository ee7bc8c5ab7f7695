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

describe('what a new agent speaks with', () => {
  it('is the first ready voice of its language', () => {
    const catalogue = withVoices(
      voice('away', ['es'], false),
      voice('ann', ['en-GB']),
      voice('bea', ['es-419']),
      voice('cleo', ['multi']),
    )
    expect(firstProviders(catalogue, 'en').tts.voiceId).toBe('ann')
    expect(firstProviders(catalogue, 'es').tts.voiceId).toBe('bea')
  })

  it('is one that is not ready where none is, so that the draft can be made and its validation says so', () => {
    expect(firstProviders(withVoices(voice('away', ['es'], false)), 'es').tts.voiceId).toBe('away')
  })

  it('is nothing where the platform offers nothing', () =>
    expect(() => firstProviders(withVoices(voice('ann', ['en'])), 'es')).toThrow(/tts/))
})
