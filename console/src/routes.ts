/** The address of a page, below `/console`. */
export type Route =
  | { readonly page: 'runs' | 'live' | 'agents' | 'evaluation' | Operation }
  | { readonly page: 'run'; readonly runId: string }
  | { readonly page: 'agent'; readonly agentId: string; readonly tab: AgentTab }
  | { readonly page: 'trunk'; readonly trunkId: string }
  | { readonly page: 'test-run'; readonly testRunId: string }
  | { readonly page: 'suite'; readonly suiteId: string }
  | { readonly page: 'not-found' }

export const AGENT_TABS = ['flow', 'chat', 'services', 'versions', 'settings'] as const
export type AgentTab = (typeof AGENT_TABS)[number]

export const OPERATIONS = [
  'telephony',
  'usage',
  'alerts',
  'knowledge',
  'keys',
  'provider-keys',
  'secrets',
  'team',
  'audit',
  'workspace',
] as const
type Operation = (typeof OPERATIONS)[number]

const BASE = '/console'
/** Below `/console/evaluation`; no id of a test run. */
const SUITES = 'suites'

/** The route of a path such as `/console/runs/ID`. An unknown path is `not-found`; the base itself is the list of runs. */
export function routeOf(path: string): Route {
  const [first, second, third, ...rest] = path
    .slice(BASE.length)
    .split('/')
    .filter(part => part !== '')
    .map(decoded)
  if (first === undefined) return { page: 'runs' }
  if (rest.length > 0) return { page: 'not-found' }
  if (second === undefined) return listOf(first)
  if (first === 'agents') {
    const tab = AGENT_TABS.find(name => name === (third ?? 'flow'))
    return tab === undefined ? { page: 'not-found' } : { page: 'agent', agentId: second, tab }
  }
  if (first === 'evaluation' && second === SUITES && third !== undefined) return { page: 'suite', suiteId: third }
  if (third !== undefined) return { page: 'not-found' }
  if (first === 'runs') return { page: 'run', runId: second }
  if (first === 'telephony') return { page: 'trunk', trunkId: second }
  if (first === 'evaluation') return { page: 'test-run', testRunId: second }
  return { page: 'not-found' }
}

function listOf(name: string): Route {
  const page = (['runs', 'live', 'agents', 'evaluation', ...OPERATIONS] as const).find(known => known === name)
  return { page: page ?? 'not-found' }
}

/** The path of a route. */
export function pathOf(route: Route): string {
  switch (route.page) {
    case 'run':
      return `${BASE}/runs/${encodeURIComponent(route.runId)}`
    case 'agent':
      return `${BASE}/agents/${encodeURIComponent(route.agentId)}${route.tab === 'flow' ? '' : `/${route.tab}`}`
    case 'trunk':
      return `${BASE}/telephony/${encodeURIComponent(route.trunkId)}`
    case 'test-run':
      return `${BASE}/evaluation/${encodeURIComponent(route.testRunId)}`
    case 'suite':
      return `${BASE}/evaluation/${SUITES}/${encodeURIComponent(route.suiteId)}`
    case 'not-found':
      return BASE
    default:
      return `${BASE}/${route.page}`
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
