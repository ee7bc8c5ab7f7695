import { Refusal, type testSuite } from '@parley/contract'
import {
  deleteSuite,
  ENVIRONMENT_LIMITS,
  insertSuite,
  insertTombstone,
  listSuites,
  lockSuite,
  readSuite,
  type SuiteRow,
  tombstoneOf,
  writeSuite,
} from '@parley/store'
import type { z } from 'zod'
import type { Context, Handlers } from '../context.ts'
import { invalid } from './invalid-request.ts'
import { editSuite, suiteContent } from './suite-edits.ts'

type TestSuite = z.input<typeof testSuite>

export const testSuiteHandlers = {
  'test_suites.create': async ({ body }, context) => {
    const { db, scope, principal } = context
    const { agent_id = null, ...content } = body
    const made = await insertSuite(db, scope, { ...suiteContent(content), agent_id, created_by: principal.ref })
    if (made === 'limit_reached')
      throw new Refusal('conflict', `the environment has ${ENVIRONMENT_LIMITS.suites} test suites: delete one first`, {
        reason: 'limit_reached',
      })
    audit(context, made.suite_id)
    return { status: 201, body: made }
  },

  'test_suites.list': async ({ query: { cursor, ...filter } }, { db, scope }) => {
    const { rows, next_cursor } = await listSuites(db, scope, { ...filter, cursor: cursor ?? null })
    return { status: 200, body: { items: rows, next_cursor } }
  },

  'test_suites.get': async ({ params: { suite_id } }, { db, scope }) => {
    const suite = await readSuite(db, scope, suite_id)
    if (suite === null) throw noSuite(suite_id)
    return { status: 200, body: suite }
  },

  'test_suites.edit': async ({ params: { suite_id }, body: { expected_revision, edits } }, context) => {
    const { db, scope } = context
    audit(context, suite_id)
    const before = await lockSuite(db, scope, suite_id)
    if (before === null) throw noSuite(suite_id)
    refuseStale(before, expected_revision)
    const edited = editSuite(before, edits, before.agent_id)
    if (!edited.ok) {
      const { reason, path, message } = edited
      if (reason === 'edit_not_applicable') throw invalid(path, message, reason)
      throw new Refusal('conflict', `no edit was stored: ${message}`, { reason })
    }
    return { status: 200, body: await writeSuite(db, scope, suite_id, suiteContent(edited.suite)) }
  },

  'test_suites.delete': async ({ params: { suite_id }, query: { expected_revision } }, context) => {
    const { db, scope } = context
    audit(context, suite_id)
    const suite = await lockSuite(db, scope, suite_id)
    if (suite === null) {
      const tombstone = await tombstoneOf(db, scope, 'test_suite', suite_id)
      if (tombstone === null) throw noSuite(suite_id)
      return { status: 200, body: tombstone as TestSuite }
    }
    refuseStale(suite, expected_revision)
    await deleteSuite(db, scope, suite_id)
    await insertTombstone(db, scope, 'test_suite', suite_id, { ...suite })
    return { status: 200, body: suite }
  },
} satisfies Partial<Handlers>

function audit(context: Context, suiteId: string): void {
  context.auditResource({ kind: 'evaluation', id: suiteId })
}

function refuseStale({ revision }: SuiteRow, expected: number): void {
  if (revision === expected) return
  throw new Refusal('conflict', `the suite is at revision ${revision}: read it again and repeat the request`, {
    reason: 'stale_revision',
    details: { current: { revision } },
  })
}

/** The refusal for a suite that this environment does not have. */
export function noSuite(suiteId: string): Refusal {
  return new Refusal('not_found', `there is no test suite "${suiteId}"`)
}
