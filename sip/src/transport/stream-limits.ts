import type { Ms } from '@parley/kernel'

/** Limits on connections, so that unknown peers can neither exhaust the process nor hold its sockets for ever. */
export interface StreamLimits {
  /** Connections accepted at the same time, handshakes included; default 10000. */
  readonly maxAccepted: number
  /** Of these, from one peer address (one /64 for IPv6); default 1000. */
  readonly maxPerPeer: number
  /** Of these, from one IPv6 /48; default 2000. */
  readonly maxPerSite: number
  /** TLS handshakes in progress on accepted connections; default 256. */
  readonly maxHandshakes: number
  /** Of these, from one peer address; default 64. */
  readonly maxHandshakesPerPeer: number
  /** Of these, from one IPv6 /48; default 128. */
  readonly maxHandshakesPerSite: number
  /** Share of accepted connections and of handshakes that only known addresses may use; default 0.25. */
  readonly knownShare: number
  /** Connections we opened, dials in progress included; default 10000. */
  readonly maxDialled: number
  /** Sends waiting for one dial: count, default 256. */
  readonly maxQueuedSends: number
  /** Sends waiting for one dial: bytes, default 1 MiB. */
  readonly maxQueuedBytes: number
  /** Bytes written but not yet taken by the peer before the connection is cut; default 1 MiB. */
  readonly maxUnreadBytes: number
  /** From accepting a connection to the first message that we answered; default 10 s. */
  readonly firstMessageMs: Ms
  /** From the first to the last byte of one message; default 10 s. */
  readonly partialMessageMs: Ms
  /** An accepted connection without activity; keep-alives are activity once something was answered. Default 15 min. */
  readonly idleMs: Ms
  /** TCP connect; default 5 s. */
  readonly connectMs: Ms
  /** TLS handshake, either side, from its start to its end; default 5 s. */
  readonly handshakeMs: Ms
  /** RFC 5626 section 4.4.1 pings when we sent nothing for this long, drawn anew from [min, max]; default 25 to 29 s. */
  readonly pingMinMs: Ms
  readonly pingMaxMs: Ms
  /** Time for the pong, on flows whose peer ever sent one; default 10 s. */
  readonly pongMs: Ms
  /** After a protocol violation: time for the response to be sent before the connection is closed; default 200 ms. */
  readonly violationFlushMs: Ms
  /** From our FIN to cutting the connection when the peer does not close its side; default 1 s. */
  readonly lingerMs: Ms
}

export const DEFAULT_STREAM_LIMITS: StreamLimits = {
  maxAccepted: 10_000,
  maxPerPeer: 1_000,
  maxPerSite: 2_000,
  maxHandshakes: 256,
  maxHandshakesPerPeer: 64,
  maxHandshakesPerSite: 128,
  knownShare: 0.25,
  maxDialled: 10_000,
  maxQueuedSends: 256,
  maxQueuedBytes: 1 << 20,
  maxUnreadBytes: 1 << 20,
  firstMessageMs: 10_000,
  partialMessageMs: 10_000,
  idleMs: 15 * 60_000,
  connectMs: 5_000,
  handshakeMs: 5_000,
  pingMinMs: 25_000,
  pingMaxMs: 29_000,
  pongMs: 10_000,
  violationFlushMs: 200,
  lingerMs: 1_000,
}
