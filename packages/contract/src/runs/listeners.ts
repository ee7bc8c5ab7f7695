import { text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { uuid } from '../values/names.ts'
import { byRunId } from './runs.ts'
import { MAX_WEB_OFFER } from './web-offer.ts'

/** A browser that listens to a live call. */
const callListener = z
  .strictObject({
    listener_id: uuid,
    run_id: uuid,
    /** `waiting` for the engine of the call, for some hundred milliseconds. */
    state: z.enum(['waiting', 'answered', 'refused']),
    /** The engine's answer (SDP). */
    answer: text(1).nullable(),
    /** Why the engine refused the offer. */
    refusal: text(1).nullable(),
  })
  .meta({ id: 'CallListener' })

const listenToRun = operation({
  id: 'runs.listen',
  method: 'POST',
  path: '/api/v1/runs/{run_id}/listeners',
  summary: 'Listen to a live call with a WebRTC offer that only receives audio; neither side of the call hears it',
  role: 'member',
  idempotency: 'required_header',
  params: byRunId,
  query: null,
  /** `offer`: SDP with one audio line, `recvonly`, and its candidates. */
  body: z.strictObject({ offer: text(1, MAX_WEB_OFFER) }),
  output: callListener,
  statuses: [201, 200],
  refusals: {
    policy_denied: ['listening_disabled'],
    run_not_active: ['run_ended'],
    capability_unavailable: ['channel_not_supported'],
  },
})

const readListener = operation({
  id: 'runs.listener',
  method: 'GET',
  path: '/api/v1/runs/{run_id}/listeners/{listener_id}',
  summary: 'Read the answer of the engine to the offer of a listener',
  role: 'member',
  idempotency: 'none',
  params: byRunId.extend({ listener_id: uuid }),
  query: null,
  body: null,
  output: callListener,
  statuses: [200],
  refusals: {},
})

export const listenerOperations = [listenToRun, readListener] as const
