import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Scope } from '@parley/contract'
import { JobCounters, KnowledgeBuilder, MemoryEnvironmentQueue } from '@parley/jobs/testing'
import { systemTime } from '@parley/kernel'
import { DocumentReader } from '@parley/knowledge'
import type { TextEmbedder } from '@parley/providers'
import {
  beginGeneration,
  type Database,
  insertDocument,
  knowledgeStatus,
  migrate,
  openDatabase,
  startEmbeddedPostgres,
  writeEmbeddingModel,
} from '@parley/store'
import pg from 'pg'
import { EMBEDDING_MODEL } from './embeddings-server.ts'
import type { WrittenDocument } from './question-set.ts'

/** Documents that one transaction inserts. */
const PER_TRANSACTION = 100

/** A durable embedded database whose environments have documents. */
export interface KnowledgeBase {
  readonly ownerUrl: string
  readonly database: Database
  /** A new environment with these documents, embedded by `embedder` as a worker does it. */
  environment(documents: readonly WrittenDocument[], embedder: TextEmbedder): Promise<Scope>
  /** How many passages the environment has. */
  passages(scope: Scope): Promise<number>
  close(): Promise<void>
}

export async function openKnowledgeBase(): Promise<KnowledgeBase> {
  const home = await mkdtemp(join(tmpdir(), 'parley-bench-'))
  const server = await startEmbeddedPostgres({ home })
  await migrate(server.ownerUrl)
  const { ownerUrl } = server
  const owner = new pg.Pool({ connectionString: ownerUrl, max: 1 })
  const dataDirectory = (await owner.query('show data_directory')).rows[0].data_directory as string
  const database = await openDatabase({ ownerUrl })
  return {
    ownerUrl,
    database,
    async environment(documents, embedder) {
      const scope = await newScope(owner)
      await fill(database, scope, documents)
      await build(database, scope, embedder)
      await owner.query('vacuum analyze')
      return scope
    },
    async passages({ tenant_id }) {
      const { rows } = await owner.query('select count(*)::integer from parley.knowledge_chunks where tenant_id = $1', [
        tenant_id,
      ])
      return rows[0].count
    },
    async close() {
      await database.close()
      await owner.end()
      await server.stop()
      await rm(dirname(dataDirectory), { recursive: true, force: true })
      await rm(home, { recursive: true, force: true })
    },
  }
}

async function newScope(owner: pg.Pool): Promise<Scope> {
  const { rows } = await owner.query(
    `with o as (insert into parley.organisations (name) values ('bench') returning owner_id)
     insert into parley.tenants (owner_id, environment, name) select owner_id, 'production', 'bench' from o
     returning tenant_id, owner_id, environment`,
  )
  return rows[0] as Scope
}

async function fill(database: Database, scope: Scope, documents: readonly WrittenDocument[]): Promise<void> {
  for (let at = 0; at < documents.length; at += PER_TRANSACTION)
    await database.transaction(scope, async tx => {
      for (const { title, markdown } of documents.slice(at, at + PER_TRANSACTION)) {
        const content = Buffer.from(markdown)
        const made = await insertDocument(tx, scope, {
          title,
          media_type: 'text/markdown',
          source_url: null,
          content,
        })
        if (made === 'limit_reached') throw new Error('an environment does not take so many documents')
      }
    })
}

async function build(database: Database, scope: Scope, embedder: TextEmbedder): Promise<void> {
  await database.transaction(scope, async tx => {
    await writeEmbeddingModel(tx, scope, EMBEDDING_MODEL)
    await beginGeneration(tx, scope)
  })
  const reader = new DocumentReader()
  const faults: string[] = []
  const builder = new KnowledgeBuilder({
    database,
    queue: new MemoryEnvironmentQueue(),
    embedders: () => embedder,
    reader,
    time: systemTime,
    log: (what, error) => faults.push(`${what}: ${error}`),
    counters: new JobCounters(),
  })
  try {
    await builder.round(scope)
  } finally {
    await builder.close()
    await reader.close()
  }
  const { generation_state: state, pending } = await knowledgeStatus(database.within(scope), scope)
  if (state !== 'ready' || pending > 0) throw new Error(`the documents are not embedded: ${state}, ${faults[0]}`)
}
