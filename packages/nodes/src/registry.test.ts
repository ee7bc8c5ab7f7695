import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { action, actionKindNamed, actionKindOf, actionKindOfTool, node, nodeTypeNamed, nodeTypeOf } from './registry.ts'

const FOLDER = new URL('./types/', import.meta.url)
const files = readdirSync(FOLDER).filter(name => !name.endsWith('.test.ts'))
const types = node.options.flatMap(option => [...option.shape.type.values])
const kinds = action.options.flatMap(option => [...option.shape.kind.values])

interface Exported {
  readonly type?: unknown
  readonly kind?: unknown
  readonly schema?: unknown
}

describe('the registry of node types', () => {
  it.each(files)('what types/%s defines is in the registry', async file => {
    const exported: object = await import(new URL(file, FOLDER).href)
    const definitions = Object.values(exported).filter((value: Exported) => value?.schema !== undefined)
    expect(definitions).toHaveLength(1)
    for (const found of definitions as Exported[])
      expect(found.kind === undefined ? nodeTypeNamed(found.type) : actionKindNamed(found.kind)).toBe(found)
  })

  it('the registry finds every node type that the node schema accepts, each once', () => {
    expect(new Set(types).size).toBe(types.length)
    expect(types.map(type => nodeTypeOf({ type }).type)).toEqual(types)
    expect(types.map(type => nodeTypeNamed(type))).toEqual(types.map(type => nodeTypeOf({ type })))
  })

  it.each(['', 'constructor', 7, null, undefined])('the registry finds no node type for %j', type => {
    expect(nodeTypeNamed(type)).toBeUndefined()
  })

  it('a node of an unknown type is refused', () =>
    expect(node.safeParse({ id: 'n', type: 'oracle' }).success).toBe(false))
})

describe('the registry of action kinds', () => {
  it('the registry finds every action kind that the action schema accepts, by its name and by its tool type in an export', () => {
    expect(new Set(kinds).size).toBe(kinds.length)
    expect(kinds.map(kind => actionKindOf({ kind }).kind)).toEqual(kinds)
    expect(kinds.map(kind => actionKindOfTool(actionKindOf({ kind }).exportType)?.kind)).toEqual(kinds)
  })

  it('an action kind with the name of a node type is defined by that node type', () => {
    for (const kind of kinds.filter(name => nodeTypeNamed(name) !== undefined))
      expect(nodeTypeNamed(kind)).toMatchObject({ action: actionKindNamed(kind) })
    expect(kinds.filter(name => nodeTypeNamed(name) !== undefined)).toHaveLength(6)
  })

  it('the registry finds no action kind for an unsupported tool type of an export', () => {
    expect(actionKindOfTool('book_appointment_cal')).toBeUndefined()
  })

  it('an action of an unknown kind is refused', () =>
    expect(action.safeParse({ action_id: 'a', name: 'a', kind: 'shell' }).success).toBe(false))
})
