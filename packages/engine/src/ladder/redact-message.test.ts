import { expect, it } from 'vitest'
import { redactMessage } from './redact-message.ts'

const message = (...lines: readonly string[]) => [...lines, ''].join('\r\n')

it.each([
  [
    'Authorization: Digest username="u", realm="r", nonce="n", response="0123", opaque="x"',
    'Authorization: Digest [redacted]',
  ],
  ['Proxy-Authorization: Digest response="0123"', 'Proxy-Authorization: Digest [redacted]'],
  ['Authentication-Info: rspauth="0123", nextnonce="n"', 'Authentication-Info: [redacted]'],
  [
    'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz|2^20|1:32',
    'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:[redacted]|2^20|1:32',
  ],
  [
    'a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:S0VZT05F|2^20|1:4;inline:S0VZVFdP|2^20|2:4',
    'a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:[redacted]|2^20|1:4;inline:[redacted]|2^20|2:4',
  ],
  ['a=key-mgmt:mikey AQAFgM0XflABAAAAAAAAAAAAAAsAyO', 'a=key-mgmt:mikey [redacted]'],
  ['k=base64:c2VjcmV0', 'k=[redacted]'],
  ['To: <sip:alice:pa55word@example.com>', 'To: <sip:alice:[redacted]@example.com>'],
  ['INVITE sip:token7890@parley.example SIP/2.0', 'INVITE sip:[redacted]@parley.example SIP/2.0'],
])('the line "%s" is kept without its secret', (line, redacted) => {
  const text = message('From: <sip:a@example.com>;tag=1', line, 'Call-ID: x')
  expect(redactMessage(text, ['token7890'])).toBe(message('From: <sip:a@example.com>;tag=1', redacted, 'Call-ID: x'))
})

it('a challenge, which holds no secret, is kept', () => {
  const challenge = message('WWW-Authenticate: Digest realm="carrier", nonce="abc", algorithm=SHA-256')
  expect(redactMessage(challenge, [])).toBe(challenge)
})

it('a URI with a port is kept', () => {
  const text = message('Contact: <sip:alice@192.0.2.1:5061;transport=tls>', 'Via: SIP/2.0/TLS 192.0.2.1:5061')
  expect(redactMessage(text, [])).toBe(text)
})
