import { describe, expect, it } from 'vitest'
import { branch } from './branch.ts'

describe('a branch in an export', () => {
  it('an exported branch that has an edge is read unchanged', () => {
    const source = { type: 'branch', edges: [{ id: 'e' }] }
    expect(branch.importNode?.(source)).toEqual({ node: source, warnings: [] })
  })

  it.each([[[]], [null], [['x']]])(
    'an exported branch with the edges %j gets an edge to the destination of its else edge, with a warning',
    edges => {
      const read = branch.importNode?.({
        type: 'branch',
        edges,
        else_edge: { id: 'else', destination_node_id: 'next' },
      })
      expect(read?.node.edges).toMatchObject([{ id: 'added-else', destination_node_id: 'next' }])
      expect(read?.warnings).toMatchObject([{ field: 'edges' }])
    },
  )
})
