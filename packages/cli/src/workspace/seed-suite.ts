import type { ParleyClient, RequestTo } from '@parley/client'
import { type ExampleName, exampleSuite } from '@parley/examples'
import { readSeedRecord, writeSeedRecord } from './seed-record.ts'

/** Creates the test suite of an example once. One that a user has changed or deleted stays so. */
export async function ensureSuite(
  home: string,
  client: ParleyClient,
  example: ExampleName,
  agentId: string,
): Promise<void> {
  if ((await readSeedRecord(home)).suites[agentId] !== undefined) return
  const body = { ...exampleSuite(example), agent_id: agentId } as RequestTo<'test_suites.create'>['body']
  const { items } = await client.testSuites.list({ query: { agent_id: agentId, limit: 200 } })
  // An earlier start was interrupted before it recorded the suite.
  const found = items.find(({ name }) => name === body.name)
  const { suite_id } = found ?? (await client.testSuites.create({ body }))
  const record = await readSeedRecord(home)
  await writeSeedRecord(home, { ...record, suites: { ...record.suites, [agentId]: suite_id } })
}
