import type { Ms } from '@parley/kernel'
import type { Target } from '../transport/transport.ts'
import { ClientRequest } from './client-request.ts'
import { createOutboundRequest, identityOf } from './outbound-request.ts'
import { type UaContext, userOf } from './ua-context.ts'
import type { OutboundRequest, PingOutcome } from './user-agent-options.ts'

/** A live server answers OPTIONS at once; Timer F would take 32 s. */
const PING_LIMIT_MS: Ms = 8000
/** A dead target is tried last until the next ping; those come every half minute or minute. */
const AVOID_MS: Ms = 90_000

/** Sends OPTIONS to one target (RFC 3261 section 11), and keeps the target's health. The promise never rejects. */
export function pingTarget(
  ctx: UaContext,
  target: Target,
  call: OutboundRequest,
  limitMs: Ms = PING_LIMIT_MS,
): Promise<PingOutcome> {
  const template = createOutboundRequest(ctx, 'OPTIONS', call, [])
  let { sequence } = template.cseq
  const { time, layer } = ctx
  const startedAt = time.now()
  return new Promise(resolve => {
    const failed = (code: string, detail: string) => {
      limit.cancel()
      layer.sender.targetFailed(target, AVOID_MS)
      resolve({ type: 'failed', code, detail })
    }
    const request = new ClientRequest(ctx, {
      build: (number, contact) => ({
        ...template,
        cseq: { sequence: number, method: 'OPTIONS' },
        contact: [contact],
      }),
      contactUser: userOf(call.from.uri),
      sequence,
      reserveSequence: () => ++sequence,
      flow: undefined,
      hop: undefined,
      target,
      isPing: true,
      identity: identityOf(ctx, call),
      onResponse: ({ status, reason }) => {
        if (status < 200) return
        limit.cancel()
        resolve({ type: 'answered', status, reason, afterMs: time.now() - startedAt })
      },
      onFailure: ({ code, detail }) => failed(code, detail),
    })
    const limit = time.at(startedAt + limitMs, () => {
      request.abandon()
      failed('timeout', `no response within ${limitMs / 1000} s`)
    })
    request.start()
  })
}
