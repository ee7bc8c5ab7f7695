import { completeMessage, refuseMessage } from './complete-message.ts'
import { readMessageHead } from './message-head.ts'
import { DEFAULT_LIMITS, type MessageLimits, type ParseResult } from './parse-result.ts'

/**
 * One datagram is one message (RFC 3261 section 18.3). Never throws, whatever the bytes. The result holds a copy of
 * the body, so the buffer may be reused.
 */
export function parseDatagram(bytes: Uint8Array, limits: MessageLimits = DEFAULT_LIMITS): ParseResult {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const head = readMessageHead(view.toString('latin1', 0, Math.min(view.length, limits.headerBytes)), limits)
  const { draft } = head
  const unfinished =
    view.length > limits.headerBytes && draft.faults.some(fault => fault.code === 'unterminated_headers')
  if (unfinished) {
    draft.refuseTooLarge(limits.headerBytes)
    return refuseMessage(head, false)
  }
  const available = view.length - head.end
  const length = draft.contentLength ?? available
  if (length > available) {
    const detail = `Content-Length is ${length}, but only ${available} bytes follow the headers.`
    draft.refuse(400, 'content_length_mismatch', 'Content-Length', draft.offsets.get('Content-Length') ?? 0, detail)
  } else if (length > limits.bodyBytes) {
    draft.refuse(413, 'body_too_large', 'body', head.end, `The body has ${length} bytes, more than is accepted.`)
  } else if (length < available) {
    const detail = `${available - length} bytes behind the body are ignored.`
    draft.tolerate('trailing_bytes', 'body', head.end + length, detail)
  }
  if (draft.refusal !== undefined) return refuseMessage(head, false)
  return completeMessage(head, new Uint8Array(view.subarray(head.end, head.end + length)))
}
