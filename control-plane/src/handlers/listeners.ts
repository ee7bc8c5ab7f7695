import { Refusal, readWebOffer } from '@parley/contract'
import { insertListener, readListener } from '@parley/store'
import type { Handlers } from '../context.ts'
import { invalid } from './invalid-request.ts'
import { existingRun } from './runs-body.ts'
import { runEnded } from './runs-refusals.ts'

/** The browser offers in one request and polls for the answer, so that no request holds its transaction while an engine answers. */
export const listenerHandlers = {
  'runs.listen': async ({ params: { run_id }, body: { offer } }, context) => {
    const { db, scope } = context
    context.auditResource({ kind: 'run', id: run_id })
    await existingRun(context, run_id)
    const read = readWebOffer(offer)
    if (typeof read === 'string') throw invalid('/offer', `the offer ${read}`)
    const listener = await insertListener(db, scope, run_id, offer)
    switch (listener) {
      case 'run_ended':
        throw runEnded(run_id)
      case 'not_a_call':
        throw new Refusal('capability_unavailable', 'only phone calls and web calls can be listened to', {
          reason: 'channel_not_supported',
        })
      case 'listening_disabled':
        throw new Refusal(
          'policy_denied',
          'nobody may listen to calls of this environment: an admin permits it with PUT /tenant/settings',
          { reason: 'listening_disabled' },
        )
    }
    context.notifyAfterCommit('listeners', run_id)
    return { status: 201, body: listener }
  },

  'runs.listener': async ({ params: { run_id, listener_id } }, { db, scope }) => {
    const listener = await readListener(db, scope, run_id, listener_id)
    if (listener === null) throw new Refusal('not_found', `no listener of run ${run_id} has the id ${listener_id}`)
    return { status: 200, body: listener }
  },
} satisfies Partial<Handlers>
