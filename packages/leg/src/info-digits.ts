import type { Ms } from '@parley/kernel'
import type { Body } from '@parley/sip'

interface InfoDigit {
  readonly digit: string
  readonly durationMs: Ms
}

const DEFAULT_DURATION_MS = 160
const MAX_DURATION_MS = 10_000
/** A digit takes one or two lines; a longer body is not a digit. */
const MAX_BYTES = 256

/**
 * A digit in an INFO body: `application/dtmf-relay` ("Signal=5" and "Duration=160" on lines of their own) or
 * `application/dtmf` (the digit alone). Null: the body holds no digit. Neither form is standardised; phones and gateways
 * send both.
 */
export function readInfoDigit(body: Body): InfoDigit | null {
  if (body.bytes.length > MAX_BYTES) return null
  const text = new TextDecoder('latin1').decode(body.bytes)
  if (body.contentType === 'application/dtmf') return digitOf(text.trim(), DEFAULT_DURATION_MS)
  if (body.contentType !== 'application/dtmf-relay') return null
  const signal = /^[ \t]*signal[ \t]*=[ \t]*(\S+)[ \t]*$/im.exec(text)?.[1]
  const duration = /^[ \t]*duration[ \t]*=[ \t]*(\d{1,5})[ \t]*$/im.exec(text)?.[1]
  return signal === undefined ? null : digitOf(signal, duration === undefined ? DEFAULT_DURATION_MS : Number(duration))
}

/** Whether `text` consists only of DTMF digits (0-9 * # A-D). */
export function isDigits(text: string): boolean {
  return /^[0-9*#A-D]*$/.test(text)
}

export function writeInfoDigit(digit: string, durationMs: Ms): Body {
  const text = `Signal=${digit}\r\nDuration=${Math.round(durationMs)}\r\n`
  return { contentType: 'application/dtmf-relay', bytes: new TextEncoder().encode(text) }
}

/** Some senders write the event number: 10 for the star, 11 for the pound, 12 to 15 for A to D. */
function digitOf(signal: string, durationMs: Ms): InfoDigit | null {
  const numbered = /^1[0-5]$/.test(signal) ? '*#ABCD'[Number(signal) - 10] : signal.toUpperCase()
  if (numbered?.length !== 1 || !isDigits(numbered)) return null
  return { digit: numbered, durationMs: Math.min(durationMs, MAX_DURATION_MS) }
}
