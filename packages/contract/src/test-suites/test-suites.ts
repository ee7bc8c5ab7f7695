import { text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { agentId, digest, revision, uuid } from '../values/names.ts'
import { listQuery, page } from '../values/page.ts'
import { principalRef } from '../values/references.ts'
import { timestamp } from '../values/time.ts'
import { suiteSource } from './suite-source.ts'
import { caseId, testCase } from './test-case.ts'

const MAX_CASES = 100

const name = text(1, 200)
const cases = z
  .array(testCase)
  .max(MAX_CASES)
  .refine(all => new Set(all.map(one => one.case_id)).size === all.length, 'two cases have the same case_id')

const head = {
  suite_id: uuid,
  /** The agent whose runs a selector picks; a suite tests any agent. */
  agent_id: agentId.nullable(),
  name,
  revision,
  /** SHA-256 of `{cases, source}` in RFC 8785 form. */
  digest,
  source: suiteSource.nullable(),
  created_by: principalRef,
  created_at: timestamp,
  updated_at: timestamp,
}

export const testSuite = z.strictObject({ ...head, cases: z.array(testCase) }).meta({ id: 'TestSuite' })

const testSuiteItem = z.strictObject({ ...head, case_count: z.int().min(0) }).meta({ id: 'TestSuiteItem' })

const bySuiteId = z.strictObject({ suite_id: uuid })
const path = '/api/v1/test-suites'

/** A case as the tool list shows it: the whole schema is in the OpenAPI document. */
const briefCase = z.looseObject({ case_id: caseId })
/** As in the OpenAPI document (SuiteSource). */
const briefSource = z.looseObject({ kind: z.enum(['selector', 'runs']) })

const createSuite = operation({
  id: 'test_suites.create',
  method: 'POST',
  path,
  summary:
    'Create a test suite: cases of simulated callers, mocked actions and assertions (TestCase of the API document)',
  role: 'member',
  idempotency: 'required_header',
  params: null,
  query: null,
  body: z
    .strictObject({
      name,
      agent_id: agentId.optional(),
      cases: cases.default([]),
      source: suiteSource.nullable().default(null),
    })
    .refine(({ source, agent_id }) => source?.kind !== 'selector' || agent_id !== undefined, {
      path: ['agent_id'],
      message: 'a source of kind selector needs agent_id',
    }),
  toolBody: z.strictObject({
    name,
    agent_id: agentId.optional(),
    cases: z.array(briefCase).max(MAX_CASES).optional(),
    source: briefSource.optional(),
  }),
  output: testSuite,
  statuses: [201, 200],
  refusals: { conflict: ['limit_reached'] },
})

const listSuites = operation({
  id: 'test_suites.list',
  method: 'GET',
  path,
  summary: 'List test suites, newest first',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: listQuery({ agent_id: agentId.optional() }),
  body: null,
  output: page(testSuiteItem),
  statuses: [200],
  refusals: {},
})

const getSuite = operation({
  id: 'test_suites.get',
  method: 'GET',
  path: `${path}/{suite_id}`,
  summary: 'Read a test suite with its cases',
  role: 'viewer',
  idempotency: 'none',
  params: bySuiteId,
  query: null,
  body: null,
  output: testSuite,
  statuses: [200],
  refusals: {},
})

/** One change of a suite. */
const suiteEdit = z
  .discriminatedUnion('op', [
    z.strictObject({ op: z.literal('set_name'), name }),
    /** Replaces the case with this id in its place, or adds it at the end. */
    z.strictObject({ op: z.literal('upsert_case'), case: testCase }),
    z.strictObject({ op: z.literal('remove_case'), case_id: caseId }),
    /** Names all cases, each once. */
    z.strictObject({ op: z.literal('reorder_cases'), case_ids: z.array(caseId).max(MAX_CASES) }),
    /** Null: no source. */
    z.strictObject({ op: z.literal('set_source'), source: suiteSource.nullable() }),
  ])
  .meta({ id: 'SuiteEdit' })

const editSuite = operation({
  id: 'test_suites.edit',
  method: 'PATCH',
  path: `${path}/{suite_id}`,
  summary:
    'Edit a test suite: its name, cases and source, by edits that are applied in order, all or none (compare-and-set on its revision)',
  role: 'member',
  idempotency: 'natural',
  params: bySuiteId,
  query: null,
  body: z.strictObject({ expected_revision: revision, edits: z.array(suiteEdit).min(1).max(100) }),
  toolBody: z.strictObject({
    expected_revision: revision,
    edits: z
      .array(
        z.strictObject({
          op: z.enum(['set_name', 'upsert_case', 'remove_case', 'reorder_cases', 'set_source']),
          name: name.optional(),
          case: briefCase.optional(),
          case_id: caseId.optional(),
          case_ids: z.array(caseId).optional(),
          source: briefSource.optional(),
        }),
      )
      .min(1)
      .max(100),
  }),
  output: testSuite,
  statuses: [200],
  refusals: { invalid_request: ['edit_not_applicable'], conflict: ['stale_revision', 'limit_reached'] },
})

const deleteSuite = operation({
  id: 'test_suites.delete',
  method: 'DELETE',
  path: `${path}/{suite_id}`,
  summary: 'Delete a test suite (compare-and-set on its revision); test runs keep their copy of it',
  role: 'member',
  idempotency: 'natural',
  params: bySuiteId,
  query: z.strictObject({ expected_revision: revision }),
  body: null,
  output: testSuite,
  statuses: [200],
  refusals: { conflict: ['stale_revision'] },
})

export const testSuiteOperations = [createSuite, listSuites, getSuite, editSuite, deleteSuite] as const

export type SuiteEdit = z.output<typeof suiteEdit>
