import type { Context } from '../context.ts'
import { type DraftWorkInput, type DraftWorkName, type DraftWorkResult, doDraftWork } from './draft-work.ts'
import { LARGE_BODY_BYTES } from './large-body.ts'

/**
 * Does the work on a draft here, or on a thread where the draft is large. A transaction is rolled back before a thread is
 * waited for, and begun again: `about` (JSON) is what the outcome depends on besides the request, and what must be the
 * same then. Rejects as the work and `ReadingThreads` do.
 */
export async function runDraftWork<Name extends DraftWorkName>(
  { scope, threads, offload }: Pick<Context, 'scope' | 'threads' | 'offload'>,
  work: Name,
  input: DraftWorkInput<Name>,
  about: unknown = null,
): Promise<DraftWorkResult<Name>> {
  const task = { work, input }
  if (threads === undefined || input.draft.length <= LARGE_BODY_BYTES) return doDraftWork(task)
  const onThread = () => threads.work(scope.tenant_id, task)
  return offload === undefined ? onThread() : offload(JSON.stringify(about), onThread)
}
