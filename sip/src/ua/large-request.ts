import type { SipRequest } from '../message/message.ts'
import { serialise } from '../message/serialise.ts'
import type { NextHop, Target } from '../transport/transport.ts'
import type { CallIdentity } from './call-identity.ts'
import type { UaContext } from './ua-context.ts'

/** RFC 3261 section 18.1.1: larger requests must not travel in a datagram where the path MTU is not known. */
const MAX_DATAGRAM = 1300

/**
 * The same address by TCP, when `request`, built for the UDP `target` and without its Via, is too large for a datagram
 * and its URI left the transport open (RFC 3261 section 18.1.1); undefined: send to `target`.
 */
export function streamFor(
  ctx: UaContext,
  request: SipRequest,
  target: Target,
  way: { readonly hop: NextHop | undefined; readonly identity: CallIdentity },
): Target | undefined {
  if (target.transport !== 'udp' || way.hop === undefined || way.hop.transport !== undefined) return undefined
  if (ctx.transport.advertised('tcp') === undefined || ctx.streamRefusals.has(target)) return undefined
  const via = ctx.layer.clients.via('udp')
  if (via === undefined || sizeOf({ ...request, via: [via] }) <= MAX_DATAGRAM) return undefined
  const stream: Target = { ...target, transport: 'tcp' }
  // The call's next hop is the same over either transport.
  if (way.identity.ownsDestination({ target })) way.identity.adopt([stream])
  return stream
}

function sizeOf(request: SipRequest): number {
  try {
    return serialise(request).length
  } catch {
    // A request that cannot be serialised fails when it is sent.
    return 0
  }
}
