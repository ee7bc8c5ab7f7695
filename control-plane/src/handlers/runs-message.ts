import { createHash } from 'node:crypto'
import { Refusal } from '@parley/contract'
import { postMessage, type RunMessage, readMessage } from '@parley/store'
import type { ExternalContext, Handlers } from '../context.ts'
import { ApiError } from '../errors.ts'
import { existingRun, type RunState } from './runs-body.ts'
import { runEnded } from './runs-refusals.ts'

/** Time limit of the agent's turn; after it the answer is `outcome_unknown`. */
const TURN_MS = 60_000
const POLL_MS = 250

export const messageHandler = {
  /** A repeated request has the same message id, so it finds the message of the first request and its answer. */
  'runs.message': async ({ params: { run_id }, body: { text } }, context) => {
    const { scope } = context
    context.auditResource({ kind: 'run', id: run_id })
    const run = await existingRun(context, run_id)
    if (run.mode !== 'chat')
      throw new Refusal('capability_unavailable', 'only runs with the mode chat accept messages', {
        reason: 'mode_not_supported',
      })
    const message_id = messageId(run_id, context)
    const posted = await context.transact(tx => postMessage(tx, scope, run_id, { message_id, text }))
    if (posted === 'run_ended') throw runEnded(run_id)
    if (posted === 'turn_in_progress')
      throw new Refusal(
        'conflict',
        'the agent has not answered the previous message yet: send this message afterwards',
        {
          reason: 'turn_in_progress',
        },
      )
    context.notifyNow('run_orders', posted.run_id)
    const { state, utterances } = await answerTo(posted, run_id, context)
    return { status: 200, body: { run_id, state: state as RunState, utterances: utterances as never } }
  },
} satisfies Partial<Handlers>

async function answerTo(posted: RunMessage, runId: string, context: ExternalContext) {
  const { db, scope, platform } = context
  const until = platform.now() + TURN_MS
  for (;;) {
    const left = until - platform.now()
    // The wait begins before the message is read, so that no change in between is missed.
    const waited = context.waitForRunChange(posted.run_id, Math.max(0, Math.min(left, POLL_MS)))
    const message = await readMessage(db, scope, posted.message_id)
    if (message === null || message.state === 'refused') throw runEnded(runId)
    if (message.answer !== null) return message.answer
    if (left <= 0)
      throw new ApiError(
        'outcome_unknown',
        `the agent has not answered within ${TURN_MS} ms: repeat the request with the same key`,
      )
    await waited
  }
}

/** The message id, equal for repetitions of a request: a UUID (RFC 9562, version 8) from run, principal and idempotency key. */
function messageId(runId: string, { principal, idempotencyKey }: ExternalContext): string {
  const { kind, id } = principal.ref
  const name = JSON.stringify(['runs.message', runId, kind, id, idempotencyKey])
  const bytes = createHash('sha256').update(name).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
