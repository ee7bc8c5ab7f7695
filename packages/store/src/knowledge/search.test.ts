import { afterAll, beforeAll, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { insertDocument } from './documents.ts'
import { settleEmbedding, storeChunks, takeDueDocuments } from './embedding-work.ts'
import { beginGeneration, writeEmbeddingModel } from './generations.ts'
import { chunksByWords, vectorsAfter } from './search.ts'

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

/** Words of 4,500 chunks: all but "spout" are in more chunks than are rated one by one. */
const FREQUENT = Array.from({ length: 4500 }, (_, index) => [
  'kettle',
  ...(index % 4 === 0 ? [] : ['lime']),
  ...(index < 2250 ? ['steam'] : []),
  ...(index >= 2240 ? ['pump'] : []),
  ...(index % 1000 === 1 ? ['spout'] : []),
])

/** Scores of the best chunks for a query, where every chunk with its rarest word is rated. */
function bestScores(words: readonly string[], atMost: number): string[] {
  const counts = new Map(words.map(word => [word, FREQUENT.filter(has => has.includes(word)).length]))
  const rarest = [...counts].toSorted(([, one], [, other]) => one - other)[0]![0]
  const weight = (word: string) => Math.log(1 + (FREQUENT.length - counts.get(word)!) / (counts.get(word)! + 0.5))
  return FREQUENT.filter(has => has.includes(rarest))
    .map(has => words.filter(word => has.includes(word)).reduce((sum, word) => sum + weight(word), 0))
    .toSorted((one, other) => other - one)
    .slice(0, atMost)
    .map(score => score.toFixed(9))
}

it('a search for frequent words finds the chunks that a rating of all of them finds, and reads few', async () => {
  const scope = await test.scope()
  const { database, owner } = test
  await database.transaction(scope, async tx => {
    await writeEmbeddingModel(tx, scope, { provider: 'test', model_id: 'one', tier: 'platform-served' })
    const content = Buffer.from('Text')
    const made = await insertDocument(tx, scope, { title: 'K', media_type: 'text/plain', source_url: null, content })
    if (typeof made === 'string') throw new Error(made)
    const chunks = FREQUENT.map(words => ({ text: words.join(' '), language: 'simple' as const }))
    await storeChunks(tx, scope, made.document_id, chunks)
  })
  const found = async (words: readonly string[], atMost: number) =>
    (await chunksByWords(database.within(scope), words.join(' '), null, atMost)).map(({ score }) => score.toFixed(9))
  const rows = async (words: readonly string[]) => {
    const results = await owner.query(
      `begin; select set_config('parley.tenant', '${scope.tenant_id}', true);
       select from parley.search_words('${words.join(' ')}', null, 50);
       select idx_tup_fetch::integer as read from pg_stat_xact_user_tables where relname = 'knowledge_chunks'; rollback`,
    )
    return (results as unknown as { rows: { read: number }[] }[])[3]!.rows[0]!.read
  }
  const together = [['kettle'], ['kettle', 'lime'], ['steam', 'pump']]
  for (const words of [...together, ['kettle', 'steam', 'pump'], ['lime', 'spout']])
    for (const atMost of [1, 50, 200])
      expect(await found(words, atMost), words.join()).toEqual(bestScores(words, atMost))
  for (const words of together) expect(await rows(words), words.join()).toBeLessThanOrEqual(200)
})
