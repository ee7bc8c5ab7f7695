import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SUITE_BODY, SUITE_CASE } from '../testing/suite-requests.ts'
import { openWorkspace, refused, type Workspace } from '../testing/workspace.ts'

let workspace: Workspace
let scope: Scope
beforeAll(async () => {
  workspace = await openWorkspace()
})
afterAll(() => workspace?.close())
beforeEach(async () => {
  scope = await workspace.configured()
})

const create = (over: object = {}) => workspace.call(scope, 'test_suites.create', { body: { ...SUITE_BODY, ...over } })
const get = (suite_id: string) => workspace.call(scope, 'test_suites.get', { params: { suite_id } })
const list = (query: object = {}) => workspace.call(scope, 'test_suites.list', { query })
const edit = (suite_id: string, expected_revision: number, ...edits: object[]) =>
  workspace.call(scope, 'test_suites.edit', { params: { suite_id }, body: { expected_revision, edits } })
const remove = (suite_id: string, expected_revision: number) =>
  workspace.call(scope, 'test_suites.delete', { params: { suite_id }, query: { expected_revision } })
const named = (case_id: string) => ({ ...SUITE_CASE, case_id })
const idsOf = (body: { cases: { case_id: string }[] }) => body.cases.map(({ case_id }) => case_id)

describe('POST /test-suites', () => {
  it('a created suite can be read and is audited', async () => {
    const { status, body, auditedResource } = await create()
    expect(status).toBe(201)
    expect(body).toMatchObject({ name: 'Mornings', agent_id: 'ada', revision: 1, source: { kind: 'selector' } })
    expect(body.digest).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(auditedResource).toEqual({ kind: 'evaluation', id: body.suite_id })
    expect((await get(body.suite_id)).body).toEqual(body)
  })

  it('suites with the same cases and source have the same digest, whatever their name', async () => {
    const one = (await create()).body
    const two = (await create({ name: 'Evenings' })).body
    const three = (await create({ cases: [named('other')] })).body
    expect(two.digest).toBe(one.digest)
    expect(three.digest).not.toBe(one.digest)
  })

  it('an environment has at most 1000 suites', async () => {
    const { body } = await create()
    await workspace.test.owner.query(
      `insert into parley.test_suites (tenant_id, name, digest, cases, case_count, created_by)
       select tenant_id, name, digest, cases, case_count, created_by from parley.test_suites, generate_series(2, 1000)
       where suite_id = $1`,
      [body.suite_id],
    )
    expect(await create()).toMatchObject(refused('conflict', 'limit_reached'))
  })

  it('the suites of another environment do not exist', async () => {
    const { body } = await create()
    scope = await workspace.configured()
    expect(await get(body.suite_id)).toMatchObject(refused('not_found'))
    expect((await list()).body.items).toEqual([])
  })
})

describe('GET /test-suites', () => {
  it('the list has the newest suite first, counts its cases, and can be filtered by agent', async () => {
    const one = (await create()).body
    const { source: _, ...plain } = SUITE_BODY
    const two = (await workspace.call(scope, 'test_suites.create', { body: { ...plain, agent_id: 'bea', cases: [] } }))
      .body
    const { cases: __, ...head } = one
    const first = (await list({ limit: 1 })).body
    expect(first.items.map(({ suite_id }: typeof one) => suite_id)).toEqual([two.suite_id])
    expect((await list({ limit: 1, cursor: first.next_cursor })).body.items).toEqual([{ ...head, case_count: 1 }])
    expect((await list({ agent_id: 'ada' })).body.items).toHaveLength(1)
  })
})

describe('PATCH /test-suites/{suite_id}', () => {
  it('edits apply in order and raise the revision by one', async () => {
    const { body } = await create()
    const edited = await edit(
      body.suite_id,
      1,
      { op: 'set_name', name: 'Evenings' },
      { op: 'upsert_case', case: named('second') },
      { op: 'upsert_case', case: named('third') },
      { op: 'remove_case', case_id: 'books' },
      { op: 'reorder_cases', case_ids: ['third', 'second'] },
      { op: 'upsert_case', case: { ...named('third'), name: 'Third' } },
      { op: 'set_source', source: null },
    )
    expect(edited).toMatchObject({ status: 200, body: { name: 'Evenings', revision: 2, source: null } })
    expect(idsOf(edited.body)).toEqual(['third', 'second'])
    expect(edited.body.cases[0].name).toBe('Third')
    expect(edited.body.digest).not.toBe(body.digest)
    expect((await get(body.suite_id)).body).toEqual(edited.body)
  })

  it.each([
    ['a case that does not exist is removed', { op: 'remove_case', case_id: 'none' }],
    ['an order leaves a case out', { op: 'reorder_cases', case_ids: [] }],
    ['an order names a case twice', { op: 'reorder_cases', case_ids: ['books', 'books'] }],
    ['an order names an unknown case', { op: 'reorder_cases', case_ids: ['none'] }],
  ])('no edit is stored when %s', async (_what, wrong) => {
    const { body } = await create()
    const answer = await edit(body.suite_id, 1, { op: 'set_name', name: 'Evenings' }, wrong)
    expect(answer).toMatchObject(refused('invalid_request', 'edit_not_applicable'))
    expect(answer.body.error.details.issues[0].path).toBe('/edits/1')
    expect((await get(body.suite_id)).body).toEqual(body)
  })

  it('a selector cannot be the source of a suite without an agent', async () => {
    const { source, ...plain } = SUITE_BODY
    const { agent_id: _, ...agentless } = plain
    const { body } = await workspace.call(scope, 'test_suites.create', { body: agentless })
    expect(await edit(body.suite_id, 1, { op: 'set_source', source })).toMatchObject(
      refused('invalid_request', 'edit_not_applicable'),
    )
  })

  it('an edit of an older revision is refused with the current one', async () => {
    const { body } = await create()
    await edit(body.suite_id, 1, { op: 'set_name', name: 'A' })
    const answer = await edit(body.suite_id, 1, { op: 'set_name', name: 'B' })
    expect(answer).toMatchObject(refused('conflict', 'stale_revision'))
    expect(answer.body.error.details.current).toEqual({ revision: 2 })
  })

  it('a suite has at most 100 cases', async () => {
    const { body } = await create({ cases: Array.from({ length: 100 }, (_, index) => named(`case-${index}`)) })
    expect(await edit(body.suite_id, 1, { op: 'upsert_case', case: named('one-more') })).toMatchObject(
      refused('conflict', 'limit_reached'),
    )
  })
})

describe('DELETE /test-suites/{suite_id}', () => {
  it('a deleted suite is gone, and a repeated DELETE answers the suite as it last was', async () => {
    const { body } = await create()
    expect(await remove(body.suite_id, 2)).toMatchObject(refused('conflict', 'stale_revision'))
    expect((await remove(body.suite_id, 1)).body).toEqual(body)
    expect((await remove(body.suite_id, 1)).body).toEqual(body)
    expect(await get(body.suite_id)).toMatchObject(refused('not_found'))
    expect(await edit(body.suite_id, 1, { op: 'set_name', name: 'A' })).toMatchObject(refused('not_found'))
  })
})
