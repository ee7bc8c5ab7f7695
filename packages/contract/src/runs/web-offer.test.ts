import { describe, expect, it } from 'vitest'
import { readWebCandidates, readWebOffer } from './web-offer.ts'

const OFFER = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'a=group:BUNDLE 0 1',
  'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
  'a=mid:0',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111 63 0',
  'a=ice-ufrag:abcd',
  'a=ice-pwd:0123456789012345678901',
  'a=fingerprint:sha-256 00:11',
  'a=mid:1',
  'a=rtpmap:111 opus/48000/2',
  'a=fmtp:111 minptime=10;useinbandfec=1',
]
const without = (start: string) => OFFER.filter(line => !line.startsWith(start)).join('\r\n')

describe('the offer of a browser', () => {
  it('the offer of a browser names its audio line, the payload type of Opus and its parameters', () => {
    expect(readWebOffer(OFFER.join('\r\n'))).toEqual({
      mid: '1',
      payloadType: 111,
      fmtp: 'minptime=10;useinbandfec=1',
    })
  })

  it.each([
    ['v=0', /not a session description/],
    ['m=audio', /no audio/],
    ['a=fingerprint', /no a=fingerprint/],
    ['a=ice-pwd', /no ICE credentials/],
    ['a=rtpmap', /no opus/],
    ['a=mid', /without a=mid/],
  ])('an offer without %s is refused with what it lacks', (start, lack) => {
    expect(readWebOffer(without(start))).toMatch(lack)
  })

  it('an offer longer than 32,768 characters is refused unread', () => {
    expect(readWebOffer(`${OFFER.join('\r\n')}${'a'.repeat(32_768)}`)).toMatch(/longer than/)
  })
})

it('candidates of a fragment belong to its media lines, and names of multicast DNS are left out', () => {
  const fragment = [
    'a=ice-ufrag:abcd',
    'm=audio 9 UDP/TLS/RTP/SAVPF 0',
    'a=mid:1',
    'a=candidate:1 1 udp 2113937151 192.0.2.7 50000 typ host',
    'a=candidate:2 1 udp 2113937151 0f1e2d.local 50001 typ host',
  ]
  expect(readWebCandidates(fragment.join('\r\n'))).toEqual([
    { candidate: 'candidate:1 1 udp 2113937151 192.0.2.7 50000 typ host', mid: '1' },
  ])
})
