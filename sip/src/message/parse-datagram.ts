import { DEFAULT_LIMITS, type MessageLimits, type ParseResult } from './parse-result.ts'

/** One datagram is one message (RFC 3261 section 18.3). Never throws, whatever the bytes. */
export function parseDatagram(_bytes: Uint8Array, _limits: MessageLimits = DEFAULT_LIMITS): ParseResult {
  throw new Error('being written')
}
