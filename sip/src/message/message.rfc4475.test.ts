import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseCredentials } from './auth-value.ts'
import { decodeFile } from './decode.ts'
import type { NameAddr, SipMessage, SipRequest, SipUri } from './message.ts'
import { createResponse } from './message-factory.ts'
import { parseDatagram } from './parse-datagram.ts'
import { serialise } from './serialise.ts'
import { StreamFramer } from './stream-framer.ts'
import { uriEquals } from './uri.ts'

const FOLDER = new URL('./fixtures/rfc4475/', import.meta.url)

interface Torture {
  readonly section: string
  /** "accept", the status that the parser refuses it with, or "drop". */
  readonly parser: 'accept' | 'drop' | number
  /** The response of a user agent, where it is stricter than the parser. */
  readonly userAgent?: 'drop' | number
  /** Codes of the faults that are tolerated, or the code of the one that is not. */
  readonly faults?: readonly string[]
  readonly check?: (message: SipMessage) => void
}

const user = (address: NameAddr) => (address.uri as SipUri).user
const contacts = (message: SipMessage) => message.contact as readonly NameAddr[]
const requestUri = (message: SipMessage) => (message as SipRequest).uri

/** RFC 4475 section 3, all 49 messages. */
const MESSAGES: Readonly<Record<string, Torture>> = {
  wsinv: {
    section: '3.1.1.1',
    parser: 'accept',
    faults: ['rfc2543_branch'],
    check: message => {
      expect(message).toMatchObject({ maxForwards: 68, cseq: { sequence: 9, method: 'INVITE' } })
      expect(message.via.map(via => [via.transport, via.host, via.params.get('branch')])).toEqual([
        ['UDP', '192.0.2.2', '390skdjuw'],
        ['TCP', 'spindle.example.com', 'z9hG4bK9ikj8'],
        ['UDP', '192.168.255.111', 'z9hG4bK30239'],
      ])
      expect(message.to.params.get('tag')).toBe('1918181833n')
      expect(message.from).toMatchObject({ displayName: 'J Rosenberg \\"', params: new Map([['tag', '98asjd8']]) })
      expect(contacts(message)[0]).toMatchObject({
        displayName: 'Quoted string ""',
        params: new Map([
          ['newparam', 'newvalue'],
          ['secondparam', null],
          ['q', '0.33'],
        ]),
      })
      expect((message.route[0]!.uri as SipUri).params.has('lr')).toBe(true)
      expect(message.headers.get('Subject')).toBe('')
      expect(message.headers.get('Newfangledheader')).toBe('newfangled value continued newfangled value')
      expect(message.headers.get('Unknownheaderwithunusualvalue')).toBe(';;,,;;,;')
      expect(message.body).toHaveLength(150)
    },
  },
  intmeth: {
    section: '3.1.1.2',
    parser: 'accept',
    userAgent: 501,
    check: message => {
      expect(message.to.displayName).toBe('BEL:\u0007 NUL:\0 DEL:\u007f')
      expect(requestUri(message)).toMatchObject({
        user: "1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*",
        password: "&it+has=1,weird!*pas$wo~d_too.(doesn't-it)",
      })
      expect(message.from.displayName).toBe("token1~` token2'+_ token3*%!.-")
      expect(message.from.params.get("fromparam''~+*_!.-%")).toBe('работающий')
      expect(message.headers.entries[0]?.[1]).toBe('\ufeff大停電')
    },
  },
  esc01: {
    section: '3.1.1.3',
    parser: 'accept',
    check: message => {
      expect(requestUri(message)).toMatchObject({ scheme: 'sip', user: 'sips:user@example.com', host: 'example.net' })
      const params = (contacts(message)[0]!.uri as SipUri).params
      expect(params.has('lr')).toBe(true)
      expect(params.get('name')).toBe('value%41')
    },
  },
  escnull: {
    section: '3.1.1.4',
    parser: 'accept',
    check: message => {
      expect(user(message.to)).toBe('null-\0-null')
      const [first, second] = contacts(message)
      expect([user(first!), user(second!)]).toEqual(['\0', '\0\0'])
      expect(uriEquals(first!.uri, second!.uri)).toBe(false)
    },
  },
  esc02: {
    section: '3.1.1.5',
    parser: 'accept',
    userAgent: 501,
    check: message => {
      expect(message).toMatchObject({ method: 'RE%47IST%45R', to: { displayName: '%Z%45' } })
      expect(contacts(message)).toHaveLength(2)
      expect(message.headers.has('C%6fntact')).toBe(true)
    },
  },
  lwsdisp: {
    section: '3.1.1.6',
    parser: 'accept',
    check: message => expect(message.from.displayName).toBe('caller'),
  },
  longreq: {
    section: '3.1.1.7',
    parser: 'accept',
    faults: ['rfc2543_branch'],
    check: message => {
      expect(message.via).toHaveLength(34)
      expect(message.from.params.get('tag')).toHaveLength(155)
      expect(message.callId).toContain('longreq.one')
    },
  },
  dblreq: {
    section: '3.1.1.8',
    parser: 'accept',
    faults: ['trailing_bytes'],
    check: message => expect([(message as SipRequest).method, message.body.length]).toEqual(['REGISTER', 0]),
  },
  semiuri: {
    section: '3.1.1.9',
    parser: 'accept',
    check: message =>
      expect(requestUri(message)).toMatchObject({ user: 'user;par=u@example.net', host: 'example.com' }),
  },
  transports: {
    section: '3.1.1.10',
    parser: 'accept',
    check: message => expect(message.via.map(via => via.transport)).toEqual(['UDP', 'SCTP', 'TLS', 'UNKNOWN', 'TCP']),
  },
  mpart01: {
    section: '3.1.1.11',
    parser: 'accept',
    check: message => {
      expect(message.body).toHaveLength(553)
      expect(message.body.includes(0)).toBe(true)
    },
  },
  unreason: {
    section: '3.1.1.12',
    parser: 'accept',
    check: message =>
      expect(message).toMatchObject({ status: 200, reason: '= 2**3 * 5**2 но сто девяносто девять - простое' }),
  },
  noreason: {
    section: '3.1.1.13',
    parser: 'accept',
    check: message => expect(message).toMatchObject({ status: 100, reason: '' }),
  },
  badinv01: { section: '3.1.2.1', parser: 400, faults: ['bad_via'] },
  clerr: { section: '3.1.2.2', parser: 400, faults: ['content_length_mismatch'] },
  ncl: { section: '3.1.2.3', parser: 400, faults: ['bad_content_length'] },
  scalar02: { section: '3.1.2.4', parser: 400, faults: ['bad_cseq'] },
  scalarlg: { section: '3.1.2.5', parser: 'drop', faults: ['bad_cseq'] },
  quotbal: { section: '3.1.2.6', parser: 400, faults: ['bad_address'] },
  ltgtruri: { section: '3.1.2.7', parser: 400, faults: ['bad_uri'] },
  lwsruri: { section: '3.1.2.8', parser: 400, faults: ['bad_uri'] },
  lwsstart: {
    section: '3.1.2.9',
    parser: 'accept',
    faults: ['extra_spaces'],
    check: message => expect(requestUri(message)).toMatchObject({ user: 'user', host: 'example.com' }),
  },
  trws: { section: '3.1.2.10', parser: 'accept', faults: ['extra_spaces'] },
  escruri: { section: '3.1.2.11', parser: 400, faults: ['bad_uri'] },
  baddate: { section: '3.1.2.12', parser: 'accept', faults: ['bad_date'] },
  regbadct: { section: '3.1.2.13', parser: 400, faults: ['bad_address'] },
  badaspec: {
    section: '3.1.2.14',
    parser: 'accept',
    faults: ['spaces_in_addr_spec'],
    check: message => expect(user(message.to)).toBe('t.watson'),
  },
  baddn: { section: '3.1.2.15', parser: 400, faults: ['bad_address'] },
  badvers: { section: '3.1.2.16', parser: 505, faults: ['bad_version'] },
  mismatch01: { section: '3.1.2.17', parser: 400, faults: ['method_mismatch'] },
  mismatch02: { section: '3.1.2.18', parser: 501, faults: ['method_mismatch'] },
  bigcode: { section: '3.1.2.19', parser: 'drop', faults: ['bad_status'] },
  badbranch: { section: '3.2.1', parser: 400, faults: ['bad_branch'] },
  insuf: { section: '3.3.1', parser: 400, faults: ['missing_header'] },
  unkscm: {
    section: '3.3.2',
    parser: 'accept',
    userAgent: 416,
    check: message =>
      expect(requestUri(message)).toEqual({ scheme: 'nobodyknowsthisscheme', opaque: 'totallyopaquecontent' }),
  },
  novelsc: { section: '3.3.3', parser: 'accept', userAgent: 416 },
  unksm2: {
    section: '3.3.4',
    parser: 'accept',
    check: message => {
      expect(message.to.uri).toEqual({ scheme: 'isbn', opaque: '2983792873' })
      expect(message.from.uri).toEqual({ scheme: 'http', opaque: '//www.example.com' })
    },
  },
  bext01: { section: '3.3.5', parser: 'accept', userAgent: 420 },
  invut: { section: '3.3.6', parser: 'accept', userAgent: 415 },
  regaut01: {
    section: '3.3.7',
    parser: 'accept',
    check: message =>
      expect(parseCredentials(message.headers.get('Authorization') ?? '')).toEqual({
        scheme: 'NoOneKnowsThisScheme',
        params: new Map([['opaque-data', 'here']]),
      }),
  },
  multi01: { section: '3.3.8', parser: 400, faults: ['duplicate_header'] },
  mcl01: { section: '3.3.9', parser: 400, faults: ['duplicate_header'] },
  bcast: {
    section: '3.3.10',
    parser: 'accept',
    userAgent: 'drop',
    check: message => expect(message.via[1]?.host).toBe('255.255.255.255'),
  },
  zeromf: { section: '3.3.11', parser: 'accept', check: message => expect(message).toMatchObject({ maxForwards: 0 }) },
  cparam01: {
    section: '3.3.12',
    parser: 'accept',
    check: message => {
      expect(contacts(message)[0]?.params.has('unknownparam')).toBe(true)
      expect((contacts(message)[0]!.uri as SipUri).params.size).toBe(0)
    },
  },
  cparam02: {
    section: '3.3.13',
    parser: 'accept',
    check: message => {
      expect((contacts(message)[0]!.uri as SipUri).params.has('unknownparam')).toBe(true)
      expect(contacts(message)[0]?.params.size).toBe(0)
    },
  },
  regescrt: {
    section: '3.3.14',
    parser: 'accept',
    check: message => {
      expect((contacts(message)[0]!.uri as SipUri).headers).toEqual([['Route', '<sip:sip.example.com>']])
      expect(message.route).toEqual([])
    },
  },
  sdp01: { section: '3.3.15', parser: 'accept', userAgent: 406 },
  inv2543: {
    section: '3.4.1',
    parser: 'accept',
    faults: ['rfc2543_branch', 'missing_tag', 'missing_header', 'missing_header'],
    check: message => {
      expect(message).toMatchObject({ maxForwards: undefined, contact: [] })
      expect(message.to.params.get('user')).toBe('phone')
      expect(message.body.length).toBeGreaterThan(100)
    },
  },
}

const bytesOf = (name: string) => readFileSync(new URL(`${name}.dat`, FOLDER))

describe('RFC 4475, the torture messages', () => {
  it('every message of the archive has a row in this table', () => {
    const files = readdirSync(FOLDER).map(file => file.replace(/\.dat$/, ''))
    expect(Object.keys(MESSAGES).sort()).toEqual(files.sort())
    expect(files).toHaveLength(49)
  })

  it.each(Object.entries(MESSAGES).map(([name, row]) => [row.section, name, row] as const))(
    'section %s: the torture message %s is handled as the RFC says',
    (_section, name, row) => {
      const bytes = bytesOf(name)
      const result = parseDatagram(bytes)
      if (row.parser === 'accept') {
        if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.fault)}`)
        expect(result.faults.map(fault => fault.code)).toEqual(row.faults ?? [])
        row.check?.(result.message)
        expect(parseDatagram(serialise(result.message))).toMatchObject({ ok: true, message: result.message })
      } else {
        expect(result).toMatchObject({
          ok: false,
          answer: row.parser === 'drop' ? null : row.parser,
          fault: { code: row.faults?.[0] },
        })
      }

      const verdict = row.userAgent ?? row.parser
      const outcome = decodeFile(bytes)
      expect(outcome.exitCode).toBe(verdict === 'accept' ? 0 : 2)
      if (verdict === 'accept') expect(outcome.json.accepted).toBe(true)
      else
        expect(outcome.json).toMatchObject({ answer: verdict === 'drop' ? null : verdict, offset: expect.any(Number) })
    },
  )

  it('the response to every refused request can be matched by its sender', () => {
    for (const [name, row] of Object.entries(MESSAGES)) {
      const result = parseDatagram(bytesOf(name))
      if (result.ok || result.responseFields === null || result.answer === null) continue
      const response = parseDatagram(serialise(createResponse(result.responseFields, result.answer, { toTag: 'x' })))
      if (!response.ok) {
        // The response must repeat even the fields for which the request was refused.
        expect(response.fault.code, name).toBe(result.fault.code)
        expect(['scalar02', 'badbranch']).toContain(name)
        continue
      }
      expect(response.message, row.section).toMatchObject({ status: row.parser, via: result.responseFields.via })
    }
  })

  it('a stream yields all messages whose end can be determined', () => {
    // No length, a false one, several, no empty line, or a second message behind (see the tests below).
    const unframed = new Set(['inv2543', 'clerr', 'ncl', 'mcl01', 'baddn', 'dblreq'])
    const framed = Object.keys(MESSAGES).filter(name => !unframed.has(name))
    const framer = new StreamFramer()
    for (const name of framed) {
      framer.push(bytesOf(name))
      const result = framer.next()
      expect(result, name).toEqual(parseDatagram(bytesOf(name)))
      expect(framer.next(), name).toBeUndefined()
    }
  })

  it('a negative or repeated Content-Length loses the framing of a stream', () => {
    for (const name of ['ncl', 'mcl01', 'inv2543']) {
      const framer = new StreamFramer()
      framer.push(bytesOf(name))
      expect(framer.next(), name).toMatchObject({ ok: false, answer: 400, fatal: true })
      framer.push(bytesOf('semiuri'))
      expect(framer.next(), name).toBeUndefined()
    }
  })

  it('on a stream, the bytes behind the request of section 3.1.1.8 are a second request', () => {
    const framer = new StreamFramer()
    framer.push(bytesOf('dblreq'))
    const results = [framer.next(), framer.next(), framer.next()]
    expect(results).toMatchObject([
      { ok: true, message: { method: 'REGISTER' } },
      { keepAlive: 'pong' },
      { ok: true, message: { method: 'INVITE' } },
    ])
  })

  it('a stream waits until Content-Length bytes of body have arrived', () => {
    const framer = new StreamFramer()
    framer.push(bytesOf('clerr'))
    expect(framer.next()).toBeUndefined()
  })
})
