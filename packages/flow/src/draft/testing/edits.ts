import { type DraftEdit, draftContent } from '@parley/contract'
import { draftEdit } from '@parley/contract/testing'
import { expect } from 'vitest'
import type { z } from 'zod'
import { type Draft, type DraftContent, readDraft } from '../../plan/draft.ts'
import { type DraftNode, draftOf, ends, says, when } from '../../testing/flow-harness.ts'
import { applyEdits } from '../apply-edits.ts'

export type Written = z.input<typeof draftEdit>

/** A draft of these nodes, parsed. */
export const draftWithNodes = (
  nodes: DraftNode[],
  more: Partial<NonNullable<Draft['flow']>> = {},
  rest: Partial<Draft> = {},
) => readDraft(draftOf(nodes, more, rest))
export const parsedEdits = (written: readonly Written[]): DraftEdit[] => written.map(edit => draftEdit.parse(edit))
export const hello = () => draftWithNodes([says('hi', 'Hello.', { edges: [when('bye', 'end')] }), ends()])

/** The draft after these edits, which must apply. */
export function after(draft: DraftContent, ...written: Written[]): DraftContent {
  const result = applyEdits(draft, parsedEdits(written))
  if (!result.ok) throw new Error(JSON.stringify(result.issues))
  expect(draftContent.parse(result.draft)).toEqual(result.draft)
  return result.draft
}

/** `reason path` of a refusal. */
export function refusal(draft: DraftContent, ...written: Written[]): string {
  const result = applyEdits(draft, parsedEdits(written))
  return result.ok ? 'applied' : `${result.reason} ${result.issues[0].path}`
}
