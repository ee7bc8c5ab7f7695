import { diagnostic } from '@parley/contract/testing'
import { describe, expect, it } from 'vitest'
import type { DraftContent } from '../plan/draft.ts'
import { draftEnvironment } from '../testing/draft-environment.ts'
import { asks, type DraftNode, ends, says, when } from '../testing/flow-harness.ts'
import { agent, type Case, expectFinding, flow, hi, http, lone, transfer } from './testing/findings.ts'
import { validate } from './validate.ts'

const WARNINGS: readonly Case[] = [
  ['node_unreachable', 'a node that no edge leads to', flow([hi, lone('x'), ends()]), '/flow/nodes/1', ['Remove "x"']],
  ['node_unreachable', 'a flow that cannot reach an end', flow([says('hi', 'Hi')]), '/flow/nodes', []],
  [
    'variable_undefined',
    'a variable that nothing sets',
    flow([asks('hi', '{{who}}', { edges: [when('e', 'end')] }), ends()]),
    '/flow/nodes/0/instruction/text',
    ['Give "who" an empty default'],
  ],
  [
    'telephony_missing',
    'a phone agent without a trunk',
    agent({ settings: { channels: ['phone'] } }),
    '/telephony',
    ['Call over "main"', 'Serve the cloud only'],
  ],
  [
    'setting_unknown',
    'an unknown setting value',
    agent({ settings: { channels: ['cloud'], sttMode: 'slow' } }),
    '/settings/sttMode',
    ['Use the default'],
  ],
  [
    'field_ignored',
    'a caller number that the carrier chooses',
    flow([transfer({ transfer_option: { type: 'cold_transfer', show_transferee_as_caller: true } }), ends()]),
    '/flow/nodes/0/transfer_option/show_transferee_as_caller',
    ['Leave it to the carrier'],
  ],
  [
    'knowledge_not_ready',
    'a document that does not exist',
    agent({ knowledge: { document_ids: ['doc-1', 'gone'] } }),
    '/knowledge/document_ids/1',
    ['Leave out documents that do not exist'],
  ],
  [
    'knowledge_not_ready',
    'a document of a node that does not exist',
    flow([says('hi', 'Hello.', { knowledge_base_ids: ['doc-1', 'gone'] }), ends()]),
    '/flow/nodes/0/knowledge_base_ids/1',
    ['Leave out documents that cannot be searched'],
  ],
]

describe('errors that block publishing', () => {
  it('stored settings and actions that are no longer valid are the errors setting_invalid and action_invalid', () => {
    const draft = agent({ actions: [http] })
    const old = { ...draft, settings: { voiceSpeed: 9 }, actions: [{ ...draft.actions[0]!, url: 'ftp://x' }] }
    expect(validate(old as DraftContent, draftEnvironment).map(({ code, path }) => `${code} ${path}`)).toEqual([
      'action_invalid /actions/0/url',
      'setting_invalid /settings/voiceSpeed',
    ])
  })
})

describe('warnings that do not block publishing', () => {
  it.each(WARNINGS)('the warning %s is given for %s', (code, _, draft, path, fixes) =>
    expectFinding([code, 'warning', draft, path, fixes]),
  )

  it('a draft with knowledge but no searchable document gets knowledge_not_ready', () => {
    const draft = agent({ knowledge: { document_ids: null } })
    expectFinding(['knowledge_not_ready', 'warning', draft, '/knowledge', ['Answer without documents']], {
      ...draftEnvironment,
      knowledge_ready: false,
    })
  })

  it('a valid draft has no findings', () => {
    const draft = agent({
      settings: { channels: ['cloud', 'phone'], voiceId: 'low', fallbackVoiceIds: ['simulated/tones-1:ill'] },
      telephony: { trunkId: 'main', from: '+15550000001' },
      knowledge: { document_ids: ['doc-2'] },
    })
    expect(validate(draft, draftEnvironment)).toEqual([])
  })
})

describe('findings', () => {
  it('findings are sorted by severity, then by path', () => {
    const draft = flow([says('hi', '{{x}}', { edges: [when('e', 'gone')] })], {}, { settings: { language: 'fr' } })
    expect(validate(draft, draftEnvironment).map(({ severity, path }) => `${severity} ${path}`)).toEqual([
      'error /settings/language',
      'warning /flow/nodes',
      'warning /flow/nodes/0/edges/0/destination_node_id',
      'warning /flow/nodes/0/instruction/text',
      'warning /telephony',
    ])
  })

  it('findings stay within the length limits of the API, however long the names are', () => {
    const long = '😀'.repeat(255)
    const deep = (levels: number): object =>
      levels === 0 ? { x: '{{gone}}' } : { [`😀${'k'.repeat(60)}`]: deep(levels - 1) }
    const nodes: DraftNode[] = [
      { ...lone('hi'), name: long },
      { ...lone('lost'), name: `a${long}` },
      says('deep', 'Hi', { finetune_transition_examples: [JSON.parse(JSON.stringify(deep(40)))] }),
      ends(),
    ]
    const findings = validate(flow(nodes, {}, { settings: { language: 'ü'.repeat(256) } }), draftEnvironment)
    expect(findings.length).toBeGreaterThan(3)
    for (const found of findings) expect(diagnostic.parse(found)).toEqual(found)
  })

  it('findings of a flow of maximum size are complete up to their cap', () => {
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
    const severities = validate(draft, draftEnvironment).map(({ severity }) => severity)
    expect(severities.filter(severity => severity === 'error')).toHaveLength(500)
    expect(severities.filter(severity => severity === 'warning')).toHaveLength(500)
  })
})
