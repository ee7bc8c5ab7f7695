import { createHash } from 'node:crypto'
import type { SuiteEdit, SuiteSource, TestCase } from '@parley/contract'
import { canonicalJson } from '@parley/kernel'
import type { SuiteContent } from '@parley/store'

const MAX_CASES = 100

/** What edits change. */
interface EditedSuite {
  readonly name: string
  readonly cases: readonly TestCase[]
  readonly source: SuiteSource | null
}

type Edited =
  | { readonly ok: true; readonly suite: EditedSuite }
  /** `path`: JSON pointer to the edit that cannot be applied. */
  | {
      readonly ok: false
      readonly reason: 'edit_not_applicable' | 'limit_reached'
      readonly path: `/${string}`
      readonly message: string
    }

/** Applies edits in order, all or none. `agentId`: the suite's agent, which a selector source needs. */
export function editSuite(before: EditedSuite, edits: readonly SuiteEdit[], agentId: string | null): Edited {
  let suite = before
  for (const [index, edit] of edits.entries()) {
    const result = apply(suite, edit, agentId)
    if (typeof result === 'string')
      return { ok: false, reason: 'edit_not_applicable', path: `/edits/${index}`, message: result }
    suite = result
    if (suite.cases.length > MAX_CASES)
      return {
        ok: false,
        reason: 'limit_reached',
        path: `/edits/${index}`,
        message: `a suite has at most ${MAX_CASES} cases: remove one first`,
      }
  }
  return { ok: true, suite }
}

/** The edited suite, or why the edit does not apply. */
function apply(suite: EditedSuite, edit: SuiteEdit, agentId: string | null): EditedSuite | string {
  switch (edit.op) {
    case 'set_name':
      return { ...suite, name: edit.name }
    case 'upsert_case':
      return { ...suite, cases: upserted(suite.cases, edit.case) }
    case 'remove_case': {
      const cases = suite.cases.filter(one => one.case_id !== edit.case_id)
      return cases.length === suite.cases.length ? `there is no case "${edit.case_id}"` : { ...suite, cases }
    }
    case 'reorder_cases':
      return reordered(suite, edit.case_ids)
    case 'set_source':
      if (edit.source?.kind === 'selector' && agentId === null)
        return 'a source of kind selector needs a suite with agent_id: create another suite'
      return { ...suite, source: edit.source }
  }
}

function upserted(cases: readonly TestCase[], put: TestCase): readonly TestCase[] {
  const isNew = cases.every(one => one.case_id !== put.case_id)
  return isNew ? [...cases, put] : cases.map(one => (one.case_id === put.case_id ? put : one))
}

function reordered(suite: EditedSuite, caseIds: readonly string[]): EditedSuite | string {
  const byId = new Map(suite.cases.map(one => [one.case_id, one]))
  const cases = caseIds.flatMap(caseId => byId.get(caseId) ?? [])
  const isPermutation = new Set(caseIds).size === caseIds.length && caseIds.length === suite.cases.length
  const unknown = caseIds.find(caseId => !byId.has(caseId))
  if (unknown !== undefined) return `there is no case "${unknown}"`
  return isPermutation ? { ...suite, cases } : 'case_ids must name every case of the suite once'
}

/** The content of a suite with its digest: SHA-256 of `{cases, source}` in the form of RFC 8785. */
export function suiteContent({ name, cases, source }: EditedSuite): SuiteContent {
  const digest = `sha256:${createHash('sha256').update(canonicalJson({ cases, source })).digest('hex')}`
  return { name, cases, source, digest }
}
