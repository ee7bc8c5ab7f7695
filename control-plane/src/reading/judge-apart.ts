import { type Diagnostic, type DraftContent, type Surroundings, validate } from '@parley/flow'
import type { Context } from '../context.ts'
import { type JudgeOutcome, type JudgeTask, type Planned, planned } from './judge-draft.ts'
import { LARGE_BODY_BYTES } from './large-body.ts'

/** As `validate` of a draft, on a thread where the draft is large. */
export async function validateDraft(
  context: Pick<Context, 'scope' | 'threads'>,
  draft: DraftContent,
  surroundings: Surroundings,
): Promise<Diagnostic[]> {
  const apart = await onThread(context, 'diagnostics', draft, surroundings)
  return apart?.wants === 'diagnostics' ? apart.diagnostics : validate(draft, surroundings)
}

/** As `planOf` a draft, on a thread where the draft is large. */
export async function planDraft(
  context: Pick<Context, 'scope' | 'threads'>,
  draft: DraftContent,
  surroundings: Surroundings,
): Promise<Planned> {
  const apart = await onThread(context, 'plan', draft, surroundings)
  return apart?.wants === 'plan' ? apart.planned : planned(draft, surroundings)
}

/** Null: the draft is small, or there are no threads. */
async function onThread(
  { scope, threads }: Pick<Context, 'scope' | 'threads'>,
  wants: JudgeTask['wants'],
  draft: DraftContent,
  surroundings: Surroundings,
): Promise<JudgeOutcome | null> {
  if (threads === undefined) return null
  const json = JSON.stringify(draft)
  return json.length > LARGE_BODY_BYTES ? threads.judge(scope.tenant_id, { wants, draft: json, surroundings }) : null
}
