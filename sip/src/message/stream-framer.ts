import { DEFAULT_LIMITS, type MessageLimits, type ParseResult } from './parse-result.ts'

/** RFC 5626 section 3.5.1: a double CRLF is a ping, to be answered with one CRLF; a single CRLF is a pong. */
export interface KeepAlive {
  readonly keepAlive: 'ping' | 'pong'
}

/**
 * Cuts a byte stream into SIP messages (RFC 3261 section 18.3). Push what arrived, then call `next` until it gives
 * undefined. After a result with `fatal` nothing more comes: close the connection.
 */
export class StreamFramer {
  readonly #limits: MessageLimits

  constructor(limits: MessageLimits = DEFAULT_LIMITS) {
    this.#limits = limits
  }

  /** The chunk is copied or consumed: the caller may reuse its buffer. */
  push(_chunk: Uint8Array): void {
    throw new Error(`being written ${this.#limits.headerBytes}`)
  }

  next(): ParseResult | KeepAlive | undefined {
    throw new Error('being written')
  }
}
