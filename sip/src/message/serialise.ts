import { SipMessageError } from '../errors.ts'
import { serialiseCSeq } from './cseq.ts'
import { headerText, headerToken } from './header-text.ts'
import type { SipMessage } from './message.ts'
import { serialiseNameAddr } from './name-addr.ts'
import { serialiseUri } from './uri.ts'
import { serialiseVia } from './via.ts'

/** Fields that are properties of a message; in its header list they would produce a second, contradicting line. */
const TYPED = new Set(['Via', 'From', 'To', 'Call-ID', 'CSeq', 'Route', 'Record-Route', 'Contact'])

/**
 * The bytes of a message: start line, typed fields, `headers` in order (any Content-Length in them is left out),
 * Content-Length, body. Throws SipMessageError ("header_injection", "bad_field") instead of writing a second header
 * line or a field twice.
 */
export function serialise(message: SipMessage): Buffer {
  let text = `${startLine(message)}\r\n`
  for (const via of message.via) text += `Via: ${serialiseVia(via)}\r\n`
  if (message.kind === 'request' && message.maxForwards !== undefined) {
    text += `Max-Forwards: ${maxForwards(message.maxForwards)}\r\n`
  }
  for (const route of message.route) text += `Route: ${serialiseNameAddr(route, 'Route')}\r\n`
  for (const route of message.recordRoute) text += `Record-Route: ${serialiseNameAddr(route, 'Record-Route')}\r\n`
  text += `From: ${serialiseNameAddr(message.from, 'From')}\r\nTo: ${serialiseNameAddr(message.to, 'To')}\r\n`
  text += `Call-ID: ${filled(message.callId, 'Call-ID')}\r\nCSeq: ${serialiseCSeq(message.cseq)}\r\n`
  if (message.contact === '*') text += 'Contact: *\r\n'
  else for (const contact of message.contact) text += `Contact: ${serialiseNameAddr(contact, 'Contact')}\r\n`
  text += headerLines(message)
  text += `Content-Length: ${message.body.length}\r\n\r\n`

  const head = Buffer.byteLength(text, 'utf8')
  const bytes = Buffer.allocUnsafe(head + message.body.length)
  bytes.write(text, 0, 'utf8')
  bytes.set(message.body, head)
  return bytes
}

function startLine(message: SipMessage): string {
  if (message.kind === 'request') {
    return `${headerToken(message.method, 'Method')} ${serialiseUri(message.uri)} SIP/2.0`
  }
  if (!Number.isInteger(message.status) || message.status < 100 || message.status > 699) {
    throw new SipMessageError('bad_field', `A status is 100..699, not ${message.status}`)
  }
  return `SIP/2.0 ${message.status} ${headerText(message.reason, 'Reason phrase')}`
}

function maxForwards(value: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= 255) return value
  throw new SipMessageError('bad_field', `Max-Forwards is 0..255, not ${value}`)
}

function filled(text: string, where: string): string {
  if (text === '') throw new SipMessageError('bad_field', `${where} must not be empty`)
  return headerText(text, where)
}

function headerLines(message: SipMessage): string {
  let text = ''
  for (const [name, value] of message.headers.entries) {
    if (name === 'Content-Length') continue
    if (TYPED.has(name) || (name === 'Max-Forwards' && message.kind === 'request')) {
      throw new SipMessageError('bad_field', `${name} belongs in its own field of the message, not in headers`)
    }
    text += `${headerToken(name, 'Header name')}: ${headerText(value, name)}\r\n`
  }
  return text
}
