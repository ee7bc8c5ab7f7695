import { expect, it } from 'vitest'
import { pathOf, type Route, routeOf } from './routes.ts'

const ROUTES: readonly Route[] = [
  { page: 'runs' },
  { page: 'live' },
  { page: 'usage' },
  { page: 'run', runId: '7a1b' },
  { page: 'agent', agentId: 'clinic', tab: 'flow' },
  { page: 'agent', agentId: 'a/b:c.d é', tab: 'chat' },
  { page: 'trunk', trunkId: 'demo-phone' },
  { page: 'test-run', testRunId: '7a1b' },
  { page: 'suite', suiteId: '7a1b' },
]

it('the path of a route leads back to that route', () => {
  for (const route of ROUTES) expect(routeOf(pathOf(route))).toEqual(route)
})

it('the address of the console itself shows the runs', () => {
  expect(routeOf('/console')).toEqual({ page: 'runs' })
  expect(routeOf('/console/')).toEqual({ page: 'runs' })
})

it.each([
  '/console/nothing',
  '/console/keys/1',
  '/console/agents/a/nothing',
  '/console/runs/a/b',
  '/console/runs/a/b/c',
])('the unknown path %s leads to the page for unknown addresses', path =>
  expect(routeOf(path)).toEqual({ page: 'not-found' }),
)

it('a path that cannot be decoded is taken as it is', () => {
  expect(routeOf('/console/runs/%zz')).toEqual({ page: 'run', runId: '%zz' })
})
