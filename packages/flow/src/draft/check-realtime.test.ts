import { describe, expect, it } from 'vitest'
import type { Draft, DraftContent } from '../plan/draft.ts'
import { draftEnvironment } from '../testing/draft-environment.ts'
import { ends, providers } from '../testing/flow-harness.ts'
import { agent, expectFinding, flow, lone } from './testing/findings.ts'
import { validate } from './validate.ts'

const speaking = { model_id: 'speaking', provider: 'vendor', tier: 'frontier' } as const
const environment = {
  ...draftEnvironment,
  models: [
    ...draftEnvironment.models,
    { identity: speaking, kind: 'realtime', provider: 'hosted', ready: true } as const,
  ],
}
const llm = { provider: 'hosted', model: speaking } as const

function speechToSpeech(settings: NonNullable<Draft['settings']> = {}): DraftContent {
  return agent({ providers: { ...providers, llm }, settings })
}

const codes = (draft: DraftContent) =>
  validate(draft, environment)
    .filter(({ code }) => code !== 'telephony_missing')
    .map(({ code, path }) => `${code} ${path}`)

describe('an agent with a speech-to-speech model', () => {
  it('an agent with a speech-to-speech model is valid without warnings, with recogniser and voice as its fallback', () => {
    expect(codes(speechToSpeech())).toEqual([])
  })

  const SETTINGS: readonly NonNullable<Draft['settings']>[] = [
    { modelTemperature: 0.4 },
    { toolCallStrictMode: true },
    { voiceTemperature: 1.5 },
    { normalizeForSpeech: true },
    { pronunciationDictionary: [{ word: 'Parley', alphabet: 'ipa', phoneme: 'ˈpɑːli' }] },
    { sttMode: 'accurate' },
    { vocabSpecialization: 'medical' },
  ]
  it.each(SETTINGS)('gets one warning for %o, which the model does not follow', settings => {
    const [name] = Object.keys(settings)
    const draft = speechToSpeech(settings)
    expect(codes(draft)).toEqual([`not_executed /settings/${name}`])
    expectFinding(['not_executed', 'warning', draft, `/settings/${name}`, [`Leave "${name}" out`]], environment)
  })

  it.each([
    { voiceSpeed: 1.2 },
    { volume: 0.5 },
    { boostedKeywords: ['Hillside'] },
    { ambientSound: 'call-center' },
    { interruptionSensitivity: 0.2 },
    { sttMode: 'fast' },
    { toolCallStrictMode: false },
  ])('a speech-to-speech model follows the setting %o without a warning', settings =>
    expect(codes(speechToSpeech(settings))).toEqual([]),
  )

  it('an agent with a speech-to-speech model cannot be the model of a node, of the analysis or of a fallback, which write text', () => {
    const node = flow([{ ...lone('hi'), model_choice: { model: speaking } }, ends()])
    expect(codes(node)).toEqual(['model_not_ready /flow/nodes/0/model_choice/model'])
    expect(codes(agent({ analysis: { items: [], model: { model: speaking } } }))).toEqual([
      'model_not_ready /analysis/model/model',
    ])
    expect(codes(agent({ providers: { ...providers, llm: { ...providers.llm, fallbacks: [speaking] } } }))).toEqual([
      'model_not_ready /providers/llm/fallbacks/0',
    ])
  })
})
