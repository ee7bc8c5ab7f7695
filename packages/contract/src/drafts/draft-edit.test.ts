import {
  boolean,
  e164,
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
  revision,
  text,
  uuid,
  variations,
} from '@parley/nodes/testing'
import { describe, expect, it } from 'vitest'
import { isAccepted, requestCases, requestMismatches } from '../testing/requests.ts'
import { draftEdit } from './draft-edit.ts'

const name = text(1, 256)
const id63 = pattern(['a', 'Node 1', 'ñ', 'x'.repeat(63)], ['', 'a/b', 'a\tb', 'a\u0085', '__proto__', 'x'.repeat(64)])
const variable = pattern(
  ['_', 'a', 'A_.-9', '1a', 'a b', 'Größe?', 'a'.repeat(128)],
  ['', ' a', 'a ', 'a{', 'a\tb', '__proto__', 'a'.repeat(129), 'a\n'],
)
const inFlow = { component_id: nullable(id63) }
const atNode = { ...inFlow, node_id: id63 }
const main = { component_id: null }
const secret = { id: 's', version: '1' }
const secretRef = object(secret, { id: name, version: name })
const uri = pattern(
  ['https://example.com/x', 'wss://h:1/'],
  ['', 'example.com', ' https://example.com', `https://${'x'.repeat(2048)}`],
)
const identity = { model_id: 'm', provider: 'p', tier: 'frontier' }
const notBlank = pattern(['m', ' m '], ['', '  '])
const modelIdentity = object(identity, {
  model_id: notBlank,
  provider: notBlank,
  tier: oneOf('frontier', 'platform-served', 'customer-gpu'),
})
const credential = object({ ...secret, provider: 'p' }, { id: name, version: name, provider: name })
const modelRef = object({ model: identity }, { model: modelIdentity, credential: optional(credential) })
const prompt = { type: 'prompt', text: 'Say hello' }
const instruction = object(prompt, { type: oneOf('prompt', 'static_text'), text: text(0, 32_768) })
const end = { id: 'end', type: 'end' }
const edge = { id: 'e', transition_condition: { type: 'prompt', prompt: 'Always' }, destination_node_id: 'end' }
const action = { action_id: 'look-up', kind: 'end_call', name: 'look_up' }
const one = (value: unknown): FieldCases => ({ valid: [value], invalid: ['x', 7, []], optional: false })
const analysisItem = { type: 'system-presets', name: 'call_summary' }

/** Strings by name, with at most `max` characters each. */
function stringsBy(names: FieldCases, max: number): FieldCases {
  const [first] = names.valid as string[]
  const held = text(0, max)
  return {
    valid: [{}, ...names.valid.map(key => ({ [String(key)]: 'v' })), ...held.valid.map(value => ({ [first!]: value }))],
    invalid: [
      // zod drops this name before a schema sees it; the parser of requests refuses it.
      ...names.invalid
        .filter(key => typeof key === 'string' && key !== '__proto__')
        .map(key => ({ [key as string]: 'v' })),
      ...held.invalid.map(value => ({ [first!]: value })),
      [],
    ],
    optional: false,
  }
}

const EDITS: Record<string, { valid: Record<string, unknown>; fields: Record<string, FieldCases> }[]> = {
  'agent.name': [{ valid: { name: 'Ada' }, fields: { name } }],
  'agent.settings': [
    {
      valid: {},
      fields: { values: optional(one({ voiceSpeed: 1 })), clear: optional(list(0, 43, oneOf('volume', 'voiceId'))) },
    },
  ],
  'agent.telephony': [
    {
      valid: { value: null },
      fields: { value: nullable(object({ trunkId: 't' }, { trunkId: name, from: optional(e164) })) },
    },
  ],
  'agent.provider': [
    ...['stt', 'tts'].map(role => ({
      valid: { role, changes: {} },
      fields: {
        changes: object(
          {},
          {
            provider: optional(name),
            model: optional(name),
            credential: optional(nullable(secretRef)),
            endpoint: optional(nullable(uri)),
            voiceId: optional(nullable(name)),
            ...(role === 'stt' && {
              fallbacks: optional(
                nullable(list(0, 3, object({ provider: 'p', model: 'm' }, { provider: name, model: name }))),
              ),
            }),
          },
        ),
      },
    })),
    {
      valid: { role: 'llm', changes: {} },
      fields: {
        role: oneOf('llm'),
        changes: object(
          {},
          {
            model: optional(modelIdentity),
            provider: optional(oneOf('hosted', 'simulated_hosted', 'self_hosted', 'simulated_self_hosted')),
            credential: optional(nullable(credential)),
            endpoint: optional(nullable(uri)),
            fallbacks: optional(nullable(list(0, 3, modelIdentity))),
          },
        ),
      },
    },
  ],
  'agent.knowledge': [
    {
      valid: { value: null },
      fields: {
        value: nullable(
          object(
            { document_ids: null },
            {
              document_ids: nullable(list(1, 100, name)),
              top_k: optional(integer(1, 20)),
              min_score: optional(number(0, 1)),
            },
          ),
        ),
      },
    },
  ],
  'agent.analysis': [
    {
      valid: { value: null },
      fields: {
        value: nullable(
          object({ items: [], model: null }, { items: list(0, 50, one(analysisItem)), model: nullable(modelRef) }),
        ),
      },
    },
  ],
  'agent.recording': [
    {
      valid: { value: { required: true, channels: 'dual' } },
      fields: {
        value: object(
          { required: true, channels: 'dual' },
          {
            required: boolean,
            channels: oneOf('dual'),
            signed_urls: optional(boolean),
          },
        ),
      },
    },
  ],
  'notification.put': [
    {
      valid: { notification: { url: 'https://example.com', secret } },
      fields: {
        notification: object(
          { url: 'https://example.com', secret },
          {
            url: pattern(
              ['https://example.com/hook', 'http://127.0.0.1:8080/', `https://example.com/${'x'.repeat(2028)}`],
              [
                '',
                'ftp://example.com',
                'https:example.com',
                'javascript:alert(1)',
                `https://example.com/${'x'.repeat(2029)}`,
              ],
            ),
            secret: secretRef,
            events: optional({
              valid: [['run.started'], ['run.started', 'run.transfer', 'run.ended', 'run.analyzed']],
              invalid: [[], ['run.other'], ['run.ended', 'run.ended'], 'run.ended'],
              optional: false,
            }),
          },
        ),
      },
    },
  ],
  'notification.remove': [{ valid: {}, fields: {} }],
  'action.put': [{ valid: { action }, fields: { action: one(action) } }],
  'action.remove': [{ valid: { action_id: 'a' }, fields: { action_id: identifier(128) } }],
  'phone.inbound_context': [
    {
      valid: { value: null },
      fields: {
        value: nullable(
          object({ action_id: 'a', variables: [] }, { action_id: identifier(128), variables: list(0, 100, variable) }),
        ),
      },
    },
  ],
  'flow.prompt': [{ valid: { text: '' }, fields: { text: text(0, 65_536) } }],
  'node.instruction': [{ valid: { ...main, node_id: 'n', instruction: prompt }, fields: { ...atNode, instruction } }],
  'flow.node.put': [{ valid: { ...main, node: end }, fields: { ...inFlow, node: one(end) } }],
  'flow.node.remove': [{ valid: { ...main, node_id: 'n' }, fields: atNode }],
  'flow.edge.put': [
    {
      valid: { ...main, node_id: 'n', edge },
      fields: {
        ...atNode,
        edge: one(edge),
        index: optional(integer(0, 100)),
        slot: optional(
          oneOf('edges', 'always_edge', 'skip_response_edge', 'else_edge', 'edge', 'success_edge', 'failed_edge'),
        ),
      },
    },
  ],
  'flow.edge.remove': [{ valid: { ...main, node_id: 'n', edge_id: 'e' }, fields: { ...atNode, edge_id: text(1, 64) } }],
  'flow.start': [
    {
      valid: { ...main, node_id: 'n' },
      fields: {
        ...inFlow,
        node_id: nullable(id63),
        start_speaker: optional(oneOf('agent', 'user')),
        begin_after_user_silence_ms: optional(nullable(integer(0, 60_000))),
      },
    },
  ],
  'flow.component.put': [
    {
      valid: { component: { component_id: 'c' } },
      fields: {
        component: object(
          { component_id: 'c' },
          {
            component_id: id63,
            name: optional(text(0, 256)),
            start_node_id: optional(nullable(id63)),
            nodes: optional(list(0, 500, one(end))),
          },
        ),
      },
    },
  ],
  'flow.component.remove': [{ valid: { component_id: 'c' }, fields: { component_id: id63 } }],
  'flow.variables': [
    {
      valid: {},
      fields: { values: optional(stringsBy(variable, 4096)), clear: optional(list(0, 1000, variable)) },
    },
  ],
}

describe('the edits of a draft', () => {
  it('the edit types are exactly those listed here', () => {
    const refused = draftEdit.safeParse({ type: 'no.such.edit' })
    const [issue] = refused.error!.issues as unknown as { options: string[] }[]
    expect([...new Set(issue!.options)].sort()).toEqual(Object.keys(EDITS).sort())
  })

  const shapes = Object.entries(EDITS).flatMap(([type, all]) => all.map(shape => ({ type, ...shape })))

  it.each(shapes)(
    'an edit of type $type accepts the values within its bounds and no others',
    ({ type, valid, fields }) => {
      const all = variations({ type, ...valid }, fields)
      expect(mismatches(all, value => draftEdit.safeParse(value).success)).toEqual([])
    },
  )
})

describe('an edit', () => {
  const parses = (edit: unknown) => draftEdit.safeParse(edit).success

  it('an edit cannot set and clear the same name', () => {
    const settings = (clear: string[]) => ({ type: 'agent.settings', values: { volume: 1 }, clear })
    expect(parses(settings(['voiceId']))).toBe(true)
    expect(parses(settings(['voiceId', 'volume']))).toBe(false)
    expect(parses({ type: 'flow.variables', values: { a: '1' }, clear: ['b'] })).toBe(true)
    expect(parses({ type: 'flow.variables', values: { a: '1' }, clear: ['a'] })).toBe(false)
  })

  it('start_speaker can be set for the main flow only', () => {
    const start = { type: 'flow.start', component_id: 'c', node_id: 'n' }
    expect(parses(start)).toBe(true)
    expect(parses({ ...start, start_speaker: 'user' })).toBe(false)
    expect(parses({ ...start, begin_after_user_silence_ms: null })).toBe(false)
  })

  it('an edge is put into slot "edges" by default', () => {
    const put = {
      type: 'flow.edge.put',
      component_id: null,
      node_id: 'n',
      edge: { ...edge, destination_node_id: undefined },
    }
    expect(draftEdit.parse(put)).toMatchObject({ slot: 'edges', edge: { destination_node_id: null } })
  })

  it('an edit of the language model takes no voiceId, and an edit of a voice takes no model identity', () => {
    expect(parses({ type: 'agent.provider', role: 'llm', changes: { voiceId: 'v' } })).toBe(false)
    expect(parses({ type: 'agent.provider', role: 'tts', changes: { model: identity } })).toBe(false)
  })
})

describe('a request to edit', () => {
  const edit = { type: 'flow.prompt', text: 'x' }
  const cases = requestCases(
    'drafts.edit',
    'body',
    { draft_id: uuid.valid[0], expected_revision: 1, edits: [edit] },
    {
      draft_id: uuid,
      expected_revision: revision,
      edits: list(1, 100, one(edit)),
    },
  )

  it('each field of a drafts.edit request accepts the values within its bounds and no others', () =>
    expect(requestMismatches(cases)).toEqual([]))

  it('a request with a million edits is refused at once with a short message', () => {
    const body = { draft_id: uuid.valid[0], expected_revision: 1, edits: Array(1_000_000).fill(0) }
    expect(isAccepted('drafts.edit', { body })).toBe(false)
  })
})
