import type { World } from './valid-requests.ts'

/** A case of a test suite with one scripted step. */
export const SUITE_CASE = {
  case_id: 'books',
  name: 'A caller books a visit',
  language: 'en',
  caller: { kind: 'script', steps: [{ says: 'A visit on Monday, please.' }] },
  assertions: [{ type: 'outcome', id: 'ends', kinds: ['completed', 'caller_hung_up'] }],
} as const

export const SUITE_BODY = {
  name: 'Mornings',
  agent_id: 'ada',
  cases: [SUITE_CASE],
  source: { kind: 'selector', window_days: 7, limit: 5 },
} as const

/** A suite without a source; its id. */
export async function newSuite(world: World): Promise<string> {
  const { source: _, ...body } = SUITE_BODY
  return String((await world.call('test_suites.create', { body })).suite_id)
}
