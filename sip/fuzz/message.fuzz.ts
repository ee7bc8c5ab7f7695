import { isDeepStrictEqual } from 'node:util'
import type { SipMessage } from '../src/message/message.ts'
import { createResponse } from '../src/message/message-factory.ts'
import { parseDatagram } from '../src/message/parse-datagram.ts'
import type { ParseResult } from '../src/message/parse-result.ts'
import { serialise } from '../src/message/serialise.ts'
import { StreamFramer } from '../src/message/stream-framer.ts'

/**
 * One round of fuzzing over the message layer. Throws only for a finding: an exception on any bytes, a message that
 * is not read back as it was written, a refusal that cannot be answered, or a stream that depends on how it is cut.
 */
export function fuzzMessage(bytes: Uint8Array): void {
  const result = parseDatagram(bytes)
  if (result.ok) {
    if (result.message.cseq.sequence >= 2 ** 31) throw new Error('A sequence number out of range was accepted')
    checkRoundTrip(result.message)
  } else checkAnswer(result)

  const whole = framed([bytes])
  const cut = bytes.length === 0 ? 0 : (bytes[0]! * 251 + bytes.length) % bytes.length
  const halves = framed([bytes.subarray(0, cut), bytes.subarray(cut)])
  if (!isDeepStrictEqual(whole, halves)) throw new Error(`The stream reads differently when it is cut at ${cut}`)
  for (const framedResult of whole) {
    if (framedResult.ok) checkRoundTrip(framedResult.message)
    else checkAnswer(framedResult)
  }
}

function checkRoundTrip(message: SipMessage): void {
  const bytes = serialise(message)
  const again = parseDatagram(bytes, {
    headerBytes: 1 << 20,
    bodyBytes: 1 << 20,
    headerCount: 1 << 14,
    lineBytes: 1 << 20,
  })
  if (!again.ok) throw new Error(`What was written is refused: ${again.fault.code}, ${again.fault.detail}`)
  if (!isDeepStrictEqual(again.message, message)) throw new Error('What was written is not read back the same')
}

/** A refusal with an answer must be answerable, and one without must not invite an answer. */
function checkAnswer(result: Exclude<ParseResult, { ok: true }>): void {
  if ((result.answer === null) !== (result.responseFields === null))
    throw new Error('An answer and its seed must come together')
  if (result.responseFields !== null && result.answer !== null)
    serialise(createResponse(result.responseFields, result.answer, { toTag: 'fuzz' }))
}

function framed(chunks: readonly Uint8Array[]): ParseResult[] {
  const framer = new StreamFramer()
  const results: ParseResult[] = []
  for (const chunk of chunks) {
    framer.push(chunk)
    for (let next = framer.next(); next !== undefined; next = framer.next()) if ('ok' in next) results.push(next)
  }
  return results
}
