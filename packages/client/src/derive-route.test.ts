import { operations } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { deriveRoute } from './derive-route.ts'

describe('what a client goes by', () => {
  const routes = operations.map(deriveRoute)
  const routeOf = (id: string) => routes.find(route => route.id === id)!

  it('knows the rows of every list that takes a cursor', () => {
    const lists = operations.filter(({ query }) => query !== null && 'cursor' in query.shape)
    expect(lists.length).toBeGreaterThan(5)
    for (const { id } of lists)
      expect([id, routeOf(id).rows]).toEqual([id, expect.stringMatching(/^(items|agents|rows)$/)])
  })

  it('repeats nothing that would do more when done twice', () => {
    for (const { id, method, idempotency, hints } of operations)
      if (!routeOf(id).repeatable)
        expect([id, method, idempotency, hints.readOnly]).toEqual([id, 'POST', 'none', false])
    expect(routeOf('drafts.validate').repeatable).toBe(true)
    expect(routeOf('agents.create')).toMatchObject({ keyed: true, repeatable: true })
  })
})
