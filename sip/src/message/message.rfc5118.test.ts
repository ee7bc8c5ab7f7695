import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { decodeFile } from './decode.ts'
import type { SipMessage, SipRequest } from './message.ts'
import { parseDatagram } from './parse-datagram.ts'
import { serialise } from './serialise.ts'

const FOLDER = new URL('./fixtures/rfc5118/', import.meta.url)

interface Torture {
  readonly section: string
  readonly answer?: number
  readonly check?: (message: SipMessage) => void
}

const uriOf = (message: SipMessage) => (message as SipRequest).uri

/** RFC 5118 section 4, all 12 messages. */
const MESSAGES: Readonly<Record<string, Torture>> = {
  'ipv6-good': {
    section: '4.1',
    check: message => expect(uriOf(message)).toMatchObject({ host: '[2001:db8::10]', port: undefined }),
  },
  'ipv6-bad': { section: '4.2', answer: 400 },
  'port-ambiguous': {
    section: '4.3',
    check: message => expect(uriOf(message)).toMatchObject({ host: '[2001:db8::10:5070]', port: undefined }),
  },
  'port-unambiguous': {
    section: '4.4',
    check: message => expect(uriOf(message)).toMatchObject({ host: '[2001:db8::10]', port: 5070 }),
  },
  'via-received-param-with-delim': {
    section: '4.5',
    check: message => expect(message.via[0]?.params.get('received')).toBe('[2001:db8::9:255]'),
  },
  'via-received-param-no-delim': {
    section: '4.5',
    check: message => expect(message.via[0]?.params.get('received')).toBe('2001:db8::9:255'),
  },
  'ipv6-in-sdp': { section: '4.6', check: message => expect(message.body.length).toBeGreaterThan(200) },
  'mult-ip-in-header': {
    section: '4.7',
    check: message =>
      expect(message.via.map(via => [via.host, via.port])).toEqual([
        ['[2001:db8::9:1]', 6050],
        ['192.0.2.1', undefined],
        ['[2001:db8::9:255]', undefined],
      ]),
  },
  'mult-ip-in-sdp': { section: '4.8' },
  'ipv4-mapped-ipv6': {
    section: '4.9',
    check: message =>
      expect(message.via.map(via => [via.host, via.port])).toEqual([
        ['[::ffff:192.0.2.10]', 19823],
        ['[::ffff:192.0.2.2]', undefined],
      ]),
  },
  'ipv6-bug-abnf-3-colons': {
    section: '4.10',
    check: message => expect(uriOf(message)).toMatchObject({ host: '[2001:db8::192.0.2.1]' }),
  },
  'ipv6-correct-abnf-2-colons': {
    section: '4.10',
    check: message => expect(uriOf(message)).toMatchObject({ host: '[2001:db8::192.0.2.1]' }),
  },
}

const archived = (name: string) => readFileSync(new URL(`${name}.dat`, FOLDER))

/**
 * The archive in the appendix of the RFC ends its lines in LF, leaves out the last empty line in section 4.10, and
 * counts three bodies otherwise than they are. As the text of the RFC means them: CRLF, and the length that is so.
 */
function onTheWire(name: string): Buffer {
  const [head = '', ...rest] = archived(name).toString('latin1').trimEnd().split('\n\n')
  const body = rest.length === 0 ? '' : `${rest.join('\n\n')}\n`.replaceAll('\n', '\r\n')
  const lines = head
    .trimEnd()
    .split('\n')
    .map(line => line.replace(/^Content-Length: .*/, `Content-Length: ${body.length}`))
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1')
}

describe('RFC 5118, the torture messages for IPv6', () => {
  it('every message of the archive has a row in this table', () => {
    const files = readdirSync(FOLDER).map(file => file.replace(/\.dat$/, ''))
    expect(Object.keys(MESSAGES).sort()).toEqual(files.sort())
    expect(files).toHaveLength(12)
  })

  it.each(Object.entries(MESSAGES).map(([name, row]) => [row.section, name, row] as const))(
    'section %s: the torture message %s is handled as the RFC says',
    (_section, name, row) => {
      const result = parseDatagram(onTheWire(name))
      expect(decodeFile(onTheWire(name)).exitCode).toBe(row.answer === undefined ? 0 : 2)
      if (row.answer !== undefined) {
        expect(result).toMatchObject({ ok: false, answer: row.answer })
        return
      }
      if (!result.ok) throw new Error(`refused: ${JSON.stringify(result.fault)}`)
      expect(result.faults).toEqual([])
      row.check?.(result.message)
      expect(parseDatagram(serialise(result.message))).toMatchObject({ ok: true, message: result.message })
    },
  )

  it('the unmodified files of the archive are accepted, except two whose Content-Length exceeds the body', () => {
    const refused = Object.keys(MESSAGES).filter(name => !parseDatagram(archived(name)).ok)
    expect(refused.sort()).toEqual(['ipv6-bad', 'ipv6-in-sdp', 'mult-ip-in-sdp'])
  })
})
