import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SipMessageError } from '../errors.ts'
import { Pair, sdp, sipUri } from './testing/pair.ts'

/** Texts that try to insert a header into our message. */
const hostile = fc.oneof(
  fc
    .tuple(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom(
        '\r\n',
        '\n',
        '\r',
        '\0',
        '\r\n ',
        '\u0085',
        '\u2028',
        '\u010d\u010a',
        '%0d%0a',
        '\\\r\n',
        '"\r\n',
        '>\r\n',
      ),
      fc.constantFrom('Injected: yes', 'Via: SIP/2.0/UDP evil', '\r\nINVITE sip:x SIP/2.0', ''),
    )
    .map(parts => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 30 }),
)

/** The header names of each message that "a" sent; an invalid name shows as the whole line. */
function linesSent(pair: Pair): string[] {
  return pair.network.passed
    .filter(({ from }) => from.address === '10.0.0.1')
    .flatMap(({ text }) =>
      text
        .slice(0, text.indexOf('\r\n\r\n'))
        .split(/\r\n|[\r\n]/)
        .slice(1),
    )
}

/** Or a custom header name in front of its value. */
const OURS =
  /^(Via|Max-Forwards|From|To|Call-ID|CSeq|Contact|Allow|Supported|User-Agent|Content-Type|Content-Length|Route|X-Custom|Reason|Retry-After|Warning|Refer-To|Referred-By|Session-Expires|Min-SE|Server|Refer-Sub|Accept|Require): |^[\w.!%*+`'~-]+: x$/

/** Runs `act` with hostile text: it must throw a typed error or send only header lines of ours. */
function holds(act: (pair: Pair, text: string) => void): void {
  fc.assert(
    fc.property(hostile, text => {
      const pair = new Pair()
      try {
        act(pair, text)
      } catch (error) {
        if (!(error instanceof SipMessageError)) throw error
      }
      pair.time.advance(1000)
      for (const line of linesSent(pair)) expect(line).toMatch(OURS)
      expect(pair.b.logs.filter(({ level }) => level === 'error')).toEqual([])
    }),
    { numRuns: 300, seed: 20261121 },
  )
}

const us = () => ({
  displayName: 'Alice' as string | undefined,
  uri: sipUri('alice', 'a.test', 'udp'),
  params: new Map(),
})
const them = () => sipUri('bob', 'b.test', 'udp')

describe('no text of the application can insert a header line', () => {
  it.each<[string, (pair: Pair, text: string) => void]>([
    ['display name', (pair, text) => void pair.call({ from: { ...us(), displayName: text } })],
    ['caller id', (pair, text) => void pair.call({ from: { ...us(), uri: { ...us().uri, user: text } } })],
    ['caller host', (pair, text) => void pair.call({ from: { ...us(), uri: { ...us().uri, host: text } } })],
    ['caller parameter', (pair, text) => void pair.call({ from: { ...us(), params: new Map([['x', text]]) } })],
    ['number', (pair, text) => void pair.call({ uri: { ...them(), user: text } })],
    ['password in the URI', (pair, text) => void pair.call({ uri: { ...them(), password: text } })],
    ['URI parameter', (pair, text) => void pair.call({ uri: { ...them(), params: new Map([['x', text]]) } })],
    ['URI parameter name', (pair, text) => void pair.call({ uri: { ...them(), params: new Map([[text, 'x']]) } })],
    ['URI header', (pair, text) => void pair.call({ to: { ...us(), uri: { ...them(), headers: [['X', text]] } } })],
    ['route', (pair, text) => void pair.call({ route: [{ ...us(), displayName: text, uri: them() }] })],
    ['custom header', (pair, text) => void pair.call({ headers: [['X-Custom', text]] })],
    ['custom header name', (pair, text) => void pair.call({ headers: [[text, 'x']] })],
    ['content type', (pair, text) => void pair.call({ body: { ...sdp('offer'), contentType: text } })],
    [
      'reason of a refusal',
      (pair, text) => {
        pair.call({}, undefined, 'b')
        pair.time.advance(200)
        pair.a.calls[0]?.session.reject(603, { reason: text })
      },
    ],
    [
      'header of a refusal',
      (pair, text) => {
        pair.call({}, undefined, 'b')
        pair.time.advance(200)
        pair.a.calls[0]?.session.reject(603, { headers: [['X-Custom', text]] })
      },
    ],
    [
      'reason of a hang-up',
      (pair, text) => {
        const { caller } = pair.established()
        caller.session.hangUp({ reason: { protocol: 'Q.850', cause: 16, text } })
      },
    ],
    [
      'transfer target',
      (pair, text) => {
        const { caller } = pair.established()
        caller.session.refer({ ...them(), user: text })
      },
    ],
    [
      'type of an INFO',
      (pair, text) => {
        const { caller } = pair.established()
        caller.session.info({ bytes: new Uint8Array(1), contentType: text })
      },
    ],
  ])('no header line can be inserted through the %s', (_where, act) => holds(act))

  it('hostile credentials, which are written only after a challenge, insert no header line', () => {
    fc.assert(
      fc.property(hostile, text => {
        const pair = new Pair({ guard: () => ({ action: 'challenge', realm: 'r', passwordOf: () => text }) })
        try {
          const heard = pair.call({ credentials: { username: text, password: text } })
          pair.time.advance(300)
          // The challenge was answered and the call accepted.
          expect(pair.b.calls).toHaveLength(1)
          heard.session.hangUp()
        } catch (error) {
          if (!(error instanceof SipMessageError)) throw error
        }
        for (const line of linesSent(pair)) expect(line).toMatch(/^(Authorization: Digest )|^[A-Z][\w-]+: /)
        expect(linesSent(pair).filter(line => /^(Injected|INVITE)/.test(line))).toEqual([])
      }),
      { numRuns: 300, seed: 20261121 },
    )
  })
})
