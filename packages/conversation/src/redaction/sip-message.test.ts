import { describe, expect, it } from 'vitest'
import type { Redaction } from './redactor.ts'
import { redactedSipMessage } from './sip-message.ts'

const ALL: Redaction['kinds'] = ['names', 'card_numbers', 'phone_numbers', 'emails']

function message(lines: readonly string[], body = ''): string {
  return `${['INFO sip:parley@192.0.2.1:5060 SIP/2.0', ...lines].join('\r\n')}\r\n\r\n${body}`
}

describe('a SIP message from which personal data is taken out', () => {
  it.each([
    ['From: "Ida Bell" <sip:ida@example.com>;tag=1', 'From: "[name]" <sip:ida@example.com>;tag=1'],
    ['f: Ida Bell <sip:ida@example.com>;tag=1', 'f: "[name]" <sip:ida@example.com>;tag=1'],
    ['To: "a \\"b\\" <c>" <sip:192.0.2.1:5060>', 'To: "[name]" <sip:192.0.2.1:5060>'],
    ['P-Asserted-Identity: "Ida"<sip:a@b>, Bell <tel:a>', 'P-Asserted-Identity: "[name]" <sip:a@b>, "[name]" <tel:a>'],
    ['From: <sip:+4930123456@example.com>;tag=1', 'From: <sip:[phone number]@example.com>;tag=1'],
    ['To: <sips:%2B4930123456;npdi@example.com>', 'To: <sips:[phone number];npdi@example.com>'],
    ['P-Asserted-Identity: <tel:+49-30-123456>', 'P-Asserted-Identity: <tel:[phone number]>'],
    ['Contact: <sip:192.0.2.1:5060;transport=tcp>', 'Contact: <sip:192.0.2.1:5060;transport=tcp>'],
    ['Call-ID: 20260102.030405@192.0.2.1', 'Call-ID: 20260102.030405@192.0.2.1'],
    ['Subject: tea <sip:a@b>', 'Subject: tea <sip:a@b>'],
  ])('"%s" becomes "%s"', (header, redacted) => {
    expect(redactedSipMessage(message([header], 'v=0\r\n'), ALL)).toBe(message([redacted], 'v=0\r\n'))
  })

  it.each([
    ['application/dtmf-relay', 'Signal=5\r\nDuration=160\r\n', 'Signal=*\r\nDuration=160\r\n'],
    ['application/dtmf-relay', ' signal = 11\r\n', ' signal = *\r\n'],
    ['application/dtmf', '5', '*'],
    ['application/sdp', 'Signal=5', 'Signal=5'],
  ])('a key in a body of the type %s is hidden with the numbers that it may be a part of', (type, body, redacted) => {
    const header = `Content-Type: ${type}`
    for (const kind of ['card_numbers', 'phone_numbers'] as const)
      expect(redactedSipMessage(message([header], body), [kind])).toBe(message([header], redacted))
    expect(redactedSipMessage(message([header], body), ['names', 'emails'])).toBe(message([header], body))
  })

  it('only the chosen kinds are taken out', () => {
    const text = message(['From: "Ida" <sip:+4930123456@example.com>'])
    expect(redactedSipMessage(text, ['names'])).toBe(message(['From: "[name]" <sip:+4930123456@example.com>']))
    expect(redactedSipMessage(text, ['phone_numbers'])).toBe(message(['From: "Ida" <sip:[phone number]@example.com>']))
    expect(redactedSipMessage(text, ['emails'])).toBe(text)
  })

  it('the time for a long header grows with its length, not with its square', () => {
    for (const part of ['a', '"', '\\"', '"\\', 'a"', 'sip:1234567;', 'sip:1', '1', ' '])
      redactedSipMessage(message([`From: ${part.repeat(300_000 / part.length)}`]), ALL)
  })
})
