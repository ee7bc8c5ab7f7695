import { expect, it } from 'vitest'
import { placeOf, problemsByNode } from './diagnostics.ts'
import type { DraftContent } from './flow-graph.ts'

const draft = {
  flow: {
    nodes: [{ id: 'welcome' }, { id: 'bye' }],
    components: [{ component_id: 'booking', nodes: [{ id: 'ask' }] }],
  },
} as unknown as DraftContent

it('the pointer of a diagnostic leads to its node, also within a component', () => {
  expect(placeOf('/flow/nodes/1/edges/0', draft)).toEqual({ componentId: null, nodeId: 'bye' })
  expect(placeOf('/flow/components/0/nodes/0', draft)).toEqual({ componentId: 'booking', nodeId: 'ask' })
})

it.each(['', '/settings/voiceId', '/flow/nodes/9', '/flow/components/4/nodes/0', '/flow/start_node_id'])(
  'the pointer "%s" leads to no node',
  path => expect(placeOf(path, draft)).toBeNull(),
)

it('errors and warnings are counted by node', () => {
  const at = (path: string, severity: 'error' | 'warning') => ({ code: 'x', path, message: '', severity })
  const found = problemsByNode(
    [
      at('/flow/nodes/0', 'error'),
      at('/flow/nodes/0/edges/1', 'warning'),
      at('/name', 'error'),
      at('/flow/components/0/nodes/0', 'error'),
    ],
    draft,
    null,
  )
  expect([...found]).toEqual([['welcome', { errors: 1, warnings: 1 }]])
})
