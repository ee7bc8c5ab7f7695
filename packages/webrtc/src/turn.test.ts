import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { iceServersFor, isEngineRelay, parseIceUrl } from './turn.ts'

describe('TURN servers', () => {
  it('a credential names its expiry in seconds, and the server can check it with the shared secret alone', () => {
    const servers = iceServersFor(
      { urls: ['stun:stun.example', 'turn:turn.example:3478'], secret: 'shared' },
      'run-1',
      1_700_000_000_500,
    )
    const username = '1700000001:run-1'
    const credential = createHmac('sha1', 'shared').update(username).digest('base64')
    expect(servers).toEqual([{ url: 'stun:stun.example' }, { url: 'turn:turn.example:3478', username, credential }])
  })

  it('addresses are read with the default ports of RFC 7064 and RFC 7065', () => {
    expect(parseIceUrl('turn:turn.example')).toEqual({
      scheme: 'turn',
      host: 'turn.example',
      port: 3478,
      transport: 'udp',
    })
    expect(parseIceUrl('turns:turn.example')).toMatchObject({ port: 5349, transport: 'tcp' })
    expect(parseIceUrl('turn:192.0.2.1:80?transport=tcp')).toMatchObject({ port: 80, transport: 'tcp' })
    expect(parseIceUrl('stun:stun.example:19302')).toMatchObject({ scheme: 'stun', port: 19_302 })
  })

  it.each([
    '',
    'turn.example',
    'http://turn.example',
    'turn://turn.example',
    'turn:turn.example:0',
    'turn:turn.example:70000',
    'turn:turn.example?transport=sctp',
    'stun:stun.example?transport=udp',
    'turn:user@turn.example',
  ])('"%s" is no address of a TURN or STUN server', url => {
    expect(parseIceUrl(url)).toBe(null)
  })

  it('the engine relays through TURN over UDP only', () => {
    const urls = ['turn:a', 'turn:a?transport=udp', 'turn:a?transport=tcp', 'turns:a', 'stun:a']
    expect(urls.filter(isEngineRelay)).toEqual(['turn:a', 'turn:a?transport=udp'])
  })
})
