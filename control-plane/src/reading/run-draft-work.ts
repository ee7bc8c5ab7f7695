import type { Context } from '../context.ts'
import { type DraftWorkInput, type DraftWorkName, type DraftWorkResult, doDraftWork } from './draft-work.ts'
import { LARGE_BODY_BYTES } from './large-body.ts'

/**
 * Works on a draft: on the main thread, or on a worker thread if the draft is large. A transaction is rolled back before
 * the wait for the thread, and begun again afterwards: the result is used only if `about` (JSON: the stored data that it
 * depends on) is still the same. Rejects as the work and `ReadingThreads` do.
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
