import { completeMessage, refuseMessage } from './complete-message.ts'
import { type MessageHead, readMessageHead } from './message-head.ts'
import { DEFAULT_LIMITS, type MessageLimits, type ParseResult } from './parse-result.ts'

/** RFC 5626 section 3.5.1: a double CRLF is a ping, to be answered with one CRLF; a single CRLF is a pong. */
interface KeepAlive {
  readonly keepAlive: 'ping' | 'pong'
}

const CR = 0x0d
const LF = 0x0a
/** Buffer size of an idle connection, in bytes. */
const KEPT_BYTES = 16_384

/**
 * Cuts a byte stream into SIP messages (RFC 3261 section 18.3). Push what arrived, then call `next` until it gives
 * undefined. After a result with `fatal` nothing more comes: close the connection. Holds at most one message and what
 * was pushed behind it.
 *
 * A CRLF with nothing behind it is a pong at once; when another CRLF follows directly, the two were a ping cut in half
 * on its way, and `ping` is given for the second. So a ping is never missed, and both count as a sign of life.
 */
export class StreamFramer {
  readonly #limits: MessageLimits
  #store = Buffer.alloc(0)
  #start = 0
  #end = 0
  /** Offset at which the search for the end of the headers continues. */
  #scanned = 0
  #head: MessageHead | undefined
  #afterPong = false
  #lost = false

  constructor(limits: MessageLimits = DEFAULT_LIMITS) {
    this.#limits = limits
  }

  /** The chunk is copied: the caller may reuse its buffer. */
  push(chunk: Uint8Array): void {
    if (this.#lost || chunk.length === 0) return
    const held = this.#end - this.#start
    if (this.#end + chunk.length > this.#store.length) {
      const target =
        held + chunk.length > this.#store.length
          ? Buffer.allocUnsafe(Math.max(2 * this.#store.length, held + chunk.length, 2048))
          : this.#store
      this.#store.copy(target, 0, this.#start, this.#end)
      this.#store = target
      this.#scanned -= this.#start
      this.#start = 0
      this.#end = held
    }
    this.#store.set(chunk, this.#end)
    this.#end += chunk.length
  }

  /** Buffered bytes that `next` has not returned yet. After `next` returned undefined: the bytes of an incomplete message. */
  get pending(): number {
    return this.#end - this.#start
  }

  next(): ParseResult | KeepAlive | undefined {
    if (this.#lost) return undefined
    if (this.#head === undefined) {
      const keepAlive = this.#takeLineBreaks()
      if (keepAlive !== undefined) return keepAlive
      // Half a line break: the next byte decides whether it is a keep-alive or part of a message.
      if (this.#at(0) === CR && this.#at(1) === undefined) return undefined
      const end = this.#findHeaderEnd()
      const size = (end ?? this.#end) - this.#start
      if (size > this.#limits.headerBytes) return this.#refuseOversize()
      if (end === undefined) return undefined
      this.#head = readMessageHead(this.#store.toString('latin1', this.#start, end), this.#limits)
    }
    return this.#takeMessage(this.#head)
  }

  /** RFC 3261 section 7.5: line breaks between messages are ignored, except as keep-alives. */
  #takeLineBreaks(): KeepAlive | undefined {
    if (this.#start === this.#end || this.#scanned > this.#start) return undefined
    if (this.#at(0) === LF) {
      this.#skip(1)
      return this.#takeLineBreaks()
    }
    if (this.#at(0) !== CR || this.#at(1) !== LF) {
      if (this.#at(1) !== undefined || this.#at(0) !== CR) this.#afterPong = false
      return undefined
    }
    const double = this.#at(2) === CR && this.#at(3) === LF
    this.#skip(double ? 4 : 2)
    const ping = double || this.#afterPong
    this.#afterPong = !ping
    return { keepAlive: ping ? 'ping' : 'pong' }
  }

  #at(index: number): number | undefined {
    return this.#start + index < this.#end ? this.#store[this.#start + index] : undefined
  }

  #skip(count: number): void {
    this.#start += count
    this.#scanned = this.#start
    if (this.#start !== this.#end) return
    this.#start = this.#end = this.#scanned = 0
    // Frees the memory of a connection that once carried a large message.
    if (this.#store.length > KEPT_BYTES) this.#store = Buffer.alloc(0)
  }

  /** The index behind the first empty line; the search continues where the last one stopped. */
  #findHeaderEnd(): number | undefined {
    let from = this.#scanned
    while (from < this.#end) {
      const feed = this.#store.indexOf(LF, from)
      if (feed === -1 || feed >= this.#end) {
        from = this.#end
        break
      }
      const next = this.#at(feed + 1 - this.#start)
      const second = this.#at(feed + 2 - this.#start)
      if (next === LF) return feed + 2
      if (next === CR && second === LF) return feed + 3
      if (next === undefined || (next === CR && second === undefined)) {
        from = feed
        break
      }
      from = feed + 1
    }
    this.#scanned = from
    return undefined
  }

  #refuseOversize(): ParseResult {
    const { headerBytes } = this.#limits
    const head = readMessageHead(this.#store.toString('latin1', this.#start, this.#start + headerBytes), this.#limits)
    head.draft.refuseTooLarge(headerBytes)
    return this.#loseFraming(head)
  }

  #takeMessage(head: MessageHead): ParseResult | undefined {
    const { draft } = head
    const length = draft.contentLength
    if (head.startLine === undefined) return this.#loseFraming(head)
    if (length === undefined) {
      const detail = 'On a stream every message needs a Content-Length.'
      draft.refuse(400, 'missing_header', 'Content-Length', head.end, detail)
      return this.#loseFraming(head)
    }
    if (length > this.#limits.bodyBytes) {
      draft.refuse(413, 'body_too_large', 'body', head.end, `The body has ${length} bytes, more than is accepted.`)
      return this.#loseFraming(head)
    }
    const bodyStart = this.#start + head.end
    if (this.#end - bodyStart < length) return undefined
    const body = new Uint8Array(this.#store.subarray(bodyStart, bodyStart + length))
    this.#head = undefined
    this.#skip(head.end + length)
    return draft.refusal === undefined ? completeMessage(head, body) : refuseMessage(head, false)
  }

  #loseFraming(head: MessageHead): ParseResult {
    this.#lost = true
    this.#store = Buffer.alloc(0)
    this.#start = this.#end = 0
    return refuseMessage(head, true)
  }
}
