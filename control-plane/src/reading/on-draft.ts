import type { Context } from '../context.ts'
import { type DraftGiven, type DraftOutcome, type DraftWorkName, doDraftWork } from './draft-work.ts'
import { LARGE_BODY_BYTES } from './large-body.ts'

/**
 * Does the work on a draft here, or on a thread where the draft is large. A transaction is rolled back before a thread is
 * waited for, and begun again: `about` (JSON) is what the outcome depends on besides the request, and what must be the
 * same then. Rejects as the work and `ReadingThreads` do.
 */
export async function onDraft<Name extends DraftWorkName>(
  { scope, threads, aside }: Pick<Context, 'scope' | 'threads' | 'aside'>,
  work: Name,
  given: DraftGiven<Name>,
  about: unknown = null,
): Promise<DraftOutcome<Name>> {
  const task = { work, given }
  if (threads === undefined || given.draft.length <= LARGE_BODY_BYTES) return doDraftWork(task)
  const onThread = () => threads.work(scope.tenant_id, task)
  return aside === undefined ? onThread() : aside(JSON.stringify(about), onThread)
}
