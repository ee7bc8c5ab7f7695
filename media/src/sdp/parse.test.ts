import { describe, expect, it } from 'vitest'
import { parseSdp } from './parse.ts'
import { serialiseSdp } from './serialise.ts'

const HEAD = ['v=0', 'o=- 1 2 IN IP4 192.0.2.1', 's=-', 'c=IN IP4 192.0.2.1', 't=0 0']
const AUDIO = ['m=audio 20000 RTP/AVP 0 8 101', 'a=rtpmap:101 telephone-event/8000']

function parse(lines: readonly string[], lineEnd = '\r\n') {
  return parseSdp(new TextEncoder().encode(lines.join(lineEnd)))
}

describe('a session description', () => {
  const whole = parse([...HEAD, ...AUDIO, ''])

  it.each([
    ['bare line feeds', [...HEAD, ...AUDIO, ''], '\n'],
    ['no line end at the end', [...HEAD, ...AUDIO], '\r\n'],
    ['blank lines at the end', [...HEAD, ...AUDIO, '', '', '  ', ''], '\r\n'],
    ['no s= and no t=', [HEAD[0]!, HEAD[1]!, HEAD[3]!, ...AUDIO], '\r\n'],
    ['an empty s=', [HEAD[0]!, HEAD[1]!, 's=', ...HEAD.slice(3), ...AUDIO], '\r\n'],
    ['blanks at line ends', [...HEAD, ...AUDIO].map(line => `${line} `), '\r\n'],
    [
      'lines it does not know',
      [...HEAD, 'x=y', 'a=tool:z', 'b=AS:1', ...AUDIO, 'a=what:ever', 'a=candidate:1', 'k=prompt'],
      '\r\n',
    ],
    ['lower-case network type', HEAD.map(line => line.replace('IN IP4', 'in ip4')).concat(AUDIO), '\r\n'],
    [
      'attributes that make no sense',
      [...HEAD, ...AUDIO, 'a=rtpmap:x', 'a=rtpmap:200 A/8000', 'a=ptime:soon', 'a=rtcp:x'],
      '\r\n',
    ],
    ['a second meaning for a payload type', [...HEAD, ...AUDIO, 'a=rtpmap:101 OTHER/8000'], '\r\n'],
  ])('a session description with %s is parsed the same', (_name, lines, lineEnd) => {
    expect(parse(lines, lineEnd)).toEqual(whole)
  })

  it('every part of a session description is parsed', () => {
    expect(whole).toMatchObject({
      ok: true,
      description: {
        origin: { username: '-', sessionId: '1', version: '2', address: '192.0.2.1' },
        connection: '192.0.2.1',
        media: [
          {
            kind: 'audio',
            port: 20_000,
            protocol: 'RTP/AVP',
            codecs: [
              { payloadType: 0, name: 'PCMU', clockRate: 8000, channels: 1 },
              { payloadType: 8, name: 'PCMA', clockRate: 8000, channels: 1 },
              { payloadType: 101, name: 'TELEPHONE-EVENT', clockRate: 8000, channels: 1 },
            ],
          },
        ],
      },
    })
  })

  it('a user name with blanks in the o= line is preserved', () => {
    const parsed = parse(['v=0', 'o=John Q. Public 1 2 IN IP4 192.0.2.1'])
    expect(parsed).toMatchObject({ ok: true, description: { origin: { username: 'John Q. Public', sessionId: '1' } } })
  })

  it('a payload type that an answer could not repeat literally is refused', () => {
    expect(parse([...HEAD, 'm=audio 20000 RTP/AVP 00 128 -1 *'])).toMatchObject({
      ok: true,
      description: { media: [{ codecs: [] }] },
    })
  })

  it.each([
    ['no bytes', [''], 'sdp_empty', 0],
    ['another version', ['v=1', ...HEAD.slice(1)], 'sdp_version', 1],
    ['two descriptions in one', [...HEAD, 'v=0'], 'sdp_version', 6],
    ['two origins', [...HEAD, HEAD[1]!], 'sdp_origin', 6],
    ['no origin', ['v=0', 's=-'], 'sdp_origin', 0],
    ['a short origin', ['v=0', 'o=- 1 IN IP4 192.0.2.1'], 'sdp_origin', 2],
    ['a line that is none', [...HEAD, 'audio please'], 'sdp_line', 6],
    ['a NUL', [...HEAD, 's=a\0b'], 'sdp_control_character', 6],
    ['a bare carriage return', [...HEAD, 's=a\rb'], 'sdp_control_character', 6],
    ['an address without type', [...HEAD, 'c=192.0.2.1'], 'sdp_connection', 6],
    ['a port above 65535', [...HEAD, 'm=audio 65536 RTP/AVP 0'], 'sdp_media', 6],
    ['no formats', [...HEAD, 'm=audio 1 RTP/AVP'], 'sdp_media', 6],
    ['an origin behind media', [...HEAD, ...AUDIO, HEAD[1]!], 'sdp_line', 8],
    ['33 media lines', [...HEAD, ...Array<string>(33).fill(AUDIO[0]!)], 'sdp_too_large', 38],
    ['65 formats', [...HEAD, `m=audio 1 RTP/AVP${' 0'.repeat(65)}`], 'sdp_too_large', 6],
    ['1001 lines', [...HEAD, ...Array<string>(996).fill('a=x')], 'sdp_too_large', 0],
    ['64 KiB and a byte', [...HEAD, `s=${'x'.repeat(65_536)}`], 'sdp_too_large', 0],
    ['33 crypto lines', [...HEAD, ...AUDIO, ...Array<string>(33).fill('a=crypto:1 x y')], 'sdp_too_large', 40],
  ])('a session description is refused with %s', (_name, lines, code, line) => {
    expect(parse(lines)).toMatchObject({ ok: false, code, line })
  })

  it('no value can inject a line into a serialised description', () => {
    if (!whole.ok) throw new Error(whole.detail)
    const { description } = whole
    const [media] = description.media
    for (const evil of ['x\r\na=y', 'x\ny', 'x\ry', 'x\0']) {
      const poisoned = [
        { ...description, sessionName: evil },
        { ...description, connection: evil },
        { ...description, timing: evil },
        { ...description, origin: { ...description.origin, sessionId: evil } },
        { ...description, origin: { ...description.origin, username: evil } },
        { ...description, media: [{ ...media!, kind: evil }] },
        { ...description, media: [{ ...media!, protocol: evil }] },
        { ...description, media: [{ ...media!, formats: [evil] }] },
        { ...description, media: [{ ...media!, codecs: [{ ...media!.codecs[0]!, name: evil }] }] },
        { ...description, media: [{ ...media!, codecs: [{ ...media!.codecs[0]!, fmtp: evil }] }] },
      ]
      for (const poison of poisoned) {
        expect(() => serialiseSdp(poison)).toThrow(expect.objectContaining({ code: 'sdp_invalid_value' }))
      }
    }
  })
})
