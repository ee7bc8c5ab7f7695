import { inspectRequest } from '../message/inspect-request.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { EXTENSIONS, METHODS } from './capabilities.ts'
import type { OutgoingRefer } from './refer.ts'
import { sipfragStatus } from './sipfrag.ts'
import { parseTokenParams } from './token-params.ts'
import { respond, type UaContext } from './ua-context.ts'

/**
 * The response to a NOTIFY in the dialog (RFC 6665 section 4.1.3): 200 if it belongs to a pending REFER of ours, 481
 * when there is no such subscription, 489 for other event packages.
 */
export function receiveNotify(ctx: UaContext, refers: OutgoingRefer, request: SipRequest): SipResponse {
  const rejection = inspectRequest(request, {
    methods: METHODS,
    extensions: EXTENSIONS,
    mediaTypes: ['message/sipfrag'],
  })
  if (rejection !== undefined) return respond(ctx, request, rejection.status, { extra: rejection.headers })
  const event = parseTokenParams(request.headers.get('Event') ?? '')
  if (event?.token.toLowerCase() !== 'refer') {
    return respond(ctx, request, 489, { extra: [['Allow-Events', 'refer']] })
  }
  if (!refers.expects(event.params.get('id') ?? undefined)) return respond(ctx, request, 481)
  // Old notifiers omit the header; the subscription then counts as active.
  const state = parseTokenParams(request.headers.get('Subscription-State') ?? '')
  const fragment = sipfragStatus(request.body)
  refers.notified({
    status: fragment?.status,
    reason: fragment?.reason ?? '',
    terminated: state?.token.toLowerCase() === 'terminated',
    subscriptionReason: state?.params.get('reason') ?? undefined,
  })
  return respond(ctx, request, 200)
}
