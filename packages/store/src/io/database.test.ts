import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

describe('the database of one tenant', () => {
  it('gives back what a transaction wrote, to this tenant alone', async () => {
    const [ours, theirs] = [await test.scope(), await test.scope()]
    await test.database.transaction(ours, async tx => {
      await tx.insertInto('agents').values({ agent_id: 'a', name: 'A' }).execute()
    })
    expect(await test.database.within(ours).selectFrom('agents').select('agent_id').execute()).toEqual([
      { agent_id: 'a' },
    ])
    expect(await test.database.within(theirs).selectFrom('agents').select('agent_id').execute()).toEqual([])
  })
})
