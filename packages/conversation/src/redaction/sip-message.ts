import type { Redaction } from './redactor.ts'

/** Headers with a name and an address of a person (RFC 3261, 3325, 3892, 5806, 7044), with their compact forms. */
const ADDRESSES =
  /^(?:From|f|To|t|Contact|m|Referred-By|b|Refer-To|r|Reply-To|P-Asserted-Identity|P-Preferred-Identity|Remote-Party-ID|Diversion|History-Info)[ \t]*:.*$/gim
/**
 * The name before an address in angle brackets. Both forms begin where a run of their characters begins: from each character of a long
 * run, the time would grow with its square.
 */
const DISPLAY_NAME = /(?:(?<!\\)"(?:[^"\\]|\\.)*"[ \t]*|(?<![^"<>,;:])[^"<>,;:]+)(?=<)/g
/** A telephone number as the user of an address. An address of a host also consists of digits: it is not followed by "@". */
const NUMBER_IN_URI = /\b(sips?:|tel:)((?:\+|%2B)?\d[\d().-]{5,30})(?![\d().-])(?=(tel|@|;[^@\s<>]{0,200}@)?)/gi
/** A key in the body of an INFO: "Signal=5" with `application/dtmf-relay`, or alone with `application/dtmf`. */
const KEY_TYPE = /^(?:Content-Type|c)[ \t]*:[ \t]*application\/dtmf(-relay)?\b/im
const SIGNAL = /^([ \t]*signal[ \t]*=[ \t]*)\S+/im

/**
 * A SIP message without the personal data of these kinds: names beside addresses, telephone numbers in them, and keys, each of which comes
 * in a message of its own, so that the number that it is a part of is not seen.
 */
export function redactedSipMessage(message: string, kinds: Redaction['kinds']): string {
  const [head, body] = partsOf(message)
  let redacted = kinds.includes('names') ? head.replace(ADDRESSES, withoutName) : head
  if (kinds.includes('phone_numbers'))
    redacted = redacted.replace(NUMBER_IN_URI, (found, scheme: string, _number: string, follows: string | undefined) =>
      scheme.toLowerCase() === 'tel:' || follows !== undefined ? `${scheme}[phone number]` : found,
    )
  const hidesKeys = kinds.includes('phone_numbers') || kinds.includes('card_numbers')
  return redacted + (hidesKeys ? withoutKey(head, body) : body)
}

/** Headers, and the empty line with what follows it. */
function partsOf(message: string): [head: string, body: string] {
  const end = message.indexOf('\r\n\r\n')
  return end < 0 ? [message, ''] : [message.slice(0, end), message.slice(end)]
}

function withoutName(header: string): string {
  return header.replace(DISPLAY_NAME, name => (name.trim() === '' ? name : `${/^[ \t]*/.exec(name)![0]}"[name]" `))
}

function withoutKey(head: string, body: string): string {
  const type = KEY_TYPE.exec(head)
  if (type === null) return body
  return type[1] === undefined ? body.replace(/\S+/, '*') : body.replace(SIGNAL, '$1*')
}
