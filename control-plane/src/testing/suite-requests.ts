import { EXAMPLES } from '@parley/contract/testing'
import { exampleBody, publishedAgent, type World } from './request-world.ts'

export const SUITE_BODY = EXAMPLES['test_suites.create'].body

/** A case of a test suite with one scripted step. */
export const [SUITE_CASE] = SUITE_BODY.cases

/** A suite without a source; its id. */
export async function newSuite(world: World): Promise<string> {
  const { source: _, ...body } = SUITE_BODY
  return String((await world.call('test_suites.create', { body })).suite_id)
}

/** The body of a test run of a new agent. */
export async function testRunBody(world: World) {
  const { agent_id } = await publishedAgent(world, 'cloud_chat')
  return exampleBody('test_runs.estimate', { agent_id, suite_ids: [await newSuite(world)] })
}

/** A test run that waits to start; its id. */
export async function newTestRun(world: World): Promise<string> {
  return String((await world.call('test_runs.create', { body: await testRunBody(world) })).test_run_id)
}

/** A trial that waits for a process. */
export async function newTrial(world: World) {
  const test_run_id = await newTestRun(world)
  await world.startTestRuns()
  const { items } = await world.call('test_runs.results', { params: { test_run_id }, query: {} })
  return { test_run_id, trial_id: String(items[0].trials[0].trial_id) }
}
