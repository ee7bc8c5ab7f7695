import { describe, expect, it } from 'vitest'
import { draftEnvironment, nothing } from '../testing/draft-environment.ts'
import { ends, providers } from '../testing/flow-harness.ts'
import { agent, type Case, expectFinding, flow, lone } from './testing/findings.ts'
import { validate } from './validate.ts'

const other = { model_id: 'gone', provider: 'parley', tier: 'frontier' } as const

const MISSING: readonly Case[] = [
  [
    'language_unsupported',
    'an unsupported language beside a supported one',
    agent({ settings: { channels: ['cloud'], language: ['es-MX', 'fr'] } }),
    '/settings/language',
    ['Speak es-MX only', 'Speak en', 'Speak es', 'Speak multi'],
  ],
  [
    'model_not_ready',
    'a model of the agent that is not ready',
    agent({ providers: { ...providers, llm: { provider: 'hosted', model: draftEnvironment.models[1]!.identity } } }),
    '/providers/llm/model',
    ['Use "parley/rules-1"'],
  ],
  [
    'model_not_ready',
    'an embedding model in place of a chat model',
    agent({ providers: { ...providers, llm: { provider: 'hosted', model: draftEnvironment.models[2]!.identity } } }),
    '/providers/llm/model',
    ['Use "parley/rules-1"'],
  ],
  [
    'model_not_ready',
    'a model of a node that is not ready',
    flow([{ ...lone('hi'), model_choice: { model: other } }, ends()]),
    '/flow/nodes/0/model_choice/model',
    ["Use the agent's model"],
  ],
  [
    'model_not_ready',
    'a model of the analysis that is not ready',
    agent({ analysis: { items: [], model: { model: other } } }),
    '/analysis/model/model',
    ["Use the agent's model"],
  ],
  [
    'model_not_ready',
    'a fallback model that does not exist',
    agent({ providers: { ...providers, llm: { ...providers.llm, fallbacks: [other] } } }),
    '/providers/llm/fallbacks/0',
    ['Leave it out'],
  ],
  [
    'voice_not_found',
    'a fallback recogniser that does not exist',
    agent({ providers: { ...providers, stt: { ...providers.stt, fallbacks: [{ provider: 'gone', model: 'm' }] } } }),
    '/providers/stt/fallbacks/0',
    ['Leave "gone/m" out'],
  ],
  [
    'voice_not_found',
    'a voice of the settings that does not exist, where the voice of the provider is ready',
    agent({ settings: { channels: ['cloud'], voiceId: 'ill' } }),
    '/settings/voiceId',
    ['Use "simulated/tones-1"', 'Use "simulated/tones-1:low"'],
  ],
  [
    'voice_not_found',
    'a voice model of the settings that does not exist',
    agent({ settings: { channels: ['cloud'], voiceModel: 'gone' } }),
    '/settings/voiceModel',
    ['Use "simulated/tones-1"', 'Use "simulated/tones-1:low"'],
  ],
  [
    'voice_not_found',
    'a voice of the provider that does not exist',
    agent({ providers: { ...providers, tts: { provider: 'gone', model: 'm' } } }),
    '/providers/tts',
    ['Use "simulated/tones-1:low"'],
  ],
  [
    'voice_not_found',
    'a recogniser that does not exist',
    agent({ providers: { ...providers, stt: { provider: 'gone', model: 'm' } } }),
    '/providers/stt',
    ['Use "simulated/tones-1"'],
  ],
  [
    'voice_not_found',
    'a fallback voice that does not exist',
    agent({ settings: { channels: ['cloud'], fallbackVoiceIds: ['simulated/tones-1:low', 'gone'] } }),
    '/settings/fallbackVoiceIds/1',
    ['Leave "gone" out'],
  ],
  [
    'trunk_not_found',
    'a trunk that does not exist',
    agent({ telephony: { trunkId: 'gone' } }),
    '/telephony/trunkId',
    ['Call over "main"', 'Place no calls'],
  ],
  [
    'number_not_found',
    'a number that the environment does not have',
    agent({ telephony: { trunkId: 'main', from: '+15550000009' } }),
    '/telephony/from',
    ['Show +15550000001', 'Set no number'],
  ],
  [
    'number_not_found',
    'a number of another trunk',
    agent({ telephony: { trunkId: 'main', from: '+15550000002' } }),
    '/telephony/from',
    ['Call over "other"', 'Show +15550000001', 'Set no number'],
  ],
]

describe('resources missing from the environment', () => {
  it.each(MISSING)('the error %s blocks publishing with %s', (code, _, draft, path, fixes) =>
    expectFinding([code, 'error', draft, path, fixes]),
  )

  it('fixes do not offer resources that are not ready', () => {
    const findings = validate(agent({ telephony: { trunkId: 'x' } }), nothing)
    expect(findings.map(({ code, fixes }) => `${code} ${(fixes ?? []).map(fix => fix.label).join()}`)).toEqual([
      'model_not_ready ',
      'voice_not_found ',
      'voice_not_found ',
      'trunk_not_found Place no calls',
    ])
  })

  it('fixes offer a voice that speaks the languages of the agent', () => {
    const voice = (voice_id: string, languages: string[]) => ({ ...draftEnvironment.voices[1]!, voice_id, languages })
    const voices = [
      draftEnvironment.voices[0]!,
      voice('english', ['en']),
      voice('spanish', ['es']),
      voice('both', ['es', 'en']),
    ]
    const offered = (language: string | string[]) => {
      const tts = { ...providers.tts, voiceId: 'gone' }
      const draft = agent({ providers: { ...providers, tts }, settings: { channels: ['cloud'], language } })
      return validate(draft, { ...draftEnvironment, voices })[0]?.fixes?.[0]?.label
    }
    expect([offered('en-GB'), offered('es'), offered('multi')]).toEqual([
      'Use "simulated/tones-1:english"',
      'Use "simulated/tones-1:spanish"',
      'Use "simulated/tones-1:both"',
    ])
  })
})
