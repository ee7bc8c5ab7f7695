import type { MediaParameters } from '@parley/media'
import { FollowedSources, parseIpv4 } from '@parley/media/testing'
import { parseIpNetwork } from '@parley/sip'
import { describe, expect, it } from 'vitest'
import { type LegDestinations, permitDestination } from './media-destinations.ts'
import { VirtualLine } from './virtual-line.ts'

const destinations: LegDestinations = {
  localNetworks: [parseIpNetwork('10.1.0.0/16')!],
  sources: [parseIpNetwork('172.16.5.0/24')!, parseIpNetwork('2001:db8::/32')!],
  isOwnSocket: (address, port) => address === '203.0.113.9' && port === 10_000,
  ownPorts: [{ address: '203.0.113.9', from: 10_000, to: 19_999 }],
  signallingAddress: () => '198.51.100.7',
}

function parameters(address: string, port = 20_000, rtcp?: { address: string; port: number }): MediaParameters {
  return {
    remote: { address, port },
    remoteRtcp: rtcp,
    direction: 'sendrecv',
    codec: 'PCMU',
    payloadType: 0,
    ptimeMs: 20,
    dtmfPayloadType: null,
    srtp: null,
  }
}

function permitted(...of: Parameters<typeof parameters>): MediaParameters {
  const result = permitDestination(parameters(...of), destinations)
  if (!result.ok) throw new Error(result.detail)
  return result.parameters
}

describe('where media is sent', () => {
  it.each([
    ['a link-local address', '169.254.169.254', 20_000],
    ['a port below 1024', '198.51.100.7', 53],
    ['a port of our own', '203.0.113.9', 10_000],
  ])('%s is refused', (_, address, port) => {
    expect(permitDestination(parameters(address, port), destinations).ok).toBe(false)
  })

  it('public addresses are allowed, and nothing is learnt for them', () => {
    for (const address of ['198.51.100.7', '172.32.0.1', '100.128.0.1', '203.0.113.9']) {
      expect(permitted(address)).toMatchObject({ remote: { address } })
      expect(Object.keys(permitted(address))).not.toContain('learnFrom')
      expect(permitted(address).remoteReachable).toBeUndefined()
    }
  })

  it('private addresses are reachable only in the local networks and those of the trunk', () => {
    for (const address of ['10.1.2.3', '172.16.5.9']) expect(permitted(address).remoteReachable).toBe(true)
    for (const address of ['10.2.0.1', '172.16.6.1', '192.168.1.5', '100.64.0.1', '127.0.0.1']) {
      expect(permitted(address).remoteReachable).toBe(false)
    }
  })

  it('a peer with a private address is learnt from its signalling address and the networks of the trunk', () => {
    expect(permitted('192.168.1.5').learnFrom).toEqual([
      { ipv4: 0xac10_0500, prefixBits: 24 },
      { ipv4: 0xc633_6407, prefixBits: 32 },
    ])
  })

  it('an RTCP address that is not allowed is ignored', () => {
    const rtcp = { address: '198.51.100.8', port: 30_001 }
    expect(permitted('198.51.100.7', 20_000, rtcp).remoteRtcp).toEqual(rtcp)
    for (const [address, port] of [
      ['169.254.1.1', 30_001],
      ['192.168.1.5', 30_001],
      ['198.51.100.8', 123],
      ['203.0.113.9', 10_000],
    ] as const) {
      expect(permitted('198.51.100.7', 20_000, { address, port }).remoteRtcp).toBeUndefined()
    }
  })
})

describe('RTCP without an address of its own goes to the port above RTP', () => {
  it('unless that port is our own: then no reports are sent', () => {
    expect(permitted('203.0.113.9', 9_998).remoteRtcp).toBeUndefined()
    expect(permitted('203.0.113.9', 9_999).remoteRtcp).toBeNull()
    expect(permitted('203.0.113.9', 9_999, { address: '203.0.113.9', port: 10_000 }).remoteRtcp).toBeNull()
    expect(permitted('203.0.113.9', 9_999, { address: '203.0.113.9', port: 9_000 }).remoteRtcp).toMatchObject({
      port: 9_000,
    })
  })
})

describe('sources that are answered though no description named them', () => {
  function follows(address: string, port = 20_000, of: MediaParameters = permitted('198.51.100.7')): boolean {
    const sources = new FollowedSources()
    sources.apply(of.sourceRules ?? null)
    return sources.allows(parseIpv4(address)!, port)
  }

  it('sources that no SDP named but that are answered are public, in the local networks or those of the trunk, or the peer of the signalling', () => {
    for (const address of ['198.51.100.99', '172.32.0.1', '10.1.2.3', '172.16.5.9']) expect(follows(address)).toBe(true)
    for (const address of ['10.2.0.1', '172.16.6.1', '192.168.1.5', '100.64.0.1', '127.0.0.1', '169.254.169.254'])
      expect(follows(address)).toBe(false)
    const result = permitDestination(parameters('198.51.100.7'), {
      ...destinations,
      signallingAddress: () => '192.168.1.5',
    })
    expect(result.ok && follows('192.168.1.5', 20_000, result.parameters)).toBe(true)
  })

  it('sources that no SDP named but that are answered are not ports of our own, even where our address lies in a local network', () => {
    expect(follows('203.0.113.9', 10_002)).toBe(false)
    expect(follows('203.0.113.9', 20_000)).toBe(true)
    const ownPorts = [{ address: '10.1.0.1', from: 10_000, to: 19_999 }]
    const result = permitDestination(parameters('198.51.100.7'), { ...destinations, ownPorts })
    expect(result.ok && follows('10.1.0.1', 10_002, result.parameters)).toBe(false)
  })

  it('sources that no SDP named but that are answered are limited as well while the peer has no address', () => {
    const result = permitDestination({ ...parameters('198.51.100.7'), remote: null }, destinations)
    expect(result.ok && follows('192.168.1.5', 20_000, result.parameters)).toBe(false)
  })
})

it('a caller whose packets come from a source that is not answered is heard, and gets audio at the address of its SDP alone', async () => {
  const line = new VirtualLine()
  line.a.context = { ...line.a.context, mediaAddressFor: () => '198.51.100.1' }
  const ownPorts = [{ address: '192.0.2.1', from: 1024, to: 65_535 }]
  line.b.limitMedia({ localNetworks: [], isOwnSocket: () => false, ownPorts })
  const destinations = new Set<number>()
  line.packets.onSend = (from, _packet, _length, ipv4) => {
    if (from.ipv4 === parseIpv4('192.0.2.2')) destinations.add(ipv4)
  }
  await line.dial()
  await line.pass(10_000)
  expect([...destinations]).toEqual([parseIpv4('198.51.100.1')])
  expect(await line.b.leg?.statistics()).toMatchObject({ sourcesRefused: 2 })
})

describe('a call to an address that gets no media', () => {
  it('an offer of such an address is refused with 488 and a Warning that names it', async () => {
    const line = new VirtualLine()
    line.b.limitMedia({ localNetworks: [], isOwnSocket: address => address === '192.0.2.1', ownPorts: [] })
    await line.dial()
    await line.pass(1000)
    expect(line.a.end).toMatchObject({ cause: 'rejected', sipStatus: 488, answered: false })
    expect(line.signalling.passed.find(({ text }) => text.includes(' 488 '))?.text).toMatch(
      /Warning: 399 parley "media is not sent to our own port 192\.0\.2\.1:\d+"/,
    )
  })

  it('an answer with such an address ends the call', async () => {
    const line = new VirtualLine()
    line.a.limitMedia({ localNetworks: [], isOwnSocket: address => address === '192.0.2.2', ownPorts: [] })
    await line.dial()
    await line.pass(2000)
    expect(line.a.end).toMatchObject({ cause: 'media-refused', answered: false })
  })
})
