import { createHash } from 'node:crypto'
import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { callDirectly } from '../testing/direct-calls.ts'
import { testPlatform } from '../testing/test-platform.ts'
import { openWorkspace, refused, type Workspace } from '../testing/workspace.ts'
import { knowledgeHandlers } from './knowledge.ts'

let workspace: Workspace
let scope: Scope

beforeAll(async () => {
  workspace = await openWorkspace()
})
afterAll(() => workspace?.close())
beforeEach(async () => {
  scope = await workspace.configured()
})

const MODEL = { model_id: 'near-embedding-1', provider: 'near', tier: 'frontier' }
const TEXT = 'Parking is free.'

const call = (id: Parameters<Workspace['call']>[1], parts: object = {}) => workspace.call(scope, id, parts)
const configure = (model_identity: object = MODEL) => call('knowledge.configure', { body: { model_identity } })
const reembed = () => call('knowledge.reembed', { body: {} })
const create = (body: object = {}) =>
  call('knowledge.documents_create', { body: { title: 'Parking', text: TEXT, ...body } })
const remove = (document_id: string) => call('knowledge.documents_delete', { params: { document_id } })
const list = (query: object = {}) => call('knowledge.documents_list', { query })
const status = async () => (await call('knowledge.get')).body

describe('PUT /knowledge and POST /knowledge/reembed', () => {
  it('choosing a model builds nothing until documents are embedded again', async () => {
    await create()
    expect(await status()).toEqual({
      configured: false,
      model_identity: null,
      dimension: null,
      generation: null,
      pending_documents: 1,
    })
    expect((await configure()).body).toMatchObject({ configured: true, model_identity: MODEL, generation: null })
    const begun = await reembed()
    expect(begun).toMatchObject({
      status: 202,
      body: { generation: { state: 'building', document_count: 0 }, pending_documents: 1 },
      auditedResource: { kind: 'knowledge_generation', id: begun.body.generation.generation_id },
    })
    expect((await reembed()).body.generation.generation_id).not.toBe(begun.body.generation.generation_id)
  })

  it('a model that is not a ready embedding model is refused', async () => {
    for (const model_id of ['near-1', 'gone'])
      expect(await configure({ ...MODEL, model_id })).toMatchObject(
        refused('capability_unavailable', 'model_not_ready'),
      )
  })

  it('embedding again without a model is refused', async () => {
    expect(await reembed()).toMatchObject(refused('knowledge_unavailable', 'not_configured'))
  })
})

describe('documents', () => {
  it('a document is stored with its size and digest, and waits to be embedded', async () => {
    const made = await create({ source_url: 'https://example.com/parking' })
    expect(made).toMatchObject({
      status: 201,
      body: {
        title: 'Parking',
        media_type: 'text/plain',
        source_url: 'https://example.com/parking',
        byte_size: TEXT.length,
        sha256: createHash('sha256').update(TEXT).digest('hex'),
        state: 'pending',
        chunk_count: null,
        error: null,
        expires_at: null,
      },
      auditedResource: { kind: 'document', id: made.body.document_id },
    })
    expect((await list()).body.items).toEqual([made.body])
  })

  it('a PDF document is uploaded as base64, and content that is not a PDF is refused', async () => {
    const pdf = { title: 'Parking', media_type: 'application/pdf' }
    const upload = (body: object) => call('knowledge.documents_create', { body: { ...pdf, ...body } })
    const content_base64 = Buffer.from('%PDF-1.7\n').toString('base64')
    expect((await upload({ content_base64 })).body).toMatchObject({
      media_type: 'application/pdf',
      byte_size: 9,
    })
    const text = Buffer.from('hello').toString('base64')
    expect(await upload({ content_base64: text })).toMatchObject(refused('invalid_request'))
  })

  it('a deleted document answers its last state again, and one that never existed is not found', async () => {
    const { body } = await create()
    expect((await remove(body.document_id)).body).toEqual(body)
    expect((await remove(body.document_id)).body).toEqual(body)
    expect((await list()).body.items).toEqual([])
    expect(await remove('0199a2f0-0000-7000-8000-000000000009')).toMatchObject(refused('not_found'))
  })

  it('retention shows when a document is deleted', async () => {
    await workspace.test.owner.query('update parley.tenants set document_days = 2 where tenant_id = $1', [
      scope.tenant_id,
    ])
    const { created_at, expires_at } = (await create()).body
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(2 * 86_400_000)
  })

  it('the list is paged, newest first', async () => {
    const made = []
    for (const title of ['One', 'Two', 'Three']) made.unshift((await create({ title })).body.document_id)
    const first = (await list({ limit: 2 })).body
    const rest = (await list({ limit: 2, cursor: first.next_cursor })).body
    expect([...first.items, ...rest.items].map(item => item.document_id).sort()).toEqual(made.sort())
    expect(rest.next_cursor).toBeNull()
  })
})

describe('POST /knowledge/search', () => {
  it('the query, its bounds and its documents reach the search, and failures become refusals', async () => {
    const queries: unknown[] = []
    const generation_id = '0199a2f0-0000-7000-8000-000000000001'
    const platform = {
      ...testPlatform(),
      knowledge: {
        search: async (of: Scope, query: { query: string }) => {
          queries.push([of.tenant_id, query])
          return query.query === 'x'
            ? { state: 'failed' as const, failure: 'no_generation' as const, message: 'none' }
            : { state: 'found' as const, body: { generation_id, items: [] } }
        },
      },
    }
    const document_ids = ['0199a2f0-0000-7000-8000-000000000002']
    const search = (body: object) =>
      callDirectly(
        { database: workspace.test.database, scope, handlers: knowledgeHandlers, platform },
        'knowledge.search',
        {
          body,
        },
      )
    expect((await search({ query: 'parking', top_k: 2, min_score: 0.5, document_ids })).body).toEqual({
      generation_id,
      items: [],
    })
    expect(await search({ query: 'x' })).toMatchObject(refused('knowledge_unavailable', 'no_generation'))
    expect(queries).toEqual([
      [scope.tenant_id, { query: 'parking', topK: 2, minScore: 0.5, documentIds: document_ids }],
      [scope.tenant_id, { query: 'x', topK: 5, minScore: 0, documentIds: null }],
    ])
  })
})
