import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertDocument } from '../knowledge/documents.ts'
import { settleEmbedding, takeDueDocuments } from '../knowledge/embedding-work.ts'
import { beginGeneration, searchedGeneration, writeEmbeddingModel } from '../knowledge/generations.ts'
import { chunksByVector } from '../knowledge/vector-table.ts'
import type { Database } from '../protocol.ts'
import { type TestDatabase, testDatabase, testDatabaseWithVectors } from '../testing/index.ts'
import { openDatabase } from './database.ts'
import { migrate } from './migrate.ts'
import { asOwner, readAddress } from './owner-connection.ts'

const LENGTH = 256
let scope: Scope
let other: Scope
let test: TestDatabase

/** A vector of length 1 whose direction is this angle in the plane of the first two components. */
function at(angle: number): Float32Array {
  const vector = new Float32Array(LENGTH)
  vector[0] = Math.cos(angle)
  vector[1] = Math.sin(angle)
  return vector
}

/** Documents of one chunk each, at these angles, in a new generation. Returns their ids. */
async function embed(database: Database, of: Scope, angles: readonly number[]): Promise<string[]> {
  const ids: string[] = []
  await database.transaction(of, async tx => {
    await writeEmbeddingModel(tx, of, { provider: 'test', model_id: 'one', tier: 'platform-served' })
    for (const angle of angles) {
      const content = Buffer.from(`Text ${angle}`)
      const made = await insertDocument(tx, of, {
        title: `${angle}`,
        media_type: 'text/plain',
        source_url: null,
        content,
      })
      if (made !== 'limit_reached') ids.push(made.document_id)
    }
    await beginGeneration(tx, of)
    const due = await takeDueDocuments(tx, of, { leaseMs: 60_000, atMost: angles.length, tries: 3 })
    for (const document of due) {
      const vectors = [at(angles[ids.indexOf(document.document_id)]!)]
      expect(await settleEmbedding(tx, document, { kind: 'embedded', vectors })).toBe('settled')
    }
  })
  return ids
}

const generationOf = async (of: Scope) => (await searchedGeneration(test.database.within(of), of)).generation!
const nearest = async (of: Scope, angle: number, exactUpTo: number) => {
  const { generation_id } = await generationOf(of)
  const query = { query: at(angle), atMost: 3, exactUpTo, documents: null, places: [] }
  const rows = await chunksByVector(test.database.within(of), generation_id, query)
  return rows.filter(row => row.nearest)
}

const ANGLES = [0, 0.3, 0.6, 0.9, 1.2, 1.5]
let before: string[]
beforeAll(async () => {
  test = await testDatabaseWithVectors(async url => {
    const scopes = await asOwner(readAddress(url), async client => {
      const { rows } = await client.query(
        `with o as (insert into parley.organisations (name) values ('Test') returning owner_id)
         insert into parley.tenants (owner_id, environment, name)
         select owner_id, e, 'Test' from o, unnest(array['production', 'sandbox']) e returning tenant_id, owner_id, environment`,
      )
      return rows as Scope[]
    })
    scope = scopes[0]!
    other = scopes[1]!
    const database = await openDatabase({ ownerUrl: url, maxConnections: 1 })
    try {
      before = await embed(database, scope, ANGLES)
    } finally {
      await database.close()
    }
  })
})
afterAll(() => test?.close())

describe('a database with pgvector', () => {
  it('vectors that were embedded before the extension was created are found in the table', async () => {
    expect(await generationOf(scope)).toMatchObject({ in_table: true, dimension: LENGTH })
    const found = await nearest(scope, 0.62, 100)
    expect(found.map(row => row.document_id)).toEqual([before[2], before[3], before[1]])
    expect(found[0]!.score).toBeCloseTo(Math.cos(0.02), 5)
  })

  it('the index finds the same, fills up what it left out, and each environment finds its own vectors only', async () => {
    const others = await embed(test.database, other, [0.62])
    const found = await nearest(scope, 0.62, 0)
    expect([...new Set(found.map(row => row.document_id))]).toEqual([before[2], before[3], before[1]])
    expect((await nearest(other, 0, 0)).map(row => row.document_id)).toContain(others[0])
    expect(new Set((await nearest(other, 0, 0)).map(row => row.document_id)).size).toBe(1)
  })

  it('a query beyond the bound of comparisons can be answered by the index alone', async () => {
    const { rows } = await test.owner
      .query(`
      set enable_seqscan = off; set enable_sort = off;
      explain select from parley.knowledge_vectors where dimension = 256
      order by embedding::vector(256) <#> '[1${',0'.repeat(LENGTH - 1)}]' limit 3`)
      .then(results => (results as unknown as { rows: Record<string, string>[] }[]).at(-1)!)
    expect(rows.map(row => row['QUERY PLAN']).join('\n')).toContain('knowledge_vectors_256')
  })

  it('the table has the rules of the other tables: row security for everybody, and no right of the public', async () => {
    const { rows } = await test.owner.query(
      "select relrowsecurity as on, relforcerowsecurity as forced from pg_class where oid = 'parley.knowledge_vectors'::regclass",
    )
    expect(rows).toEqual([{ on: true, forced: true }])
    const { rows: functions } = await test.owner.query(
      `select proname, prosecdef as definer, has_function_privilege('public', oid, 'execute') as open from pg_proc
       where proname in ('store_vectors', 'rated_chunks') order by 1`,
    )
    expect(functions).toEqual([
      { proname: 'rated_chunks', definer: false, open: false },
      { proname: 'store_vectors', definer: false, open: false },
    ])
  })

  it('a later start changes nothing', async () => {
    expect(await migrate(test.owner.url)).toEqual([])
    expect((await nearest(scope, 0, 100))[0]!.document_id).toBe(before[0])
  })
})

it('a database without the extension has no table of vectors, and searches scan', async () => {
  const without = await testDatabase()
  try {
    const its = await without.scope()
    await embed(without.database, its, [0])
    expect((await searchedGeneration(without.database.within(its), its)).generation).toMatchObject({ in_table: false })
  } finally {
    await without.close()
  }
})
