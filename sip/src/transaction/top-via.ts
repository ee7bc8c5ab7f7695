import type { SipRequest, Via } from '../message/message.ts'
import type { Flow, Target } from '../transport/transport.ts'
import type { Destination } from './message-sender.ts'

/** Completes the topmost Via of a received request: RFC 3261 section 18.2.1 (`received`), RFC 3581 section 4 (`rport`). */
export function markReceived(request: SipRequest, flow: Flow): SipRequest {
  const top = request.via[0]
  if (top === undefined) return request
  const params = new Map(top.params)
  const wantsPort = params.has('rport')
  // RFC 3581 section 4: with rport, received is written even when it says the same as the sent-by.
  if (wantsPort) params.set('rport', String(flow.remote.port))
  if (wantsPort || bareHost(top.host) !== flow.remote.address) params.set('received', flow.remote.address)
  return { ...request, via: [{ ...top, params }, ...request.via.slice(1)] }
}

/** Where a response goes first: RFC 3261 section 18.2.2, RFC 3581 section 4. */
export function responseDestination(top: Via, flow: Flow): Destination {
  // maddr is ignored: it would let a sender direct our responses at third parties.
  if (flow.transport !== 'udp' || top.params.has('rport')) return { flow }
  const port = top.port ?? 5060
  return port === flow.remote.port ? { flow } : { target: responseTarget(top, flow) }
}

/** Where a response goes when its connection is gone: to the source address, at the port of the sent-by (18.2.2). */
export function responseTarget(top: Via, flow: Flow): Target {
  return {
    address: flow.remote.address,
    port: top.port ?? (flow.transport === 'tls' ? 5061 : 5060),
    transport: flow.transport,
    serverName: bareHost(top.host),
  }
}

function bareHost(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}
