import { describe, expect, it } from 'vitest'
import { exportFile, imported, importOf, modelOf, secrets } from './fixtures/exports.ts'
import { importExport } from './import-export.ts'
import type { JsonObject } from './json.ts'
import { draft, full, nodeOf, unplaced, warned, withNode } from './testing/full-import.ts'

describe('an imported flow', () => {
  it('an imported flow has every node of a supported type', () =>
    expect(draft.flow.nodes.map(node => `${node.id}: ${node.type}`)).toEqual([
      'start_1: conversation',
      'sub: subagent',
      'slots: function',
      'code: code',
      'mcp: mcp',
      'branch: branch',
      'branch-2: branch',
      'extract: extract_dynamic_variables',
      'transfer: transfer_call',
      'keys: press_digit',
      'swap: agent_swap',
      'sms: sms',
      'component: component',
      'end: end',
      'bridge: bridge_transfer',
      'cancel: cancel_transfer',
    ]))

  it('an imported flow keeps its start node and speaker, and its default variables become text', () => {
    expect(draft.flow).toMatchObject({
      start_node_id: 'start_1',
      start_speaker: 'agent',
      begin_after_user_silence_ms: 1500,
    })
    expect(draft.flow.default_dynamic_variables).toEqual({ clinic_hours: '9 to 5', floor: '2' })
    expect(unplaced['/flow/default_dynamic_variables/9{lives']).toBe('no name')
  })

  it('an imported conversation node keeps its instruction and settings', () => {
    expect(nodeOf('start_1')).toMatchObject({
      name: 'Greeting',
      display_position: { x: 10.5, y: -20 },
      instruction: { type: 'static_text', text: 'Harbour Clinic, good morning.' },
      model_choice: modelOf('own-large'),
      interruption_sensitivity: 0.4,
      responsiveness: null,
      voice_speed: 1.05,
      reminder_trigger_ms: 8000,
      reminder_max_count: 3,
      allow_dtmf_interruption: false,
      skip_response_edge: { destination_node_id: 'slots' },
      global_node_setting: { condition: 'They want to start over', cool_down: 2, go_back_conditions: [{ id: 'back' }] },
    })
    expect(unplaced['/flow/nodes/start_1/responsiveness']).toBe(5)
    expect(warned('/flow/nodes/0/responsiveness')).toEqual(['field_ignored'])
  })

  it('edges are imported from every spelling that the format allows', () => {
    const start = nodeOf('start_1')!
    const edges = start.type === 'conversation' ? start.edges : []
    expect(edges).toEqual([
      {
        id: 'to-slots',
        transition_condition: { type: 'prompt', prompt: 'They want an appointment' },
        destination_node_id: 'slots',
      },
      // The legacy condition alone.
      {
        id: 'to-branch',
        transition_condition: { type: 'prompt', prompt: 'They ask about a bill' },
        destination_node_id: 'branch',
      },
      {
        id: 'no-destination',
        transition_condition: { type: 'prompt', prompt: 'They say nothing' },
        destination_node_id: null,
      },
      // One equation without an operator between equations, whose right side is no text.
      {
        id: 'vip',
        transition_condition: {
          type: 'equation',
          operator: '&&',
          equations: [{ left: '{{vip}}', operator: '==', right: 'true' }],
        },
        destination_node_id: 'transfer',
      },
    ])
    expect(start).toMatchObject({ always_edge: { transition_condition: { prompt: 'Always' } } })
    expect(unplaced).toHaveProperty(['/flow/nodes/start_1/edges/unknown-operator'])
    expect(warned('/flow/nodes/0/edges/4')).toEqual(['field_ignored'])
  })

  it('equations are imported with {{x}} and with x on the left side', () =>
    expect(nodeOf('branch')).toMatchObject({
      edges: [{ transition_condition: { operator: '||', equations: [{ left: 'floor' }, { left: '{{day}}' }] } }],
    }))

  it('the always_edge of a function is imported as its else edge', () => {
    expect(nodeOf('slots')).toMatchObject({
      tool_id: 'tool-slots',
      else_edge: { id: 'after', destination_node_id: 'extract' },
    })
    expect(warned('/flow/nodes/2/always_edge')).toEqual(['field_ignored'])
  })

  it('a branch without edges is imported with its else edge alone', () =>
    expect(nodeOf('branch-2')).toMatchObject({
      edges: [],
      else_edge: { destination_node_id: 'end' },
    }))

  it('edges of an end node and the start_speaker of a node are stored as unplaced, with a warning', () => {
    expect(unplaced['/flow/nodes/end/edges']).toEqual([{ id: 'nowhere' }])
    expect(warned('/flow/nodes/13/edges')).toEqual(['field_ignored'])
    expect(unplaced['/flow/nodes/start_1/start_speaker']).toBe('agent')
    expect(warned('/flow/nodes/0/start_speaker')).toEqual(['field_ignored'])
  })

  it.each(['knowledge_base_ids', 'kb_config', 'knowledge_bases', 'notes'])(
    'the import stores %s of the flow as unplaced, with a warning',
    name => {
      expect(unplaced[`/flow/${name}`]).toEqual(full.flow[name])
      expect(warned(`/flow/${name}`)).toHaveLength(1)
    },
  )

  it.each([
    [3, 'code', []],
    [4, 'mcp', []],
    [10, 'swap', []],
    [11, 'sms', []],
    [14, 'bridge', ['unsupported_capability']],
    [15, 'cancel', ['unsupported_capability']],
  ])('node %i, %s, keeps all its fields and is imported with the warnings %j', (index, id, codes) => {
    expect(warned(`/flow/nodes/${index}/type`)).toEqual(codes)
    const source = (full.flow.nodes as JsonObject[])[index]!
    for (const name of Object.keys(source).filter(key => !key.includes('edge')))
      expect(nodeOf(id)).toHaveProperty(name, source[name])
  })

  it('MCP servers are part of the flow, with their defaults', () => {
    expect(draft.flow.mcps).toEqual([
      { ...(full.flow.mcps as JsonObject[])[0], headers: {}, query_params: {}, timeout_ms: 120_000, auth: null },
    ])
    expect(warned('/flow/mcps')).toEqual([])
  })

  it('a warm transfer is imported with a warning that it runs as a cold one', () => {
    expect(nodeOf('transfer')).toMatchObject({
      transfer_option: { type: 'warm_transfer', on_hold_music: 'ringtone' },
      edge: { destination_node_id: 'end' },
    })
    expect(warned('/flow/nodes/8/transfer_option')).toEqual(['unsupported_capability'])
  })

  it('a node of an unknown type or without its tool is stored as unplaced, with a warning', () => {
    expect(unplaced['/flow/nodes/pad']).toMatchObject({ type: 'sticky_note' })
    expect(warned('/flow/nodes/16')).toEqual(['unsupported_capability'])
    expect(unplaced['/flow/nodes/lost']).toMatchObject({ name: 'No tool yet' })
    expect(warned('/flow/nodes/17')).toEqual(['field_ignored'])
  })

  it('an invalid id is renamed together with every reference to it', () => {
    expect(warned('/flow/nodes/0/id')).toEqual(['id_renamed'])
    expect(warned('/flow/nodes/6/id')).toEqual(['id_renamed'])
    expect(draft.flow.components[0]!.component_id).toBe('verify_caller')
    expect(nodeOf('component')).toMatchObject({ component_id: 'verify_caller' })
    expect(nodeOf('sub')).toMatchObject({ tool_ids: ['tool-slots', 'tool_form', 'book'] })
    // The component's own tool of that id, not the flow's.
    expect(draft.flow.components[0]!.nodes[1]).toMatchObject({ tool_id: 'tool-slots-2' })
  })

  it('every edge to a renamed node leads to its new id', () => {
    const edge = { id: 'e', transition_condition: { type: 'prompt', prompt: 'Else' }, destination_node_id: 'far/away' }
    const { agent, flow } = exportFile('minimal-export')
    const nodes = [
      { id: 'far/away', type: 'conversation', edges: [edge], always_edge: edge },
      { id: 'move', type: 'transfer_call', transfer_destination: { type: 'inferred', prompt: 'Whom' }, edge },
    ]
    const moved = importExport(importOf({ agent, flow: { ...flow, nodes, start_node_id: 'far/away' } }), secrets)
    expect(imported(moved).flow).toMatchObject({
      start_node_id: 'far_away',
      nodes: [
        { edges: [{ destination_node_id: 'far_away' }], always_edge: { id: 'e-2', destination_node_id: 'far_away' } },
        { edge: { destination_node_id: 'far_away' } },
      ],
    })
  })

  it('an id that is too long is cut between characters', () => {
    const result = withNode({ id: '😀'.repeat(70), type: 'end' })
    expect(imported(result).flow.nodes[2]!.id).toBe('😀'.repeat(63))
  })
})
