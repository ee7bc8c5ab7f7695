import type { Json } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { exportFile, importOf, modelOf, secrets } from './fixtures/exports.ts'
import { importExport } from './import-export.ts'
import { inspectExport } from './inspect-export.ts'
import { Names } from './names.ts'

const { agent, flow } = exportFile('minimal-export')
const minimal = importOf({ agent, flow })
const list = <Item>(count: number, item: (index: number) => Item) => Array.from({ length: count }, (_, n) => item(n))
const refused = (body: typeof minimal) => {
  const result = importExport(body, secrets)
  return result.ok ? null : result.refusal
}

describe('an export beyond the size limits', () => {
  it('an import names the list that is too long, and inspection reports the same', () => {
    const withList = (count: number) => ({ ...agent, boosted_keywords: list(count, n => `word ${n}`) })
    const message = 'more than 10000 items: leave out what is not used'
    expect(refused({ ...minimal, agent: withList(10_001) })).toMatchObject({
      code: 'invalid_request',
      details: { issues: [{ path: '/agent/boosted_keywords', message }] },
    })
    expect(inspectExport({ agent: withList(10_001), flow }).diagnostics).toEqual([
      { code: 'invalid_request', severity: 'error', path: '/agent/boosted_keywords', message },
    ])
    expect(refused({ ...minimal, agent: withList(10_000) })).toBeNull()
  })

  it('an import names the part that exceeds the limit on values', () => {
    const lists = (count: number): Json => list(count, () => list(9_999, () => 0))
    expect(refused({ ...minimal, flow: { ...flow, notes: lists(51) } })).toMatchObject({
      details: { issues: [{ path: '/flow', message: expect.stringContaining('more than 500000 values') }] },
    })
    expect(refused({ ...minimal, flow: { ...flow, notes: lists(40) } })).toBeNull()
  })

  it('an import reports a bounded number of problems', () => {
    const bindings = Object.fromEntries(list(5000, n => [`/flow/nodes/${n}/x`, modelOf('own-large')]))
    const found = refused({ ...minimal, model_bindings: bindings })
    expect(found?.details).toHaveProperty('issues.length', 100)
    const nodes = list(1500, n => ({ id: `n${n}`, type: 'end', model_choice: 'their-model' }))
    const components = list(3, n => ({ component_id: `c${n}`, nodes: nodes.slice(500 * n, 500 * n + 500) }))
    const unbound = refused({ ...minimal, flow: { ...flow, components } })
    expect(unbound?.details).toHaveProperty('diagnostics.length', 1000)
    const inspected = inspectExport({ agent, flow: { ...flow, components } })
    expect(inspected.model_bindings).toHaveLength(1500)
    expect(inspected.diagnostics.filter(({ code }) => code === 'model_binding_required')).toHaveLength(1000)
  })
})

describe('duplicate names', () => {
  it('many duplicate names are made unique in linear time', () => {
    let lookups = 0
    class Counted extends Names {
      override take(name: string): boolean {
        lookups++
        return super.take(name)
      }
    }
    const names = new Counted()
    const given = list(2000, n => names.invent(`${'z'.repeat(70)}${n}`, 63))
    expect(new Set(given).size).toBe(2000)
    expect(Math.max(...given.map(name => name.length))).toBe(63)
    expect(lookups).toBeLessThan(3 * 2000)
  })
})
