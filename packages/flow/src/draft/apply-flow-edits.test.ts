import { describe, expect, it } from 'vitest'
import { asks, type DraftNode, ends, if_, promptText, says, when } from '../testing/flow-harness.ts'
import { applyEdits } from './apply-edits.ts'
import { DRAFT_LIMITS } from './limits.ts'
import { after, draftWithNodes, hello, refusal, type Written } from './testing/edits.ts'

const main = { component_id: null }
const at = (node_id: string, component_id: string | null = null) => ({ component_id, node_id })

describe('edits of nodes', () => {
  it('nodes are added at the end and replaced in place', () => {
    const added = after(hello(), { type: 'flow.node.put', ...main, node: ends('late') })
    expect(added.flow.nodes.map(node => node.id)).toEqual(['hi', 'end', 'late'])
    const replaced = after(added, { type: 'flow.node.put', ...main, node: asks('hi', 'Greet') })
    expect(replaced.flow.nodes.map(node => node.id)).toEqual(['hi', 'end', 'late'])
    expect(replaced.flow.nodes[0]).toMatchObject({ instruction: promptText('Greet'), edges: [] })
  })

  it('removing a node clears the destination of every edge to it in the same flow only', () => {
    const nodes: DraftNode[] = [
      asks('a', 'A', {
        edges: [when('e', 'gone'), when('stay', 'end')],
        always_edge: when('always', 'gone'),
        skip_response_edge: when('skip', 'gone'),
        else_edge: when('else', 'gone'),
      }),
      {
        id: 's',
        type: 'sms',
        instruction: promptText('Hi'),
        success_edge: when('sent', 'gone'),
        failed_edge: when('unsent', 'gone'),
      },
      {
        id: 't',
        type: 'transfer_call',
        transfer_destination: { type: 'inferred', prompt: 'x' },
        edge: when('f', 'gone'),
      },
      { id: 'c', type: 'code', edges: [when('e', 'gone')] },
      says('gone', 'Gone'),
      ends(),
    ]
    const draft = draftWithNodes(nodes, { components: [{ component_id: 'c', nodes }] })
    const { flow: left } = after(draft, { type: 'flow.node.remove', ...at('gone') })
    expect(left.nodes.map(node => node.id)).toEqual(['a', 's', 't', 'c', 'end'])
    expect(JSON.stringify(left.nodes)).not.toContain('"gone"')
    expect(JSON.stringify(left.nodes).match(/"destination_node_id":null/g)).toHaveLength(8)
    expect(left.components).toEqual(draft.flow.components)
    const inside = after(draft, { type: 'flow.node.remove', ...at('gone', 'c') })
    expect(JSON.stringify(inside.flow.components)).not.toContain('"gone"')
    expect(inside.flow.nodes).toEqual(draft.flow.nodes)
  })

  it('removing the start node leaves start_node_id for validation to report', () => {
    expect(after(hello(), { type: 'flow.node.remove', ...at('hi') }).flow.start_node_id).toBe('hi')
  })

  it('removing a duplicate node id removes the last node with it', () => {
    const draft = draftWithNodes([says('x', 'First', { edges: [when('e', 'x')] }), says('x', 'Last')])
    const once = after(draft, { type: 'flow.node.remove', ...at('x') })
    expect(once.flow.nodes).toEqual([draft.flow.nodes[0]])
  })

  it('an edit changes the instruction of a node', () => {
    const edit = { type: 'node.instruction' as const, instruction: promptText('Wave') }
    const draft = draftWithNodes([
      says('hi', 'Hello.'),
      ends(),
      { id: 's', type: 'sms', instruction: promptText('Hi') },
      { id: 'b', type: 'branch', edges: [if_('e', 'end', 'n exists')] },
    ])
    for (const [index, id] of ['hi', 'end', 's'].entries())
      expect(after(draft, { ...edit, ...at(id) }).flow.nodes[index]).toMatchObject({ instruction: promptText('Wave') })
    expect(refusal(draft, { ...edit, ...at('b') })).toBe('edit_not_applicable /edits/0/node_id')
  })

  it('an edit of an unknown node or component is refused with the path of the edit', () => {
    expect(refusal(hello(), { type: 'flow.prompt', text: '' }, { type: 'flow.node.remove', ...at('x') })).toBe(
      'edit_not_applicable /edits/1/node_id',
    )
    for (const edit of [
      { type: 'flow.node.put', component_id: 'x', node: ends() },
      { type: 'flow.node.remove', ...at('hi', 'x') },
      { type: 'node.instruction', ...at('hi', 'x'), instruction: promptText('') },
      { type: 'flow.edge.put', ...at('hi', 'x'), edge: when('e', 'end') },
      { type: 'flow.edge.remove', ...at('hi', 'x'), edge_id: 'bye' },
      { type: 'flow.start', ...at('hi', 'x') },
      { type: 'flow.component.remove', component_id: 'x' },
    ] satisfies Written[])
      expect(refusal(hello(), edit)).toBe('edit_not_applicable /edits/0/component_id')
  })

  it('a flow or component takes at most 500 nodes', () => {
    const nodes = Array.from({ length: DRAFT_LIMITS.nodes }, (_, n) => ends(`n${n}`))
    const draft = draftWithNodes(nodes, { components: [{ component_id: 'c', nodes }, { component_id: 'd' }] })
    for (const component_id of [null, 'c'])
      expect(refusal(draft, { type: 'flow.node.put', component_id, node: ends() })).toBe('limit_reached /edits/0/node')
    expect(refusal(draft, { type: 'flow.node.put', component_id: 'd', node: ends() })).toBe('applied')
    expect(refusal(draft, { type: 'flow.node.put', component_id: null, node: says('n7', 'Hi') })).toBe('applied')
  })
})

describe('edits of edges', () => {
  const put = (fields: object, id = 'x'): Written => ({
    type: 'flow.edge.put',
    ...at('hi'),
    edge: when(id, 'end'),
    ...fields,
  })
  const edgesAfter = (...written: Written[]) => {
    const node = after(hello(), ...written).flow.nodes[0]!
    return node.type === 'conversation' ? node : undefined
  }

  it('edges are added at the end or at an index, replaced in place and put into slots', () => {
    const ids = (...written: Written[]) => edgesAfter(...written)?.edges.map(edge => edge.id)
    expect(ids(put({}))).toEqual(['bye', 'x'])
    expect(ids(put({ index: 0 }), put({ index: 1 }, 'y'))).toEqual(['x', 'y', 'bye'])
    expect(ids(put({}), { ...put({ edge: when('bye', 'hi') }), index: 1 } as Written)).toEqual(['bye', 'x'])
    expect(edgesAfter(put({ slot: 'else_edge' }), put({ slot: 'else_edge' }, 'y'))?.else_edge?.id).toBe('y')
  })

  it('edges are removed from the list and from a slot', () => {
    const remove = (edge_id: string): Written => ({ type: 'flow.edge.remove', ...at('hi'), edge_id })
    expect(edgesAfter(remove('bye'))?.edges).toEqual([])
    expect(edgesAfter(put({ slot: 'always_edge' }), remove('x'))?.always_edge).toBeNull()
    expect(refusal(hello(), remove('x'))).toBe('edit_not_applicable /edits/0/edge_id')
  })

  it('an edge edit is refused for an unknown slot, for an id in another place and for an index beyond the end', () => {
    expect(refusal(hello(), put({ slot: 'success_edge' }))).toBe('edit_not_applicable /edits/0/slot')
    expect(refusal(hello(), { ...put({}), ...at('end') } as Written)).toBe('edit_not_applicable /edits/0/slot')
    expect(refusal(hello(), put({ slot: 'else_edge' }, 'bye'))).toBe('edit_not_applicable /edits/0/edge/id')
    expect(refusal(hello(), put({ index: 2 }))).toBe('edit_not_applicable /edits/0/index')
    expect(refusal(hello(), put({ slot: 'else_edge', index: 0 }))).toBe('edit_not_applicable /edits/0/index')
    expect(refusal(hello(), { ...put({}), ...at('nobody') } as Written)).toBe('edit_not_applicable /edits/0/node_id')
  })

  it('an edge may have no destination or an unknown one', () => {
    const nowhere = { ...when('x', ''), destination_node_id: null }
    expect(edgesAfter(put({ edge: nowhere }), put({}, 'y'), put({ edge: when('z', 'nobody') }))?.edges).toHaveLength(4)
  })

  it('every edge of a branch can be removed', () => {
    const draft = draftWithNodes([
      { id: 'b', type: 'branch', edges: [if_('e', 'end', 'n exists')], else_edge: when('f', 'end') },
      ends(),
    ])
    const remove = (edge_id: string): Written => ({ type: 'flow.edge.remove', ...at('b'), edge_id })
    expect(refusal(draft, remove('e'))).toBe('applied')
    expect(refusal(draft, remove('f'))).toBe('applied')
  })

  it('a node takes at most 100 edges in its list, and its slots can still be filled', () => {
    const edges = Array.from({ length: DRAFT_LIMITS.edges }, (_, n) => when(`e${n}`, 'end'))
    const draft = draftWithNodes([says('hi', 'Hello.', { edges }), ends()])
    expect(refusal(draft, put({}))).toBe('limit_reached /edits/0/edge')
    expect(refusal(draft, put({ slot: 'else_edge' }), put({}, 'e3'))).toBe('applied')
  })
})

describe('edits of the flow', () => {
  it('edits set the prompt, the start node and the start speaker of the flow', () => {
    const draft = after(
      hello(),
      { type: 'flow.prompt', text: 'Be kind.' },
      { type: 'flow.start', ...at('end'), start_speaker: 'user', begin_after_user_silence_ms: 500 },
    )
    expect(draft.flow).toMatchObject({
      global_prompt: 'Be kind.',
      start_node_id: 'end',
      start_speaker: 'user',
      begin_after_user_silence_ms: 500,
    })
    expect(after(draft, { type: 'flow.start', component_id: null, node_id: null }).flow).toMatchObject({
      start_node_id: null,
      start_speaker: 'user',
      begin_after_user_silence_ms: 500,
    })
  })

  it('components are put and removed, and their start node is set', () => {
    const component = { component_id: 'c', nodes: [ends()] }
    const draft = after(
      hello(),
      { type: 'flow.component.put', component },
      { type: 'flow.component.put', component: { component_id: 'd' } },
      { type: 'flow.start', ...at('end', 'c') },
    )
    expect(draft.flow.components.map(held => [held.component_id, held.start_node_id])).toEqual([
      ['c', 'end'],
      ['d', null],
    ])
    expect(after(draft, { type: 'flow.component.put', component }).flow.components[0]?.start_node_id).toBeNull()
    expect(after(draft, { type: 'flow.component.remove', component_id: 'c' }).flow.components).toHaveLength(1)
    const who = { type: 'flow.start' as const, ...at('end', 'c'), start_speaker: 'user' as const }
    expect(applyEdits(draft, [who])).toMatchObject({ ok: false, issues: [{ path: '/edits/0/start_speaker' }] })
  })

  it('a flow takes at most 50 components', () => {
    const components = Array.from({ length: DRAFT_LIMITS.components }, (_, n) => ({ component_id: `c${n}` }))
    const draft = draftWithNodes([ends()], { components })
    expect(refusal(draft, { type: 'flow.component.put', component: { component_id: 'x' } })).toBe(
      'limit_reached /edits/0/component',
    )
    expect(refusal(draft, { type: 'flow.component.put', component: { component_id: 'c3' } })).toBe('applied')
  })

  it('edits set and clear default variables', () => {
    const draft = draftWithNodes([ends()], { default_dynamic_variables: { a: '1', b: '2' } })
    const edited = after(draft, { type: 'flow.variables', values: { b: '3', constructor: 'x' }, clear: ['a', 'unset'] })
    expect(edited.flow.default_dynamic_variables).toEqual({ b: '3', constructor: 'x' })
    const twice = { type: 'flow.variables' as const, values: { a: '' }, clear: ['a'] }
    expect(applyEdits(draft, [twice])).toMatchObject({
      reason: 'edit_not_applicable',
      issues: [{ path: '/edits/0/clear' }],
    })
  })
})
