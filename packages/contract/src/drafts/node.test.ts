import { node } from '@parley/nodes'
import {
  boolean,
  type FieldCases,
  identifier,
  integer,
  list,
  mismatches,
  nullable,
  number,
  object,
  oneOf,
  optional,
  pattern,
  text,
  variations,
} from '@parley/nodes/testing'
import { describe, expect, it } from 'vitest'
import { flow } from './flow.ts'

const id63 = pattern(['a', 'x'.repeat(63)], ['', 'a/b', 'a\nb', 'x'.repeat(64)])
const one = (value: unknown): FieldCases => ({ valid: [value], invalid: ['x', 7, []], optional: false })
const instruction = { type: 'prompt', text: 'Say hello' }
const promptCondition = object({ type: 'prompt', prompt: 'Always' }, { prompt: text(1, 4096) })
const equation = { left: '{{n}}', operator: '>', right: '1' }
const equationCondition = object(
  { type: 'equation', equations: [equation] },
  {
    operator: optional(oneOf('||', '&&')),
    equations: list(
      1,
      50,
      object(equation, {
        left: text(1, 1024),
        operator: oneOf('==', '!=', '>', '>=', '<', '<=', 'contains', 'not_contains', 'exists', 'not_exist'),
        right: optional(text(0, 1024)),
      }),
    ),
  },
)
const condition: FieldCases = {
  valid: [...promptCondition.valid, ...equationCondition.valid],
  invalid: [...promptCondition.invalid, ...equationCondition.invalid, { type: 'regex', prompt: 'x' }],
  optional: false,
}
const plainEdge = { id: 'e', transition_condition: { type: 'prompt', prompt: 'Always' } }
const edge = object(plainEdge, {
  id: text(1, 64),
  transition_condition: condition,
  destination_node_id: optional(nullable(id63)),
})
const place = optional(nullable(one(plainEdge)))
const edges = optional(list(0, 100, one(plainEdge)))
const described = { name: 'n', description: 'what' }
const variable: Record<string, FieldCases> = {
  name: pattern(['_', 'a.b-c_9', 'a'.repeat(128)], ['', '9', 'a b', 'a'.repeat(129)]),
  description: text(1, 1024),
  examples: optional(list(0, 20, text(0, 1024))),
  required: optional(boolean),
}
const variables: FieldCases[] = [
  ...['string', 'boolean', 'number'].map(type => object({ type, ...described }, variable)),
  object({ type: 'enum', ...described, choices: ['a'] }, { ...variable, choices: list(1, 50, text(1, 256)) }),
]
const item: FieldCases = {
  valid: variables.flatMap(({ valid: takes }) => takes),
  invalid: [...variables.flatMap(({ invalid: refuses }) => refuses), { type: 'system-presets', name: 'call_summary' }],
  optional: false,
}
const json = (max: number) => optional(list(0, max, { valid: [{ any: [1] }], invalid: ['a\0'], optional: false }))

const every: Record<string, FieldCases> = {
  id: id63,
  name: optional(text(0, 256)),
  display_position: optional(nullable(object({ x: 0, y: -1.5 }, { x: number(-1e6, 1e6), y: number(-1e6, 1e6) }))),
  model_choice: optional(nullable(one({ model: { model_id: 'm', provider: 'p', tier: 'frontier' } }))),
  global_node_setting: optional(
    nullable(
      object(
        { condition: 'asks for a human' },
        {
          condition: text(1, 4096),
          cool_down: optional(nullable(integer(0, 100))),
          go_back_conditions: optional(list(0, 100, one(plainEdge))),
          positive_finetune_examples: json(100),
          negative_finetune_examples: json(100),
        },
      ),
    ),
  ),
}
// Coordinates have no bounds; what lies beyond those above is as good.
every.display_position = {
  ...every.display_position!,
  invalid: [{ x: 0 }, { x: 0, y: 'a' }, { x: 0, y: 0, z: 0 }, 'x'],
}

const conversing: Record<string, FieldCases> = {
  instruction: one(instruction),
  edges,
  always_edge: place,
  skip_response_edge: place,
  else_edge: place,
  interruption_sensitivity: optional(nullable(number(0, 1))),
  responsiveness: optional(nullable(number(0, 1))),
  voice_speed: optional(nullable(number(0.5, 2))),
  reminder_trigger_ms: optional(nullable(integer(0, 3_600_000))),
  reminder_max_count: optional(nullable(integer(0, 100))),
  allow_dtmf_interruption: optional(nullable(boolean)),
}
const cold = { type: 'cold_transfer', cold_transfer_mode: 'sip_refer' }
const predefined = object(
  { type: 'predefined', number: '+15551234567' },
  {
    number: text(1, 256),
    extension: optional(nullable(text(0, 64))),
  },
)
const inferred = object({ type: 'inferred', prompt: 'whom they ask for' }, { prompt: text(1, 4096) })
const destination: FieldCases = {
  valid: [...predefined.valid, ...inferred.valid],
  invalid: [...predefined.invalid, ...inferred.invalid, { type: 'other' }],
  optional: false,
}

const NODES: Record<string, { valid: Record<string, unknown>; fields: Record<string, FieldCases> }> = {
  conversation: { valid: { instruction }, fields: { ...every, ...conversing, edges: optional(list(0, 100, edge)) } },
  subagent: {
    valid: { instruction },
    fields: { ...every, ...conversing, tool_ids: optional(list(0, 50, identifier(128))) },
  },
  function: {
    valid: { tool_id: 'look-up' },
    fields: {
      ...every,
      tool_id: identifier(128),
      wait_for_result: optional(boolean),
      speak_during_execution: optional(boolean),
      instruction: optional(nullable(one(instruction))),
      edges,
      else_edge: place,
    },
  },
  branch: {
    valid: { edges: [plainEdge] },
    fields: { ...every, edges: list(1, 100, one(plainEdge)), else_edge: place },
  },
  extract_dynamic_variables: {
    valid: { variables: [{ type: 'string', ...described }] },
    fields: { ...every, variables: list(1, 50, item), edges, else_edge: place },
  },
  press_digit: {
    valid: { instruction: { type: 'static_text', text: '1w#' } },
    fields: {
      ...every,
      instruction: one(instruction),
      delay_ms: optional(integer(0, 10_000)),
      edges,
      else_edge: place,
    },
  },
  transfer_call: {
    valid: { transfer_destination: { type: 'predefined', number: '+15551234567' } },
    fields: {
      ...every,
      transfer_destination: destination,
      transfer_option: optional(
        object(cold, {
          cold_transfer_mode: optional(oneOf('sip_refer', 'sip_invite')),
          show_transferee_as_caller: optional(boolean),
          transfer_ring_duration_ms: optional(integer(1000, 300_000)),
        }),
      ),
      custom_sip_headers: optional({
        valid: [{}, { 'X-Case': '7' }, { 'x-case': 'y'.repeat(1024) }],
        invalid: [{ Case: '7' }, { 'X-': '7' }, { 'X-A B': '7' }, { 'X-Case': 7 }, { 'X-Case': 'y'.repeat(1025) }],
        optional: false,
      }),
      edge: place,
    },
  },
  end: {
    valid: {},
    fields: { ...every, instruction: optional(nullable(one(instruction))), speak_during_execution: optional(boolean) },
  },
  component: {
    valid: { component_id: 'c' },
    fields: {
      ...every,
      component_id: id63,
      component_type: optional(oneOf('local', 'shared')),
      edges,
      else_edge: place,
    },
  },
}

/** Types that nothing runs yet: whatever else they say is kept. */
const KEPT: Record<string, Record<string, FieldCases>> = {
  code: { ...every, edges, else_edge: place },
  mcp: { ...every, edges, else_edge: place },
  agent_swap: { ...every, edge: place },
  sms: { ...every, success_edge: place, failed_edge: place },
  bridge_transfer: every,
  cancel_transfer: every,
}

const types = [
  ...Object.entries(NODES).map(([type, { valid, fields }]) => ({
    type,
    all: variations({ id: 'n', type, ...valid }, fields),
  })),
  ...Object.entries(KEPT).map(([type, fields]) => ({
    type,
    all: variations({ id: 'n', type, whatever: { it: ['says'] } }, fields).filter(
      ({ title }) => title !== 'an unknown member',
    ),
  })),
]

describe('a node', () => {
  it.each(types)('a node of type $type accepts the values within its bounds and no others', ({ all }) =>
    expect(mismatches(all, value => node.safeParse(value).success)).toEqual([]),
  )

  it('a node of an unknown type is refused', () =>
    expect(node.safeParse({ id: 'n', type: 'oracle' }).success).toBe(false))

  it('a node that is not executed yet keeps its unknown fields if they are valid JSON', () => {
    const code = { id: 'n', type: 'code', code: 'return 1', response_variables: { a: '$.b' } }
    expect(node.parse(code)).toMatchObject(code)
    expect(node.safeParse({ ...code, code: 'a\0' }).success).toBe(false)
  })

  it('parsing a node fills in its defaults, and parsing it again changes nothing', () => {
    const parsed = node.parse({ id: 'n', type: 'conversation', instruction })
    expect(parsed).toMatchObject({ name: '', edges: [], always_edge: null, voice_speed: null, model_choice: null })
    expect(node.parse(parsed)).toEqual(parsed)
    expect(node.parse({ id: 'd', type: 'press_digit', instruction })).toMatchObject({ delay_ms: 1000 })
    expect(node.parse({ id: 'f', type: 'function', tool_id: 'a' })).toMatchObject({ wait_for_result: true })
  })

  it('a transfer is cold and by REFER by default; a warm transfer is kept as written', () => {
    const transfer = { id: 't', type: 'transfer_call', transfer_destination: { type: 'inferred', prompt: 'whom' } }
    expect(node.parse(transfer)).toMatchObject({ transfer_option: cold, edge: null, custom_sip_headers: {} })
    const warm = { type: 'warm_transfer', on_hold_music: 'ringtone' }
    expect(node.parse({ ...transfer, transfer_option: warm })).toMatchObject({ transfer_option: warm })
  })
})

describe('a flow', () => {
  const end = { id: 'end', type: 'end' }
  const fields: Record<string, FieldCases> = {
    global_prompt: optional(text(0, 65_536)),
    start_node_id: optional(nullable(id63)),
    start_speaker: optional(oneOf('agent', 'user')),
    begin_after_user_silence_ms: optional(nullable(integer(0, 60_000))),
    default_dynamic_variables: optional({
      valid: [{}, { name: 'x'.repeat(4096) }],
      invalid: [{ name: 'x'.repeat(4097) }, { name: 1 }, { '9': 'x' }],
      optional: false,
    }),
    nodes: optional(list(0, 500, one(end))),
    components: optional(list(0, 50, one({ component_id: 'c', nodes: [end] }))),
  }

  it('each field of a flow accepts the values within its bounds and no others', () =>
    expect(mismatches(variations({}, fields), value => flow.safeParse(value).success)).toEqual([]))
})
