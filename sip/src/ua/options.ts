import type { SipRequest, SipResponse } from '../message/message.ts'
import { EXTENSIONS, METHODS, SESSION_BODIES } from './capabilities.ts'
import { respond, statelessTag, type UaContext } from './ua-context.ts'

/** The answer to OPTIONS (RFC 3261 section 11.2). */
export function answerOptions(ctx: UaContext, request: SipRequest): SipResponse {
  return respond(ctx, request, 200, {
    toTag: statelessTag(ctx, request),
    extra: [
      ['Allow', METHODS.join(', ')],
      ['Accept', SESSION_BODIES.join(', ')],
      ['Supported', EXTENSIONS.join(', ')],
    ],
  })
}
