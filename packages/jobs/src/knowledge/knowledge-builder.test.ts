import type { Scope } from '@parley/contract'
import { systemTime } from '@parley/kernel'
import { DocumentReader, KnowledgeSearch } from '@parley/knowledge'
import type { TextEmbedder } from '@parley/providers'
import {
  beginGeneration,
  deleteDocument,
  expireDocuments,
  insertDocument,
  knowledgeStatus,
  listDocuments,
  type Queries,
  writeEmbeddingModel,
} from '@parley/store'
import { type TestDatabase, testDatabase, testDatabaseWithVectors } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { JobCounters } from '../metrics.ts'
import { MemoryEnvironmentQueue } from '../testing/memory-environment-queue.ts'
import { KnowledgeBuilder } from './knowledge-builder.ts'

const MODEL = { provider: 'test', model_id: 'letters', tier: 'platform-served' } as const
const never = new AbortController().signal

/** Counts letters: texts of the same letters are close. Vectors have a length for which pgvector has an index. */
class LetterEmbedder implements TextEmbedder {
  readonly id = 'test/letters'
  readonly dimensions = 256
  /** Errors of the next requests. */
  readonly failures: Error[] = []
  readiness = async () => null
  close = async () => {}
  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    const failure = this.failures.shift()
    if (failure !== undefined) throw failure
    return texts.map(text => {
      const vector = new Float32Array(256)
      for (const letter of text.toLowerCase()) {
        const index = letter.charCodeAt(0) - 97
        if (index >= 0 && index < 26) vector[index]!++
      }
      return vector
    })
  }
}

let test: TestDatabase
let scope: Scope
let embedder: LetterEmbedder
let search: KnowledgeSearch
const reader = new DocumentReader()
const searches: KnowledgeSearch[] = []

const within = <Result>(work: (tx: Queries) => Promise<Result>) => test.database.transaction(scope, work)
const add = async (title: string, text: string, media_type = 'text/markdown') => {
  const made = await within(tx =>
    insertDocument(tx, scope, { title, media_type, source_url: null, content: Buffer.from(text) }),
  )
  if (made === 'limit_reached') throw new Error('too many documents')
  return made.document_id
}
const builder = () =>
  new KnowledgeBuilder({
    database: test.database,
    queue: new MemoryEnvironmentQueue(),
    embedders: () => embedder,
    reader,
    time: systemTime,
    log: (what, error) => {
      throw new Error(what, { cause: error })
    },
    counters: new JobCounters(),
    embeddingRetryAfterMs: [0, 0],
  })
const build = () => builder().round(scope)
const reembed = async () => {
  await within(tx => writeEmbeddingModel(tx, scope, MODEL))
  return within(tx => beginGeneration(tx, scope))
}
const find = async (query: string, options: { topK?: number; documentIds?: string[]; minScore?: number } = {}) => {
  const { items } = await search.search(
    scope,
    { query, topK: options.topK ?? 3, minScore: options.minScore ?? 0, documentIds: options.documentIds ?? null },
    never,
  )
  return items
}
const status = () => knowledgeStatus(test.database.within(scope), scope)
const stateOf = async (id: string) => {
  const { rows } = await listDocuments(test.database.within(scope), scope, { cursor: null, limit: 100 })
  return rows.find(row => row.document_id === id)!
}

let plain: TestDatabase
let withVectors: TestDatabase
beforeAll(async () => {
  plain = await testDatabase()
  withVectors = await testDatabaseWithVectors()
})
afterAll(async () => {
  await reader.close()
  await plain?.close()
  await withVectors?.close()
})

/** What compares the vectors. */
const COMPARISONS = [
  { by: 'a scan in memory', on: () => plain, exactChunks: undefined },
  { by: 'pgvector, one by one', on: () => withVectors, exactChunks: undefined },
  { by: 'an index of pgvector', on: () => withVectors, exactChunks: 0 },
]

describe.each(COMPARISONS)('a generation of documents, compared by $by', ({ on, exactChunks }) => {
  beforeAll(() => {
    test = on()
  })
  afterAll(async () => {
    await Promise.all(searches.splice(0).map(one => one.close()))
  })
  beforeEach(async () => {
    scope = await test.scope()
    embedder = new LetterEmbedder()
    search = new KnowledgeSearch({ database: test.database, embedders: () => embedder, exactChunks })
    searches.push(search)
  })

  it('documents are read, embedded and found by their words and their meaning', async () => {
    const parking = await add('Parking', '# Parking\n\nParking is free for patients after six.')
    await add('Opening hours', 'The clinic opens at nine and closes at five.')
    expect(await status()).toMatchObject({ model: null, generation_id: null, pending: 2 })
    await reembed()
    expect(await status()).toMatchObject({ generation_state: 'building', embedded: 0, pending: 2 })
    await build()
    expect(await status()).toMatchObject({ generation_state: 'ready', embedded: 2, pending: 0, dimension: 256 })
    const [first] = await find('Where can patients park?')
    expect(first).toMatchObject({ document_id: parking, title: 'Parking', chunk_index: 0 })
    expect(first!.text).toBe('Parking > Parking\nParking is free for patients after six.')
    expect(first!.score).toBeGreaterThan(0.5)
    expect(await stateOf(parking)).toMatchObject({ state: 'embedded', chunk_count: 1, error: null })
  })

  it('a generation without documents is ready at once', async () => {
    await reembed()
    expect(await status()).toMatchObject({ generation_state: 'ready', embedded: 0, pending: 0 })
    expect(await find('anything')).toEqual([])
  })

  it('a new document joins the ready generation and is found by the next search', async () => {
    await reembed()
    expect(await find('zebra')).toEqual([])
    const id = await add('Animals', 'A zebra lives behind the clinic.')
    expect(await status()).toMatchObject({ generation_state: 'ready', pending: 1 })
    await build()
    expect((await find('zebra')).map(item => item.document_id)).toEqual([id])
  })

  it('a deleted document leaves the search at once, with its words', async () => {
    const id = await add('Animals', 'A zebra lives behind the clinic.')
    await add('Opening hours', 'The clinic opens at nine.')
    await reembed()
    await build()
    expect(await find('zebra')).toHaveLength(2)
    await within(tx => deleteDocument(tx, scope, id))
    expect((await find('zebra')).map(item => item.title)).toEqual(['Opening hours'])
    const { rows } = await test.owner.query(
      "select lexeme from parley.knowledge_lexemes where tenant_id = $1 and lexeme like '%:zebra'",
      [scope.tenant_id],
    )
    expect(rows).toEqual([])
    expect((await find('clinic')).map(item => item.title)).toEqual(['Opening hours'])
  })

  it('searches use the old generation until the new one is ready, and a re-embedding supersedes one that builds', async () => {
    await add('Opening hours', 'The clinic opens at nine.')
    await reembed()
    await build()
    const first = (await status()).generation_id
    const second = await reembed()
    const third = await reembed()
    expect(
      (await search.search(scope, { query: 'nine', topK: 1, minScore: 0, documentIds: null }, never)).generation_id,
    ).toBe(first)
    const { rows } = await test.owner.query('select state from parley.knowledge_generations where generation_id = $1', [
      second,
    ])
    expect(rows).toEqual([{ state: 'failed' }])
    await build()
    expect(await status()).toMatchObject({ generation_id: third, generation_state: 'ready' })
    const { rows: left } = await test.owner.query(
      'select generation_id from parley.knowledge_generations where tenant_id = $1',
      [scope.tenant_id],
    )
    expect(left).toEqual([{ generation_id: third }])
    expect(await find('nine')).toHaveLength(1)
  })

  it('a busy model is tried again, and a generation fails when the model never answers', async () => {
    await add('Opening hours', 'The clinic opens at nine.')
    embedder.failures.push(new Error('busy'), new Error('busy'))
    await reembed()
    await build()
    expect(await status()).toMatchObject({ generation_state: 'ready', embedded: 1 })
    embedder.failures.push(new Error('busy'), new Error('busy'), new Error('gone for good'))
    await reembed()
    await build()
    expect(await status()).toMatchObject({ generation_state: 'failed' })
    expect(await find('nine')).toHaveLength(1)
  })

  it('a document that cannot be read fails alone', async () => {
    const broken = await add('Scan', 'not a PDF at all', 'application/pdf')
    const fine = await add('Opening hours', 'The clinic opens at nine.')
    await reembed()
    await build()
    expect(await status()).toMatchObject({ generation_state: 'ready', embedded: 1, pending: 0 })
    expect(await stateOf(broken)).toMatchObject({ state: 'failed', chunk_count: null })
    expect((await stateOf(broken)).error).toContain('application/pdf content cannot be read')
    expect(await stateOf(fine)).toMatchObject({ state: 'embedded' })
  })

  it('a document of very many short sections is not embedded: each passage costs', async () => {
    const id = await add('Sections', '# a\nb\n'.repeat(20_001))
    await reembed()
    await build()
    expect((await stateOf(id)).error).toBe('The document has more than 20000 passages; split it.')
    expect(await status()).toMatchObject({ generation_state: 'ready', embedded: 0 })
  })

  it('a search of some documents finds passages of those only, and min_score leaves out unlike ones', async () => {
    const one = await add('One', 'Parking is free.')
    await add('Two', 'Parking costs money.')
    await reembed()
    await build()
    expect((await find('parking', { documentIds: [one] })).map(item => item.document_id)).toEqual([one])
    expect(await find('parking', { minScore: 0.99 })).toEqual([])
  })

  it('a generation that exceeds the memory is searched in the database, with the same result', async () => {
    const words = ['parking', 'hours', 'doctors', 'dogs', 'bills', 'visits', 'keys', 'taxis', 'lifts', 'quiet zones']
    for (const word of words) await add(word, `What there is to know of ${word}, such as ${word} on Sundays.`)
    await reembed()
    await build()
    const without = new KnowledgeSearch({ database: test.database, embedders: () => embedder, maxVectorMiB: 0.0001 })
    searches.push(without)
    // Passages that words rank alike have no order among them.
    const sorted = (items: Awaited<ReturnType<typeof find>>) =>
      items.toSorted((one, other) => other.score - one.score || (one.document_id < other.document_id ? -1 : 1))
    for (const query of ['Where is parking?', 'Dogs on Sundays', 'zzz']) {
      const inMemory = sorted(await find(query, { topK: 10 }))
      expect(inMemory).toHaveLength(10)
      const request = { query, topK: 10, minScore: 0, documentIds: null }
      // Twice: nothing of the first search is in memory.
      for (let round = 0; round < 2; round++)
        expect(sorted([...(await without.search(scope, request, never)).items])).toEqual(inMemory)
    }
  })

  it('documents that are deleted while searches run never fail one, and are found by none that begins later', async () => {
    const ids: string[] = []
    for (let index = 0; index < 12; index++) ids.push(await add(`Parking ${index}`, `Parking place ${index} is free.`))
    await reembed()
    await build()
    const deleted = new Set<string>()
    const faults: string[] = []
    let isOver = false
    const searching = async () => {
      while (!isOver) {
        const before = [...deleted]
        const found = await find('parking place', { topK: 20 })
        for (const { document_id } of found) if (before.includes(document_id)) faults.push(document_id)
      }
    }
    const searchers = [searching(), searching(), searching()]
    for (const id of ids) {
      await within(tx => deleteDocument(tx, scope, id))
      deleted.add(id)
    }
    isOver = true
    await Promise.all(searchers)
    expect(faults).toEqual([])
    expect(await find('parking place', { topK: 20 })).toEqual([])
  })

  it('documents past their retention are deleted', async () => {
    const old = await add('Old', 'Parking was free.')
    await add('New', 'Parking costs money.')
    await test.owner.query('update parley.tenants set document_days = 30 where tenant_id = $1', [scope.tenant_id])
    await test.owner.query(
      "update parley.knowledge_documents set created_at = now() - interval '31 days' where document_id = $1",
      [old],
    )
    expect((await test.database.jobs.environmentsDue('knowledge', null, 1000)).map(due => due.tenant_id)).toContain(
      scope.tenant_id,
    )
    expect(await within(tx => expireDocuments(tx, scope, 10))).toBe(1)
    const { rows } = await listDocuments(test.database.within(scope), scope, { cursor: null, limit: 10 })
    expect(rows.map(row => row.title)).toEqual(['New'])
  })

  it('another environment finds nothing of these documents', async () => {
    await add('Parking', 'Parking is free.')
    await reembed()
    await build()
    scope = await test.scope()
    await add('Hours', 'The clinic opens at nine.')
    await reembed()
    await build()
    expect((await find('parking')).map(item => item.title)).toEqual(['Hours'])
  })

  it('a query that another environment has asked is embedded anew, with the access of the environment that asks', async () => {
    await reembed()
    await find('parking')
    scope = await test.scope()
    await reembed()
    embedder.failures.push(new Error('the key is wrong'))
    await expect(find('parking')).rejects.toMatchObject({ code: 'knowledge_embedding_failed' })
  })

  it('a search before a model is chosen or a generation is ready is refused', async () => {
    await expect(find('parking')).rejects.toMatchObject({ code: 'knowledge_not_configured' })
    await add('Parking', 'Parking is free.')
    await reembed()
    await expect(find('parking')).rejects.toMatchObject({ code: 'knowledge_no_generation' })
  })
})
