import { diagnostic, draftEdits } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import type { DiagnosticCode } from '../plan/diagnostic.ts'
import { type Draft, type DraftContent, readDraft } from '../plan/draft.ts'
import { nothing, surroundings } from '../testing/surroundings.ts'
import {
  asks,
  type DraftAction,
  type DraftNode,
  draftOf,
  ends,
  if_,
  promptText,
  providers,
  says,
  staticText,
  when,
} from '../testing/talk.ts'
import { applyEdits } from './apply-edits.ts'
import type { Surroundings } from './surroundings.ts'
import { validate } from './validate.ts'

const hi = says('hi', 'Hello.', { edges: [when('bye', 'end')] })
const flow = (nodes: DraftNode[], more: Partial<NonNullable<Draft['flow']>> = {}, rest: Partial<Draft> = {}) =>
  readDraft(draftOf(nodes, more, rest))
const agent = (rest: Partial<Draft>) => flow([hi, ends()], {}, rest)
const http = { action_id: 'look', kind: 'http', name: 'look_up', method: 'GET', url: 'https://example.test/' } as const
const other = { model_id: 'gone', provider: 'parley', tier: 'frontier' } as const
const transfer = (rest: object): DraftNode => ({
  id: 't',
  type: 'transfer_call',
  transfer_destination: { type: 'predefined', number: '+15550100' },
  edge: when('failed', 'end'),
  ...rest,
})
const lone = (id: string) => says(id, 'Hi', { edges: [when('e', 'end')] })

/** What each code is for: a draft, where the finding stands, and what becomes of that place by each fix in turn. */
const ERRORS: readonly [code: DiagnosticCode, what: string, draft: DraftContent, path: string, fixes: string[]][] = [
  ['flow_empty', 'no node', flow([]), '/flow/nodes', ['Begin with a conversation node']],
  [
    'flow_empty',
    'no node in a component',
    flow([hi, ends()], { components: [{ component_id: 'c' }] }),
    '/flow/components/0/nodes',
    ['Begin with a conversation node'],
  ],
  [
    'start_node_missing',
    'no start',
    flow([hi, ends()], { start_node_id: 'x' }),
    '/flow/start_node_id',
    ['Start with "hi"'],
  ],
  [
    'edge_dangling',
    'an edge to nowhere',
    flow([says('hi', '', { edges: [{ ...when('e', ''), destination_node_id: null }] }), ends()]),
    '/flow/nodes/0/edges/0/destination_node_id',
    ['Remove the edge "e"', 'Lead to "end"'],
  ],
  [
    'edge_dangling',
    'a transfer without a way out, and no end node',
    flow([transfer({ edge: null })]),
    '/flow/nodes/0/edge',
    ['Lead to a new end node'],
  ],
  [
    'node_unknown',
    'an edge to a node that is not there',
    flow([says('hi', '', { always_edge: when('e', 'gone') }), ends()]),
    '/flow/nodes/0/always_edge/destination_node_id',
    ['Remove the edge "e"', 'Lead to "end"'],
  ],
  [
    'node_unknown',
    'the only edge of a branch',
    flow([{ id: 'b', type: 'branch', edges: [if_('e', 'gone', 'n exists')], else_edge: when('f', 'end') }, ends()]),
    '/flow/nodes/0/edges/0/destination_node_id',
    ['Lead to "end"'],
  ],
  [
    'node_unknown',
    'a component that is not there',
    flow([{ id: 'c', type: 'component', component_id: 'gone' }, ends()]),
    '/flow/nodes/0/component_id',
    ['Remove "c"'],
  ],
  [
    'else_edge_missing',
    'a branch without else',
    flow([{ id: 'b', type: 'branch', edges: [if_('else', 'end', 'n exists')] }, ends()]),
    '/flow/nodes/0/else_edge',
    ['Lead to "end"'],
  ],
  ['duplicate_id', 'two nodes of one id', flow([hi, ends(), ends()]), '/flow/nodes/2/id', ['Remove this one']],
  [
    'duplicate_id',
    'two edges of one id',
    flow([says('hi', '', { edges: [when('e', 'end')], else_edge: when('e', 'end') }), ends()]),
    '/flow/nodes/0/else_edge/id',
    ['Remove this one'],
  ],
  [
    'duplicate_id',
    'two components of one id',
    flow([hi, ends()], {
      components: [
        { component_id: 'c', start_node_id: 'end', nodes: [ends()] },
        { component_id: 'c', start_node_id: 'end', nodes: [ends()] },
      ],
    }),
    '/flow/components/1/component_id',
    ['Remove this one'],
  ],
  [
    'duplicate_id',
    'two actions of one id',
    agent({ actions: [http, { ...http, name: 'b' }] }),
    '/actions/1/action_id',
    ['Remove this one'],
  ],
  [
    'action_unknown',
    'a function without its action',
    flow([{ id: 'f', type: 'function', tool_id: 'gone', else_edge: when('e', 'end') }, ends()]),
    '/flow/nodes/0/tool_id',
    ['Remove "f"'],
  ],
  [
    'action_unknown',
    'a subagent with a tool that is not there',
    flow(
      [{ id: 's', type: 'subagent', instruction: promptText('x'), tool_ids: ['look', 'gone'] }, ends()],
      {},
      { actions: [http] },
    ),
    '/flow/nodes/0/tool_ids/1',
    ['Leave "gone" out'],
  ],
  [
    'action_unknown',
    'an inbound context without its action',
    agent({ inbound_context: { action_id: 'gone', variables: [] } }),
    '/inbound_context/action_id',
    ['Remove the binding'],
  ],
  [
    'action_invalid',
    'two actions of one name',
    agent({ actions: [http, { ...http, action_id: 'b' }] }),
    '/actions/1/name',
    ['Call it "look_up_2"'],
  ],
  [
    'inbound_action_invalid',
    'an inbound context whose action cannot serve it',
    agent({ actions: [http], inbound_context: { action_id: 'look', variables: [] } }),
    '/inbound_context/action_id',
    ['Make "look_up" such an action', 'Remove the binding'],
  ],
  [
    'language_unsupported',
    'a language among others',
    agent({ settings: { channels: ['cloud'], language: ['es-MX', 'fr'] } }),
    '/settings/language',
    ['Speak es-MX only', 'Speak en', 'Speak es', 'Speak multi'],
  ],
  [
    'model_not_ready',
    'the model of the agent, which is off',
    agent({ providers: { ...providers, llm: { provider: 'hosted', model: surroundings.models[1]!.identity } } }),
    '/providers/llm/model',
    ['Use "parley/rules-1"'],
  ],
  [
    'model_not_ready',
    'an embedding model',
    agent({ providers: { ...providers, llm: { provider: 'hosted', model: surroundings.models[2]!.identity } } }),
    '/providers/llm/model',
    ['Use "parley/rules-1"'],
  ],
  [
    'model_not_ready',
    'the model of a node',
    flow([{ ...lone('hi'), model_choice: { model: other } }, ends()]),
    '/flow/nodes/0/model_choice/model',
    ["Use the agent's model"],
  ],
  [
    'model_not_ready',
    'the model of the analysis',
    agent({ analysis: { items: [], model: { model: other } } }),
    '/analysis/model/model',
    ["Use the agent's model"],
  ],
  [
    'voice_not_found',
    'a voice of the settings, where that of the provider is ready',
    agent({ settings: { channels: ['cloud'], voiceId: 'ill' } }),
    '/settings/voiceId',
    ['Use "simulated/tones-1"', 'Use "simulated/tones-1:low"'],
  ],
  [
    'voice_not_found',
    'a model of the settings',
    agent({ settings: { channels: ['cloud'], voiceModel: 'gone' } }),
    '/settings/voiceModel',
    ['Use "simulated/tones-1"', 'Use "simulated/tones-1:low"'],
  ],
  [
    'voice_not_found',
    'the voice of the provider',
    agent({ providers: { ...providers, tts: { provider: 'gone', model: 'm' } } }),
    '/providers/tts',
    ['Use "simulated/tones-1:low"'],
  ],
  [
    'voice_not_found',
    'the recogniser',
    agent({ providers: { ...providers, stt: { provider: 'gone', model: 'm' } } }),
    '/providers/stt',
    ['Use "simulated/tones-1"'],
  ],
  [
    'voice_not_found',
    'a voice to fall back to',
    agent({ settings: { channels: ['cloud'], fallbackVoiceIds: ['simulated/tones-1:low', 'gone'] } }),
    '/settings/fallbackVoiceIds/1',
    ['Leave "gone" out'],
  ],
  [
    'trunk_not_found',
    'a trunk that is not there',
    agent({ telephony: { trunkId: 'gone' } }),
    '/telephony/trunkId',
    ['Call over "main"', 'Place no calls'],
  ],
  [
    'number_not_found',
    'a number that is not there',
    agent({ telephony: { trunkId: 'main', from: '+15550000009' } }),
    '/telephony/from',
    ['Show +15550000001', 'Name no number'],
  ],
  [
    'number_not_found',
    'a number of another trunk',
    agent({ telephony: { trunkId: 'main', from: '+15550000002' } }),
    '/telephony/from',
    ['Call over "other"', 'Show +15550000001', 'Name no number'],
  ],
  [
    'unsupported_capability',
    'a node that does not run',
    flow([{ id: 'c', type: 'code', else_edge: when('e', 'end') }, ends()]),
    '/flow/nodes/0/type',
    ['Remove "c"'],
  ],
  [
    'unsupported_capability',
    'a branch that asks the model',
    flow([
      { id: 'b', type: 'branch', edges: [when('x', 'end'), if_('y', 'end', 'n exists')], else_edge: when('e', 'end') },
      ends(),
    ]),
    '/flow/nodes/0/edges/0/transition_condition',
    ['Remove the edge "x"'],
  ],
  [
    'unsupported_capability',
    'a branch that asks nothing but the model',
    flow([{ id: 'b', type: 'branch', edges: [when('x', 'end')], else_edge: when('e', 'end') }, ends()]),
    '/flow/nodes/0/edges/0/transition_condition',
    ['Remove "b"'],
  ],
  [
    'unsupported_capability',
    'a function of an action that has a node type of its own',
    flow(
      [{ id: 'f', type: 'function', tool_id: 'bye', else_edge: when('e', 'end') }, ends()],
      {},
      {
        actions: [{ action_id: 'bye', kind: 'end_call', name: 'bye' }],
      },
    ),
    '/flow/nodes/0/tool_id',
    ['Remove "f"'],
  ],
  [
    'unsupported_capability',
    'a transfer with an announcement',
    flow([transfer({ transfer_option: { type: 'warm_transfer' } }), ends()]),
    '/flow/nodes/0/transfer_option',
    ['Transfer without announcement, by REFER'],
  ],
  [
    'unsupported_capability',
    'a transfer by INVITE',
    flow([transfer({ transfer_option: { type: 'cold_transfer', cold_transfer_mode: 'sip_invite' } }), ends()]),
    '/flow/nodes/0/transfer_option/cold_transfer_mode',
    ['Transfer without announcement, by REFER'],
  ],
  [
    'unsupported_capability',
    'an extension',
    flow([transfer({ transfer_destination: { type: 'predefined', number: '+15550100', extension: '1' } }), ends()]),
    '/flow/nodes/0/transfer_destination/extension',
    ['Leave the extension out'],
  ],
  [
    'unsupported_capability',
    'a shared component',
    flow(
      [
        { id: 'c', type: 'component', component_id: 'x', component_type: 'shared', else_edge: when('e', 'end') },
        ends(),
      ],
      {
        components: [{ component_id: 'x', start_node_id: 'end', nodes: [ends()] }],
      },
    ),
    '/flow/nodes/0/component_type',
    ['Use the one of this flow'],
  ],
  [
    'unsupported_capability',
    'a shared component of another flow',
    flow([
      { id: 'c', type: 'component', component_id: 'x', component_type: 'shared', else_edge: when('e', 'end') },
      ends(),
    ]),
    '/flow/nodes/0/component_type',
    ['Remove "c"'],
  ],
  [
    'unsupported_capability',
    'a component within itself',
    flow([hi, ends()], {
      components: [
        { component_id: 'x', start_node_id: 'y', nodes: [{ id: 'y', type: 'component', component_id: 'y' }] },
        { component_id: 'y', start_node_id: 'x', nodes: [{ id: 'x', type: 'component', component_id: 'x' }] },
      ],
    }),
    '/flow/components/0/nodes/0/component_id',
    ['Remove "y"'],
  ],
  [
    'unsupported_capability',
    'keys that no phone has',
    flow([{ id: 'p', type: 'press_digit', instruction: staticText('one'), else_edge: when('e', 'end') }, ends()]),
    '/flow/nodes/0/instruction/text',
    ['Let the model choose the digits by this text'],
  ],
  [
    'unsupported_capability',
    'an action that does not run',
    agent({ actions: [{ action_id: 'sms', kind: 'send_sms', name: 'sms' }] }),
    '/actions/0/kind',
    ['Remove "sms"'],
  ],
]

const key = (id: string, version = '1') => ({ id, version, provider: 'openai' })
const signed = (secret: { id: string; version: string }): DraftAction => ({
  ...http,
  auth: { scheme: 'bearer', secret },
})
const PLATFORM_KEY = "Use the platform's key"

const SECRETS: readonly [what: string, draft: DraftContent, path: string, fixes: string[]][] = [
  [
    'the key of a voice',
    agent({ providers: { ...providers, tts: { ...providers.tts, credential: { id: 'key', version: '7' } } } }),
    '/providers/tts/credential',
    ['Pin version 2', PLATFORM_KEY],
  ],
  [
    'the key of a recogniser, which is of another kind',
    agent({ providers: { ...providers, stt: { ...providers.stt, credential: { id: 'http', version: '2' } } } }),
    '/providers/stt/credential',
    [PLATFORM_KEY],
  ],
  [
    'the key of the model',
    agent({ providers: { ...providers, llm: { ...providers.llm, credential: key('gone') } } }),
    '/providers/llm/credential',
    [PLATFORM_KEY],
  ],
  [
    'the key of a node',
    flow([{ ...lone('hi'), model_choice: { model: providers.llm.model, credential: key('key', '7') } }, ends()]),
    '/flow/nodes/0/model_choice/credential',
    ['Pin version 2', PLATFORM_KEY],
  ],
  [
    'the key of the analysis',
    agent({ analysis: { items: [], model: { model: providers.llm.model, credential: key('key', '7') } } }),
    '/analysis/model/credential',
    ['Pin version 2', PLATFORM_KEY],
  ],
  [
    'what the webhook is signed with',
    agent({ notification: { url: 'https://example.test/', secret: { id: 'sign', version: '2' } } }),
    '/notification/secret',
    ['Pin version 1', 'Remove the webhook'],
  ],
  [
    'what an action signs in with: the newest version by number, and no other secret',
    agent({ actions: [signed({ id: 'http', version: '3' })] }),
    '/actions/0/auth/secret',
    ['Pin version 10'],
  ],
  [
    'what an action signs in with, unknown: nothing that one edit mends',
    agent({ actions: [signed({ id: 'gone', version: '1' })] }),
    '/actions/0/auth/secret',
    [],
  ],
]

const WARNINGS: readonly [code: DiagnosticCode, what: string, draft: DraftContent, path: string, fixes: string[]][] = [
  ['node_unreachable', 'a node nothing leads to', flow([hi, lone('x'), ends()]), '/flow/nodes/1', ['Remove "x"']],
  ['node_unreachable', 'an end nothing leads to', flow([says('hi', 'Hi')]), '/flow/nodes', []],
  [
    'variable_undefined',
    'a variable nothing sets',
    flow([asks('hi', '{{who}}', { edges: [when('e', 'end')] }), ends()]),
    '/flow/nodes/0/instruction/text',
    ['Give "who" an empty default'],
  ],
  [
    'telephony_missing',
    'a phone without a trunk',
    agent({ settings: { channels: ['phone'] } }),
    '/telephony',
    ['Call over "main"', 'Serve the cloud only'],
  ],
  [
    'setting_unknown',
    'a word that is not known',
    agent({ settings: { channels: ['cloud'], sttMode: 'slow' } }),
    '/settings/sttMode',
    ['Use the default'],
  ],
  [
    'field_ignored',
    'a caller that the carrier chooses',
    flow([transfer({ transfer_option: { type: 'cold_transfer', show_transferee_as_caller: true } }), ends()]),
    '/flow/nodes/0/transfer_option/show_transferee_as_caller',
    ['Leave it to the carrier'],
  ],
  [
    'knowledge_not_ready',
    'a document that is not there',
    agent({ knowledge: { document_ids: ['doc-1', 'gone'] } }),
    '/knowledge/document_ids/1',
    ['Leave out what is not there'],
  ],
]

/** The finding is there with its fixes, all are as the contract has them, and each fix mends it. */
function expectFinding(
  [code, severity, draft, path, labels]: [DiagnosticCode, 'error' | 'warning', DraftContent, string, string[]],
  around: Surroundings = surroundings,
): void {
  const all = validate(draft, around)
  for (const found of all) expect(diagnostic.parse(found)).toEqual(found)
  const found = all.find(one => one.code === code && one.path === path)
  expect(found, JSON.stringify(all)).toMatchObject({ severity })
  expect((found?.fixes ?? []).map(fix => fix.label)).toEqual(labels)
  for (const fix of found?.fixes ?? []) {
    const result = applyEdits(draft, draftEdits.parse(fix.edits))
    if (!result.ok) throw new Error(`${fix.label}: ${JSON.stringify(result.issues)}`)
    expect(validate(result.draft, around).filter(one => one.code === code && one.path === path)).toEqual([])
  }
}

describe('what keeps a draft from being published', () => {
  it.each(ERRORS)('%s: %s', (code, _, draft, path, fixes) => expectFinding([code, 'error', draft, path, fixes]))

  it.each(SECRETS)('secret_not_found: %s', (_, draft, path, fixes) =>
    expectFinding(['secret_not_found', 'error', draft, path, fixes]),
  )

  it('secret_not_found: nothing where the secret is there, of its kind, in that version', () => {
    const draft = agent({
      actions: [signed({ id: 'http', version: '9' })],
      notification: { url: 'https://example.test/', secret: { id: 'sign', version: '1' } },
      providers: { ...providers, llm: { ...providers.llm, credential: key('key', '2') } },
    })
    expect(validate(draft, surroundings)).toEqual([])
  })

  it('setting_invalid, action_invalid: what was kept from before and is no longer taken', () => {
    const draft = agent({ actions: [http] })
    const old = { ...draft, settings: { voiceSpeed: 9 }, actions: [{ ...draft.actions[0]!, url: 'ftp://x' }] }
    expect(validate(old as DraftContent, surroundings).map(({ code, path }) => `${code} ${path}`)).toEqual([
      'action_invalid /actions/0/url',
      'setting_invalid /settings/voiceSpeed',
    ])
  })

  it('is not offered what is not ready', () => {
    const findings = validate(agent({ telephony: { trunkId: 'x' } }), nothing)
    expect(findings.map(({ code, fixes }) => `${code} ${(fixes ?? []).map(fix => fix.label).join()}`)).toEqual([
      'model_not_ready ',
      'voice_not_found ',
      'voice_not_found ',
      'trunk_not_found Place no calls',
    ])
  })

  it('offers a voice for the languages of the agent', () => {
    const voice = (voice_id: string, languages: string[]) => ({ ...surroundings.voices[1]!, voice_id, languages })
    const voices = [
      surroundings.voices[0]!,
      voice('english', ['en']),
      voice('spanish', ['es']),
      voice('both', ['es', 'en']),
    ]
    const offered = (language: string | string[]) => {
      const tts = { ...providers.tts, voiceId: 'gone' }
      const draft = agent({ providers: { ...providers, tts }, settings: { channels: ['cloud'], language } })
      return validate(draft, { ...surroundings, voices })[0]?.fixes?.[0]?.label
    }
    expect([offered('en-GB'), offered('es'), offered('multi')]).toEqual([
      'Use "simulated/tones-1:english"',
      'Use "simulated/tones-1:spanish"',
      'Use "simulated/tones-1:both"',
    ])
  })
})

describe('what a draft can live with', () => {
  it.each(WARNINGS)('%s: %s', (code, _, draft, path, fixes) => expectFinding([code, 'warning', draft, path, fixes]))

  it('knowledge_not_ready: no documents can be searched', () => {
    const draft = agent({ knowledge: { document_ids: null } })
    expectFinding(['knowledge_not_ready', 'warning', draft, '/knowledge', ['Talk without documents']], {
      ...surroundings,
      knowledge_ready: false,
    })
  })

  it('says nothing of a draft that is in order', () => {
    const draft = agent({
      settings: { channels: ['cloud', 'phone'], voiceId: 'low', fallbackVoiceIds: ['simulated/tones-1:ill'] },
      telephony: { trunkId: 'main', from: '+15550000001' },
      knowledge: { document_ids: ['doc-2'] },
    })
    expect(validate(draft, surroundings)).toEqual([])
  })
})

describe('findings', () => {
  it('come errors first, then by path', () => {
    const draft = flow([says('hi', '{{x}}', { edges: [when('e', 'gone')] })], {}, { settings: { language: 'fr' } })
    expect(validate(draft, surroundings).map(({ severity, path }) => `${severity} ${path}`)).toEqual([
      'error /flow/nodes/0/edges/0/destination_node_id',
      'error /settings/language',
      'warning /flow/nodes',
      'warning /flow/nodes/0/instruction/text',
      'warning /telephony',
    ])
  })

  it('keep to the bounds of the contract, however long the names are', () => {
    const long = '😀'.repeat(255)
    const deep = (levels: number): object =>
      levels === 0 ? { x: '{{gone}}' } : { [`😀${'k'.repeat(60)}`]: deep(levels - 1) }
    const nodes: DraftNode[] = [
      { ...lone('hi'), name: long },
      { ...lone('lost'), name: `a${long}` },
      { id: 'c', type: 'code', deep: JSON.parse(JSON.stringify(deep(40))) },
      ends(),
    ]
    const findings = validate(flow(nodes, {}, { settings: { language: 'ü'.repeat(256) } }), surroundings)
    expect(findings.length).toBeGreaterThan(3)
    for (const found of findings) expect(diagnostic.parse(found)).toEqual(found)
  })

  it('are found in a flow as large as one may be, and capped', () => {
    const inner = Array.from(
      { length: 500 },
      (_, n): DraftNode => ({ id: `${n}`, type: 'component', component_id: `c${n % 50}` }),
    )
    const components = Array.from({ length: 50 }, (_, n) => ({
      component_id: `c${n}`,
      start_node_id: '0',
      nodes: inner,
    }))
    const draft = flow([hi, ends()], { components })
    const severities = validate(draft, surroundings).map(({ severity }) => severity)
    expect(severities.filter(severity => severity === 'error')).toHaveLength(500)
    expect(severities.filter(severity => severity === 'warning')).toHaveLength(500)
  })
})
