import { planSchema } from '@parley/contract/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  asks,
  type DraftNode,
  draftOf,
  ends,
  if_,
  planOf,
  providers,
  says,
  staticText,
  when,
} from '../testing/flow-harness.ts'
import { compile } from './compile.ts'
import type { Diagnostic } from './diagnostic.ts'

function findings(draft: unknown): readonly Diagnostic[] {
  const compiled = compile(draft)
  return compiled.ok ? compiled.warnings : compiled.diagnostics
}

const found = (draft: unknown) => findings(draft).map(({ severity, code, path }) => `${severity} ${code} ${path}`)

describe('a compiled plan', () => {
  it('a compiled plan has every default filled in, carries no import source and is frozen', () => {
    const plan = planOf(draftOf([says('hi', 'Hello.', { edges: [when('bye', 'end')] }), ends()]))
    expect(plan).toMatchObject({
      plan_schema_version: 1,
      settings: {
        reminderTriggerMs: 10_000,
        reminderMaxCount: 1,
        maxCallDurationMs: 3_600_000,
        endCallAfterSilenceMs: 600_000,
        allowUserDtmf: true,
        interruptionSensitivity: 1,
        userDtmfOptions: { digitLimit: null, terminationKey: null, timeoutMs: 3000 },
      },
      flow: {
        start_speaker: 'agent',
        nodes: [{ name: '', always_edge: null, interruption_sensitivity: null }, { speak_during_execution: false }],
      },
    })
    expect('source' in plan).toBe(false)
    expect(() => Object.assign(plan.flow.nodes[0]!, { id: 'x' })).toThrow(TypeError)
  })

  it('a plan that is serialised and parsed again is equal', () => {
    const plan = planOf(
      draftOf(
        [asks('a', 'Ask', { edges: [if_('e', 'end', 'n > 1')], model_choice: { model: providers.llm.model } }), ends()],
        { default_dynamic_variables: { n: '1' } },
      ),
    )
    expect(planSchema.parse(JSON.parse(JSON.stringify(plan)))).toEqual(plan)
  })
})

describe('errors that stop compilation', () => {
  it('an edge to an unknown node or to no node is a warning with an edit that removes the edge', () => {
    const draft = draftOf([
      asks('a', 'Ask', { edges: [when('x', 'nobody'), { ...when('y', ''), destination_node_id: null }] }),
      ends(),
    ])
    expect(found(draft)).toEqual(
      expect.arrayContaining([
        'warning node_unknown /flow/nodes/0/edges/0/destination_node_id',
        'warning edge_dangling /flow/nodes/0/edges/1/destination_node_id',
      ]),
    )
    expect(findings(draft).find(({ code }) => code === 'node_unknown')?.fixes?.[0]?.edits).toEqual([
      { type: 'flow.edge.remove', component_id: null, node_id: 'a', edge_id: 'x' },
    ])
  })

  it('an empty flow and a missing start node are errors', () => {
    expect(found(draftOf([]))).toContain('error flow_empty /flow/nodes')
    const draft = draftOf([says('hi', 'Hi'), ends()], { start_node_id: 'gone' })
    expect(found(draft)[0]).toBe('error start_node_missing /flow/start_node_id')
    expect(findings(draft)[0]?.fixes?.[0]?.edits).toEqual([{ type: 'flow.start', component_id: null, node_id: 'hi' }])
  })

  it('a branch without an else edge and a transfer without a failure edge are errors, and the fix leads to the end node', () => {
    const draft = draftOf([
      { id: 'b', type: 'branch', edges: [if_('x', 't', 'n exists')] },
      { id: 't', type: 'transfer_call', transfer_destination: { type: 'predefined', number: '+15550100' } },
      ends(),
    ])
    expect(found(draft).slice(0, 2)).toEqual([
      'error else_edge_missing /flow/nodes/0/else_edge',
      'error edge_dangling /flow/nodes/1/edge',
    ])
    expect(findings(draft)[0]?.fixes?.[0]?.edits[0]).toMatchObject({
      type: 'flow.edge.put',
      slot: 'else_edge',
      edge: { destination_node_id: 'end' },
    })
  })

  it('a duplicate node or edge id is an error', () => {
    expect(
      found(draftOf([asks('a', 'A', { edges: [when('e', 'a')], else_edge: when('e', 'a') }), says('a', 'B')])),
    ).toEqual(
      expect.arrayContaining(['error duplicate_id /flow/nodes/0/else_edge/id', 'error duplicate_id /flow/nodes/1/id']),
    )
  })

  const different: [string, DraftNode, string][] = [
    [
      'a warm transfer',
      {
        id: 't',
        type: 'transfer_call',
        transfer_destination: { type: 'predefined', number: '+15550100' },
        transfer_option: { type: 'warm_transfer', on_hold_music: 'none' },
      },
      '/flow/nodes/0/transfer_option/type',
    ],
    [
      'a cold transfer by INVITE',
      {
        id: 't',
        type: 'transfer_call',
        transfer_destination: { type: 'predefined', number: '+15550100' },
        transfer_option: { type: 'cold_transfer', cold_transfer_mode: 'sip_invite' },
      },
      '/flow/nodes/0/transfer_option/cold_transfer_mode',
    ],
    [
      'an extension after REFER',
      {
        id: 't',
        type: 'transfer_call',
        transfer_destination: { type: 'predefined', number: '+15550100', extension: '12' },
      },
      '/flow/nodes/0/transfer_destination/extension',
    ],
    [
      'a shared component',
      { id: 'c', type: 'component', component_id: 'x', component_type: 'shared' },
      '/flow/nodes/0/component_id',
    ],
  ]
  it.each(different)('%s is the warning not_executed, and the draft can be published', (_, node, path) => {
    expect(found(draftOf([node, ends()]))).toContain(`warning not_executed ${path}`)
  })

  it('unknown actions, unknown components and recursive components are errors', () => {
    const loop = {
      component_id: 'loop',
      start_node_id: 'again',
      nodes: [{ id: 'again', type: 'component', component_id: 'loop' } as const],
    }
    const draft = draftOf(
      [{ id: 'f', type: 'function', tool_id: 'gone' }, { id: 'c', type: 'component', component_id: 'gone' }, ends()],
      { components: [loop] },
    )
    expect(found(draft)).toEqual(
      expect.arrayContaining([
        'error action_unknown /flow/nodes/0/tool_id',
        'error component_unknown /flow/nodes/1/component_id',
        'error component_recursive /flow/components/0/nodes/0/component_id',
      ]),
    )
  })

  it('an inbound context whose action lacks the phone channel, idempotency or a short timeout is an error', () => {
    const action = {
      action_id: 'who',
      kind: 'http',
      name: 'who',
      method: 'POST',
      url: 'https://example.test/',
    } as const
    const inbound_context = { action_id: 'who', variables: ['name'] }
    expect(found(draftOf([ends()], {}, { actions: [action], inbound_context }))).toContain(
      'error inbound_action_invalid /inbound_context/action_id',
    )
    const good = { ...action, channels: ['phone' as const], idempotency: 'effect_key' as const, timeout_ms: 10_000 }
    expect(found(draftOf([ends()], {}, { actions: [good], inbound_context }))).toEqual([])
  })

  it('a variable in the host of an action URL is an error', () => {
    const action = { action_id: 'a', kind: 'http', name: 'a', method: 'GET', url: 'https://{{host}}/x' } as const
    expect(found(draftOf([ends()], {}, { actions: [action] }))).toEqual(['error action_invalid /actions/0/url'])
  })

  it('an error is listed first, however many warnings there are', () => {
    const lost = Array.from({ length: 499 }, (_, index) => says(`lost-${index}`, 'Lost'))
    const component = { component_id: 'c', start_node_id: 'end', nodes: [...lost, ends()] }
    const draft = draftOf([{ id: 'f', type: 'function', tool_id: 'gone' }, ...lost], { components: [component] })
    expect(found(draft)[0]).toBe('error action_unknown /flow/nodes/0/tool_id')
  })

  it('out-of-range values, unknown fields and unsupported languages are errors', () => {
    const draft = draftOf(
      [says('hi', 'Hi', { reminder_max_count: 101 }), ends()],
      {},
      { settings: { reminderMaxCount: -1 } },
    )
    expect(found(draft)).toEqual([
      'error draft_malformed /flow/nodes/0/reminder_max_count',
      'error setting_invalid /settings/reminderMaxCount',
    ])
    expect(found({ ...draftOf([ends()]), colour: 'red' })).toEqual(['error draft_malformed '])
    expect(found(draftOf([{ id: 'p', type: 'press_digit', instruction: staticText('press one') }]))).toContain(
      'error draft_malformed /flow/nodes/0/instruction/text',
    )
    expect(found(draftOf([ends()], {}, { settings: { language: 'fr' } }))).toContain(
      'error language_unsupported /settings/language',
    )
  })
})

describe('warnings that do not stop compilation', () => {
  it('unreachable nodes, flows without a reachable end and undefined variables are warnings', () => {
    const draft = draftOf([
      asks('a', 'Greet {{name}} at {{current_time}}', { edges: [if_('e', 'a', 'tier == gold')] }),
      says('lost', 'Lost'),
    ])
    expect(found(draft)).toEqual([
      'warning end_unreachable /flow/nodes',
      'warning variable_undefined /flow/nodes/0/edges/0/transition_condition/equations/0/left',
      'warning variable_undefined /flow/nodes/0/instruction/text',
      'warning node_unreachable /flow/nodes/1',
    ])
    expect(findings(draft)[2]?.fixes?.[0]?.edits).toEqual([{ type: 'flow.variables', values: { name: '' }, clear: [] }])
  })

  it('a global node and a variable set by an action or an extraction cause no warning', () => {
    const extract: DraftNode = {
      id: 'x',
      type: 'extract_dynamic_variables',
      variables: [{ type: 'string', name: 'who', description: 'Name' }],
      else_edge: when('e', 'hi'),
    }
    const global = says('help', '{{who}}', { global_node_setting: { condition: 'they ask for help' } })
    expect(found(draftOf([extract, says('hi', 'Hi', { edges: [when('bye', 'end')] }), global, ends()]))).toEqual([])
  })

  it('an unknown setting value and a phone agent without a trunk are warnings', () => {
    expect(found(draftOf([ends()], {}, { settings: { ambientSound: 'jungle' } }))).toEqual([
      'warning setting_unknown /settings/ambientSound',
      'warning telephony_missing /telephony',
    ])
  })
})

describe('any JSON value', () => {
  it('compiling any JSON value yields a plan or diagnostics and never throws', () => {
    fc.assert(
      fc.property(fc.json(), json => {
        const compiled = compile(JSON.parse(json))
        expect(compiled.ok || compiled.diagnostics.length > 0).toBe(true)
      }),
      { numRuns: 100 },
    )
    const circle: Record<string, unknown> = {}
    circle.flow = circle
    expect(compile(circle).ok).toBe(false)
  })
})
