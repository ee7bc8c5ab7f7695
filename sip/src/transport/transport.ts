import type { Ms } from '@parley/kernel'
import type { ParseResult } from '../message/parse-result.ts'

export type TransportName = 'udp' | 'tcp' | 'tls'

export interface SocketAddress {
  /** IPv4 or IPv6 literal, without brackets. */
  readonly address: string
  readonly port: number
}

/**
 * A path to one peer: a TCP or TLS connection, or for UDP the pair of our socket and the peer's address. Responses go
 * back on the flow their request came on; in-dialog requests prefer the dialog's flow while it is alive (RFC 5626).
 */
export interface Flow {
  /** Unique for the life of the process, never reused. */
  readonly id: string
  readonly transport: TransportName
  readonly local: SocketAddress
  readonly remote: SocketAddress
  /** Who opened it. UDP flows are "accepted" when they were first seen by a datagram from the peer. */
  readonly origin: 'accepted' | 'dialled'
  /** For a dialled TLS flow, the name its certificate was verified against. */
  readonly serverName: string | undefined
}

/** Where a request may be sent: one resolved address (RFC 3263), with the identity TLS has to prove. */
export interface Target extends SocketAddress {
  readonly transport: TransportName
  /** SNI and certificate name: the trunk's or next hop's host name, never the resolved address. */
  readonly serverName: string
}

/** Events from the transport layer to the user agent. */
export type TransportInput =
  | { readonly type: 'message'; readonly flow: Flow; readonly result: ParseResult }
  /** STUN on a UDP flow: what a registrar answers a keep-alive with (RFC 5626 section 4.4.2). */
  | { readonly type: 'stun'; readonly flow: Flow; readonly bytes: Uint8Array }
  /** `sendId` of the send that led to this flow (a fresh connection, or a reused one), before any message on it. */
  | { readonly type: 'sent'; readonly sendId: number; readonly flow: Flow }
  /** Connect, TLS or write failed; `code` is "refused", "timeout", "tls_identity", "closed", "too_many_connections", … */
  | { readonly type: 'send-failed'; readonly sendId: number; readonly code: string; readonly detail: string }
  | { readonly type: 'flow-closed'; readonly flow: Flow; readonly code: string }
  | { readonly type: 'resolved'; readonly resolveId: number; readonly targets: readonly Target[] }

/** Commands from the user agent to the transport layer. */
export type TransportOutput =
  /**
   * Send on an existing flow, or to a target: an idle flow to the same (transport, address, port, serverName) is
   * reused, else one is dialled. Answered by `sent` or `send-failed` with the same id.
   */
  | {
      readonly type: 'send'
      readonly sendId: number
      readonly to: { readonly flow: Flow } | { readonly target: Target }
      readonly bytes: Uint8Array
    }
  /** RFC 3263: answered by `resolved`, targets in order of preference, empty when nothing was found. */
  | { readonly type: 'resolve'; readonly resolveId: number; readonly hop: NextHop }
  /** Closes a stream after a protocol violation, or when its TLS identity is no longer acceptable. */
  | { readonly type: 'close-flow'; readonly flow: Flow }
  /** Keep-alives on a stream come this often at least; longer times than the transport's own change nothing. */
  | { readonly type: 'keep-within'; readonly flow: Flow; readonly withinMs: Ms }

/** What has to be resolved: the host part of a Route or Request-URI, or the override of a trunk. */
export interface NextHop {
  readonly host: string
  readonly port: number | undefined
  /** From `;transport=` or the scheme; undefined: RFC 3263 section 4.1 decides. */
  readonly transport: TransportName | undefined
  /** Certificate name; default `host`. In-dialog hops written as addresses carry the trunk's name here. */
  readonly serverName: string | undefined
  /** The host was named by somebody who may not reach every address: only those that the resolver permits are targets. Default false. */
  readonly isRestricted?: boolean
}

/** The transport layer as a port: sockets in production (io/), an in-memory network in virtual time. */
export interface SipTransport {
  /** Never throws for network reasons; outcomes arrive as inputs, never synchronously. */
  submit(output: TransportOutput): void
  /** One listener, set before anything is submitted. */
  onInput(listener: (input: TransportInput) => void): void
  /** Via sent-by and Contact host and port of this element for a transport; undefined when it does not listen there. */
  advertised(transport: TransportName): { readonly host: string; readonly port: number } | undefined
}
