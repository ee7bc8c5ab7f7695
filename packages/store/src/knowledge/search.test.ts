import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { insertDocument } from './documents.ts'
import { settleEmbedding, takeDueDocuments } from './embedding-work.ts'
import { beginGeneration, writeEmbeddingModel } from './generations.ts'
import { vectorsAfter } from './search.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

it('pages of vectors have every document of a generation, in the order in which they joined', async () => {
  const scope = await test.scope()
  const { database } = test
  await database.transaction(scope, async tx => {
    await writeEmbeddingModel(tx, scope, { provider: 'test', model_id: 'one', tier: 'platform-served' })
    for (let number = 0; number < 25; number++) {
      const content = Buffer.from(`Text ${number}`)
      await insertDocument(tx, scope, { title: `${number}`, media_type: 'text/plain', source_url: null, content })
    }
  })
  const generation = (await database.transaction(scope, tx => beginGeneration(tx, scope)))!
  const joined: string[] = []
  await database.transaction(scope, async tx => {
    for (const due of await takeDueDocuments(tx, scope, { leaseMs: 60_000, atMost: 25, tries: 3 })) {
      expect(await settleEmbedding(tx, due, { kind: 'embedded', vectors: [Float32Array.of(1)] })).toBe('settled')
      joined.push(due.document_id)
    }
  })
  const read: string[] = []
  for (let after = '0'; ; ) {
    const page = await vectorsAfter(database.within(scope), scope, generation, after, 10)
    read.push(...page.map(row => row.document_id))
    if (page.length === 0) break
    after = page.at(-1)!.joined
  }
  expect(read).toEqual(joined)
})
