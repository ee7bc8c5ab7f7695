import { randomBelow, randomToken } from '@parley/kernel'
import { DigestClient } from '../auth/digest-client.ts'
import { withTag } from '../dialog/dialog.ts'
import { hopOf } from '../dialog/route-set.ts'
import { headerText } from '../message/header-text.ts'
import type { SipRequest } from '../message/message.ts'
import { createRequest } from '../message/message-factory.ts'
import { serialise } from '../message/serialise.ts'
import type { NextHop } from '../transport/transport.ts'
import { CallIdentity } from './call-identity.ts'
import { ClientRequest } from './client-request.ts'
import { checkHeaders, headersWith } from './custom-headers.ts'
import type { Body, HeaderPairs } from './session.ts'
import { contactFor, type UaContext, userOf } from './ua-context.ts'
import type { OutboundRequest, RequestOutcome } from './user-agent-options.ts'

/** Where a request outside a dialog goes first: the trunk's address, else its first route, else its Request-URI. */
export function firstHop(call: OutboundRequest): NextHop | undefined {
  return call.nextHop ?? hopOf(call.route?.[0]?.uri ?? call.uri)
}

export function identityOf(ctx: UaContext, call: OutboundRequest): CallIdentity {
  const hop = firstHop(call)
  const digest = call.credentials === undefined ? undefined : new DigestClient(call.credentials, ctx.random)
  return new CallIdentity({
    serverName: hop?.serverName ?? hop?.host,
    digest,
    realms: call.credentials?.realms,
    sources: call.sources,
  })
}

/** A request outside a dialog (RFC 3261 section 8.1.1), without Via and Contact. Throws the errors that `serialise` would throw later. */
export function createOutboundRequest(
  ctx: UaContext,
  method: string,
  call: OutboundRequest,
  own: HeaderPairs,
  body?: Body,
): SipRequest {
  const { random, userAgentName } = ctx
  checkHeaders(call.headers ?? [])
  // Credentials are written only after a challenge, which is too late to report an error to the caller.
  if (call.credentials !== undefined) headerText(call.credentials.username, 'Username')
  const ours = headersWith(userAgentName === undefined ? own : [...own, ['User-Agent', userAgentName]])
  const request = createRequest({
    method,
    uri: call.uri,
    via: [],
    from: withTag(call.from, randomToken(random, 16)),
    to: call.to ?? { displayName: undefined, uri: { ...call.uri, headers: [] }, params: new Map() },
    callId: randomToken(random, 24),
    // 8.1.1.5: below 2^31, with room for all that a call may send.
    cseq: { sequence: 1 + randomBelow(random, 2 ** 16), method },
    route: call.route ?? [],
    headers: headersWith(call.headers, ours),
    ...(body === undefined ? {} : { body: body.bytes, contentType: body.contentType }),
  })
  const via = { transport: 'UDP', host: 'localhost', port: undefined, params: new Map() }
  serialise({ ...request, via: [via], contact: [contactFor(ctx, 'udp', userOf(call.from.uri))] })
  return request
}

/** Sends a request that makes no dialog; the promise never rejects. */
export function sendOutboundRequest(
  ctx: UaContext,
  method: string,
  call: OutboundRequest,
  own: HeaderPairs,
): Promise<RequestOutcome> {
  const template = createOutboundRequest(ctx, method, call, own)
  let { sequence } = template.cseq
  return new Promise(resolve => {
    new ClientRequest(ctx, {
      build: (number, contact) => ({ ...template, cseq: { sequence: number, method }, contact: [contact] }),
      contactUser: userOf(call.from.uri),
      sequence,
      reserveSequence: () => ++sequence,
      flow: undefined,
      hop: firstHop(call),
      identity: identityOf(ctx, call),
      adoptTargets: true,
      onResponse: response => {
        if (response.status >= 200) resolve({ type: 'response', response })
      },
      onFailure: failure => resolve({ type: 'failed', ...failure }),
    }).start()
  })
}
