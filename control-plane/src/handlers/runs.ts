import { type OperationNamed, Refusal } from '@parley/contract'
import { cancelRun, listRuns, type RunContact, readUpdate, storeUpdate, type UpdateReceipt } from '@parley/store'
import { type AfterCommitContext, type Handlers, withAfterCommit } from '../context.ts'
import { existingRun, runBody } from './runs-body.ts'
import { runEnded } from './runs-refusals.ts'

/** How long the answer to an update waits for the agent to apply it. */
const SETTLING_MS = 500

export const runHandlers = {
  'runs.list': async ({ query: { cursor, disposition, contact, ...filter } }, { db, scope }) => {
    const { rows, next_cursor } = await listRuns(db, scope, {
      ...filter,
      disposition: disposition?.split(','),
      contact: contact?.split(',') as RunContact[] | undefined,
      cursor: cursor ?? null,
    })
    return { status: 200, body: { items: rows.map(runBody), next_cursor } }
  },

  'runs.get': async ({ params: { run_id } }, context) => {
    return { status: 200, body: runBody(await existingRun(context, run_id)) }
  },

  'runs.cancel': async ({ params: { run_id } }, context) => {
    const { db, scope } = context
    context.auditResource({ kind: 'run', id: run_id })
    await existingRun(context, run_id)
    const cancellation = await cancelRun(db, scope, run_id)
    if (cancellation === 'requested') context.notifyAfterCommit('run_orders', run_id)
    if (cancellation === 'finished') context.notifyAfterCommit('runs', run_id)
    return { status: 202, body: runBody(await existingRun(context, run_id)) }
  },

  'runs.update': withAfterCommit<OperationNamed<'runs.update'>, Parameters<Handlers['runs.update']>[1]>(
    async ({ params: { run_id }, body }, context) => {
      const { db, scope } = context
      context.auditResource({ kind: 'run', id: run_id })
      const run = await existingRun(context, run_id)
      if (run.channel !== 'phone')
        throw new Refusal('capability_unavailable', 'only phone runs can be updated', {
          reason: 'channel_not_supported',
        })
      const { override_dynamic_variables, metadata } = body
      const receipt = await storeUpdate(db, scope, run_id, {
        ...(override_dynamic_variables !== undefined && { override_dynamic_variables }),
        ...(metadata !== undefined && { metadata }),
      })
      if (receipt === null) throw runEnded(run_id)
      context.notifyAfterCommit('run_orders', run_id)
      context.notifyAfterCommit('runs', run_id)
      return updated(receipt)
    },
    async ({ body: { update } }, context) => updated(await settled(update.run_id, update.revision, context)),
  ),
} satisfies Partial<Handlers>

/** The receipt after the update is completed, or after half a second. */
async function settled(
  runId: string,
  revision: number,
  { db, scope, now, waitForRunChange }: AfterCommitContext,
): Promise<UpdateReceipt> {
  const until = now() + SETTLING_MS
  for (;;) {
    const left = until - now()
    // The wait begins before the receipt is read, so that no change in between is missed.
    const waited = left > 0 ? waitForRunChange(runId, Math.min(left, 100)) : null
    const receipt = await readUpdate(db, scope, runId, revision)
    if (receipt === null) throw new TypeError(`update ${revision} of run ${runId} is not stored any more`)
    if (receipt.completed_at !== null || waited === null) return receipt
    await waited
  }
}

function updated(receipt: UpdateReceipt) {
  const applied = receipt.status === 'applied'
  const status = receipt.completed_at === null ? (202 as const) : (200 as const)
  return { status, body: { run_id: receipt.run_id, update: { ...receipt, applied } } }
}
