import { diagnostic, draftEdits } from '@parley/contract/testing'
import { expect } from 'vitest'
import type { DiagnosticCode } from '../../plan/diagnostic.ts'
import { type Draft, type DraftContent, readDraft } from '../../plan/draft.ts'
import { draftEnvironment } from '../../testing/draft-environment.ts'
import { type DraftNode, draftOf, ends, says, when } from '../../testing/flow-harness.ts'
import { applyEdits } from '../apply-edits.ts'
import type { DraftEnvironment } from '../draft-environment.ts'
import { validate } from '../validate.ts'

/** A finding: its code, what the draft shows, the draft, the path of the finding and the labels of its fixes. */
export type Case = readonly [code: DiagnosticCode, what: string, draft: DraftContent, path: string, fixes: string[]]

/** A node that greets, with an edge to the end node. */
export const hi = says('hi', 'Hello.', { edges: [when('bye', 'end')] })
export const flow = (nodes: DraftNode[], more: Partial<NonNullable<Draft['flow']>> = {}, rest: Partial<Draft> = {}) =>
  readDraft(draftOf(nodes, more, rest))
/** An agent whose flow has no findings. */
export const agent = (rest: Partial<Draft>) => flow([hi, ends()], {}, rest)
export const http = {
  action_id: 'look',
  kind: 'http',
  name: 'look_up',
  method: 'GET',
  url: 'https://example.test/',
} as const
export const transfer = (rest: object): DraftNode => ({
  id: 't',
  type: 'transfer_call',
  transfer_destination: { type: 'predefined', number: '+15550100' },
  edge: when('failed', 'end'),
  ...rest,
})
export const lone = (id: string) => says(id, 'Hi', { edges: [when('e', 'end')] })

/** Expects the finding with its fixes, and that the edits of each fix match the contract and resolve the finding. */
export function expectFinding(
  [code, severity, draft, path, labels]: [DiagnosticCode, 'error' | 'warning', DraftContent, string, string[]],
  environment: DraftEnvironment = draftEnvironment,
): void {
  const all = validate(draft, environment)
  for (const found of all) expect(diagnostic.parse(found)).toEqual(found)
  const found = all.find(one => one.code === code && one.path === path)
  expect(found, JSON.stringify(all)).toMatchObject({ severity })
  expect((found?.fixes ?? []).map(fix => fix.label)).toEqual(labels)
  for (const fix of found?.fixes ?? []) {
    const result = applyEdits(draft, draftEdits.parse(fix.edits))
    if (!result.ok) throw new Error(`${fix.label}: ${JSON.stringify(result.issues)}`)
    expect(validate(result.draft, environment).filter(one => one.code === code && one.path === path)).toEqual([])
  }
}
