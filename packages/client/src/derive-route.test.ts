import { operations } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { deriveRoute } from './derive-route.ts'

describe('routes of a client', () => {
  const routes = operations.map(deriveRoute)
  const routeOf = (id: string) => routes.find(route => route.id === id)!

  it('every list with a cursor has the member that contains its rows', () => {
    const lists = operations.filter(({ query }) => query !== null && 'cursor' in query.shape)
    expect(lists.length).toBeGreaterThan(5)
    for (const { id } of lists)
      expect([id, routeOf(id).rows]).toEqual([id, expect.stringMatching(/^(items|agents|rows)$/)])
  })

  it('only operations that are safe to repeat are repeatable', () => {
    for (const { id, method, idempotency, hints } of operations)
      if (!routeOf(id).repeatable)
        expect([id, method, idempotency, hints.readOnly]).toEqual([id, 'POST', 'none', false])
    expect(routeOf('drafts.validate').repeatable).toBe(true)
    expect(routeOf('agents.create')).toMatchObject({ keyed: true, repeatable: true })
  })
})
