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
