import { describe, expect, it } from 'vitest'
import { agent } from '../draft/testing/findings.ts'
import { compile } from './compile.ts'
import type { Draft } from './draft.ts'

type Settings = NonNullable<Draft['settings']>

const OPENAI = {
  model: { model_id: 'gpt-4.1-mini', provider: 'openai', tier: 'platform-served' },
  provider: 'hosted',
} as const

function warned(settings: Settings, changes: Partial<Draft['providers']>): string[] {
  const own = agent({})
  const compiled = compile({ ...own, settings, providers: { ...own.providers, ...changes } })
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics))
  return compiled.warnings.filter(({ code }) => code === 'not_executed').map(({ path }) => path)
}

describe('settings that some services cannot follow', () => {
  const cases: readonly [keyof Settings, Settings, Partial<Draft['providers']>][] = [
    ['voiceTemperature', { voiceTemperature: 0.5 }, { tts: { provider: 'elevenlabs', model: 'eleven_flash_v2_5' } }],
    ['sttMode', { sttMode: 'accurate' }, { stt: { provider: 'assemblyai', model: 'universal-streaming-english' } }],
    ['vocabSpecialization', { vocabSpecialization: 'medical' }, { stt: { provider: 'deepgram', model: 'nova-3' } }],
    ['toolCallStrictMode', { toolCallStrictMode: true }, { llm: OPENAI }],
  ]
  it.each(cases)(
    '%s yields a warning with the built-in services and none with a service that follows it',
    (name, settings, services) => {
      expect(warned(settings, {})).toEqual([`/settings/${name}`])
      expect(warned(settings, services)).toEqual([])
    },
  )

  it.each([
    ['anthropic', 'claude-opus-4-7', true],
    ['anthropic', 'claude-haiku-5-5', true],
    ['anthropic', 'claude-opus-4-20250514', false],
    ['anthropic', 'claude-haiku-4-5', false],
    ['gemini', 'gemini-3.8-flash', true],
    ['gemini', 'gemini-2.5-flash', false],
    ['openai', 'gpt-4.1-mini', false],
  ] as const)('modelTemperature with %s/%s yields a warning: %s', (provider, model_id, isWarned) => {
    const llm = { model: { model_id, provider, tier: 'platform-served' }, provider: 'hosted' } as const
    expect(warned({ modelTemperature: 0.2 }, { llm })).toEqual(isWarned ? ['/settings/modelTemperature'] : [])
    expect(warned({}, { llm })).toEqual([])
  })

  it.each([
    ['elevenlabs', 'eleven_flash_v2_5', 0.7, 1.2],
    ['cartesia', 'sonic-3', 0.6, 1.5],
    ['deepgram', 'aura-2', 0.7, 1.5],
    ['simulated', 'tones-1', 0.5, 2],
  ] as const)('a voiceSpeed beyond what %s/%s speaks yields a warning', (provider, model, slowest, fastest) => {
    const tts = { provider, model }
    for (const voiceSpeed of [slowest, 1, fastest]) expect(warned({ voiceSpeed }, { tts })).toEqual([])
    const beyond = [0.5, 2].filter(speed => speed < slowest || speed > fastest)
    for (const voiceSpeed of beyond) expect(warned({ voiceSpeed }, { tts })).toEqual(['/settings/voiceSpeed'])
  })

  it('boostedKeywords of which a recogniser gets only a part yield a warning', () => {
    const words = Array.from({ length: 101 }, (_, index) => `word ${index}`)
    expect(warned({ boostedKeywords: words }, {})).toEqual(['/settings/boostedKeywords'])
    expect(warned({ boostedKeywords: ['x'.repeat(51)] }, {})).toEqual(['/settings/boostedKeywords'])
    expect(warned({ boostedKeywords: [...words.slice(1), 'x '.repeat(25)] }, {})).toEqual(['/settings/boostedKeywords'])
    expect(warned({ boostedKeywords: ['x'.repeat(50), ...words.slice(2)] }, {})).toEqual([])
  })

  it('a medical vocabulary is for English alone', () => {
    const settings = { vocabSpecialization: 'medical', language: 'es' } as const
    expect(warned(settings, { stt: { provider: 'deepgram', model: 'nova-3' } })).toEqual([
      '/settings/vocabSpecialization',
    ])
  })

  it.each([
    { voiceTemperature: 1 },
    { sttMode: 'fast' },
    { vocabSpecialization: 'general' },
    { toolCallStrictMode: false },
  ] as const)('%o asks for nothing special', settings => expect(warned(settings, {})).toEqual([]))
})
