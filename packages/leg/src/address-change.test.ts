import { SeededRandom } from '@parley/kernel'
import { acceptAnswer, createOffer, type LocalMedia } from '@parley/media'
import { parseUri, type SipUri } from '@parley/sip'
import { describe, expect, it } from 'vitest'
import { VirtualLine } from './virtual-line.ts'

const SDP = 'application/sdp'

describe('a change of the media address', () => {
  it('a peer that changes its media address by re-INVITE receives RTP only at the new address', async () => {
    const line = new VirtualLine()
    const destinations: string[] = []
    line.packets.onSend = (_from, _packet, _length, ipv4, port) => {
      destinations.push(`${ipv4 & 0xff}:${port}`)
    }
    const local: LocalMedia = {
      address: '192.0.2.1',
      port: 40_000,
      sessionId: '7',
      security: 'srtp-required',
      random: new SeededRandom(7),
    }
    const first = createOffer(local)
    let answer: Uint8Array | undefined
    const session = line.a.context.userAgent.invite({
      uri: parseUri('sip:bob@192.0.2.2;transport=tls') as SipUri,
      from: { displayName: undefined, uri: parseUri('sip:alice@192.0.2.1')!, params: new Map() },
      body: { contentType: SDP, bytes: first.offer },
    })
    session.onEvent(event => {
      if (event.type === 'answered') answer = event.body?.bytes
    })
    await line.pass(1000)
    expect(new Set(destinations.filter(to => !to.endsWith('1')))).toEqual(new Set(['1:40000']))

    const accepted = acceptAnswer(first.pending, answer!)
    if (!accepted.ok) throw new Error(accepted.detail)
    const second = createOffer({ ...local, address: '192.0.2.77', port: 41_000, previous: accepted.state })
    session.reoffer({ contentType: SDP, bytes: second.offer })
    await line.pass(200)
    destinations.length = 0
    await line.pass(1000)
    // 50 packets a second, all to the new address; RTCP has an odd port.
    expect(new Set(destinations.filter(to => !to.endsWith('1')))).toEqual(new Set(['77:41000']))
    expect(destinations.length).toBeGreaterThanOrEqual(50)
  })
})
