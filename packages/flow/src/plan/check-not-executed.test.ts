import type { settingValues } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { agent, expectFinding, flow, hi, transfer } from '../draft/testing/findings.ts'
import { validate } from '../draft/validate.ts'
import { draftEnvironment } from '../testing/draft-environment.ts'
import { ends, if_, when } from '../testing/flow-harness.ts'
import { withDefaults } from './defaults.ts'
import type { Draft } from './draft.ts'

type Settings = z.input<typeof settingValues>

const SETTINGS: { readonly [Name in keyof Settings]?: Settings[Name] } = {
  voiceTemperature: 0.5,
  denoisingMode: 'noise-cancellation',
  sttMode: 'accurate',
  vocabSpecialization: 'medical',
  toolCallStrictMode: true,
}
const MODEL = { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' } as const
const CREDENTIAL = { id: 'key', version: '2' }
const described = { action_id: 'a', name: 'a', description: 'd' } as const
const ringing = { type: 'cold_transfer', transfer_ring_duration_ms: 20_000 } as const

function providers(changes: { readonly [Role in keyof Draft['providers']]?: object }): Draft['providers'] {
  const own = agent({}).providers
  return {
    stt: { ...own.stt, ...changes.stt },
    llm: { ...own.llm, ...changes.llm },
    tts: { ...own.tts, ...changes.tts },
  }
}

/** What is set, the draft that sets it, where the warning stands and what its fix says. */
const ELSEWHERE: readonly [string, ReturnType<typeof agent>, string, string][] = [
  [
    "a recogniser's own key",
    agent({ providers: providers({ stt: { credential: CREDENTIAL } }) }),
    '/providers/stt/credential',
    'Leave "credential" out',
  ],
  [
    "a model's own address",
    agent({ providers: providers({ llm: { endpoint: 'https://model.example/' } }) }),
    '/providers/llm/endpoint',
    'Leave "endpoint" out',
  ],
  [
    'a voice of the recogniser',
    agent({ providers: providers({ stt: { voiceId: 'low' } }) }),
    '/providers/stt/voiceId',
    'Leave "voiceId" out',
  ],
  [
    "the analysis model's own key",
    agent({
      analysis: { items: [], model: { model: MODEL, credential: { ...CREDENTIAL, provider: 'parley' } } },
    }),
    '/analysis/model/credential',
    'Leave "credential" out',
  ],
  [
    "a node's own key",
    flow([{ ...hi, model_choice: { model: MODEL, credential: { ...CREDENTIAL, provider: 'parley' } } }, ends()]),
    '/flow/nodes/0/model_choice/credential',
    'Leave "credential" out',
  ],
  [
    'how long a transferred call rings',
    flow([transfer({ transfer_option: ringing }), ends()]),
    '/flow/nodes/0/transfer_option/transfer_ring_duration_ms',
    'Leave "transfer_ring_duration_ms" out',
  ],
  [
    'how long a call transferred by an action rings',
    agent({
      actions: [
        {
          ...described,
          kind: 'transfer_call',
          transfer_destination: { type: 'predefined', number: '+15550100' },
          transfer_option: ringing,
        },
      ],
    }),
    '/actions/0/transfer_option/transfer_ring_duration_ms',
    'Leave "transfer_ring_duration_ms" out',
  ],
  [
    'the instruction of an action that presses digits',
    agent({
      actions: [{ ...described, kind: 'press_digit', instruction: { type: 'prompt', text: 'Press 1' } }],
    }),
    '/actions/0/instruction',
    'Leave "instruction" out',
  ],
  [
    'examples of a variable that an action extracts',
    agent({
      actions: [
        {
          ...described,
          kind: 'extract_dynamic_variables',
          variables: [{ type: 'string', name: 'city', description: 'Where', examples: ['Oslo'] }],
        },
      ],
    }),
    '/actions/0/variables/0/examples',
    'Leave "examples" out',
  ],
]

describe('a field that no engine reads yet', () => {
  it.each(Object.keys(SETTINGS) as (keyof Settings)[])('the setting %s yields the warning "not_executed"', name => {
    const draft = agent({ settings: { channels: ['cloud'], [name]: SETTINGS[name] } })
    expectFinding(['not_executed', 'warning', draft, `/settings/${name}`, [`Leave "${name}" out`]])
  })

  it.each(ELSEWHERE)('%s yields the warning "not_executed"', (_, draft, path, fix) =>
    expectFinding(['not_executed', 'warning', draft, path, [fix]]),
  )

  it('a function node that names a shared tool and a typing sound yields two warnings', () => {
    const node = { id: 'f', type: 'function' as const, tool_id: 'a', tool_type: 'shared' as const }
    const draft = flow([{ ...node, enable_typing_sound: true }, ends()])
    const found = validate(draft, draftEnvironment).filter(({ code }) => code === 'not_executed')
    expect(found.map(({ path }) => path)).toEqual(['/flow/nodes/0/enable_typing_sound', '/flow/nodes/0/tool_type'])
  })

  it('the model choice of a branch yields a warning, because a branch asks no model', () => {
    const branch = {
      id: 'b',
      type: 'branch' as const,
      edges: [if_('yes', 'end', 'x exists')],
      else_edge: when('no', 'end'),
      model_choice: { model: MODEL },
    }
    expectFinding([
      'not_executed',
      'warning',
      flow([branch, ends()]),
      '/flow/nodes/0/model_choice',
      ['Leave "model_choice" out'],
    ])
  })

  it('the message names the field and what happens instead', () => {
    const [found] = validate(
      agent({ settings: { channels: ['cloud'], denoisingMode: 'noise-cancellation' } }),
      draftEnvironment,
    )
    expect(found?.message).toBe(
      '"denoisingMode" has no effect yet: the recogniser gets the caller\'s audio unfiltered, because a noise filter made it understand fewer words',
    )
  })

  it('a draft that leaves the fields out gets no warning', () => {
    const draft = agent({ settings: { channels: ['cloud'] } })
    expect(validate(draft, draftEnvironment)).toEqual([])
  })

  it('a value that describes what happens anyway gets no warning', () => {
    const { voiceTemperature, normalizeForSpeech, ambientSoundVolume, vocabSpecialization } = withDefaults({})
    const draft = agent({
      settings: {
        channels: ['cloud'],
        voiceTemperature,
        normalizeForSpeech,
        ambientSoundVolume,
        vocabSpecialization,
        ambientSound: 'none',
        denoisingMode: 'no-denoise',
        sttMode: 'fast',
        toolCallStrictMode: false,
        pronunciationDictionary: [],
      },
    })
    expect(validate(draft, draftEnvironment)).toEqual([])
  })
})
