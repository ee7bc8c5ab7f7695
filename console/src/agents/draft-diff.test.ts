import { expect, it } from 'vitest'
import { differences, shownValue } from './draft-diff.ts'

it('nodes are compared by their ids, whatever their order', () => {
  const before = {
    flow: {
      nodes: [
        { id: 'a', text: '1' },
        { id: 'b', text: '2' },
      ],
    },
  }
  const after = { flow: { nodes: [{ id: 'b', text: '2' }, { id: 'c' }, { id: 'a', text: 'one' }] } }
  expect(differences(before, after)).toEqual([
    { path: ['flow', 'nodes', 'a', 'text'], before: '1', after: 'one' },
    { path: ['flow', 'nodes', 'c'], before: undefined, after: { id: 'c' } },
  ])
  expect(differences(after, before).map(({ path }) => path.join('/'))).toEqual(['flow/nodes/c', 'flow/nodes/a/text'])
})

it('lists without ids are compared as a whole', () => {
  expect(differences({ words: ['a', 'b'] }, { words: ['a', 'b'] })).toEqual([])
  expect(differences({ words: ['a', 'b'] }, { words: ['a', 'c'] })).toEqual([
    { path: ['words'], before: ['a', 'b'], after: ['a', 'c'] },
  ])
  expect(differences([{ id: 'a' }, { id: 'a' }], [{ id: 'a' }])).toHaveLength(1)
})

it('a value that becomes null, or another type, is a difference', () => {
  expect(differences({ a: { b: 1 } }, { a: null })).toEqual([{ path: ['a'], before: { b: 1 }, after: null }])
  expect(differences({ a: 1 }, { a: 1 })).toEqual([])
})

it('text is shown as it is, everything else as JSON', () => {
  expect([shownValue('<b>'), shownValue(3), shownValue(null)]).toEqual(['<b>', '3', 'null'])
})
