import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { pointer, ScriptedDns, service } from './dns.fixture.ts'
import { type ResolveOverride, ServerLocator } from './server-location.ts'
import type { NextHop } from './transport.ts'

const hop = (host: string, rest: Partial<NextHop> = {}): NextHop => ({
  host,
  port: undefined,
  transport: undefined,
  serverName: undefined,
  ...rest,
})

/** "transport address:port", in order. */
async function located(dns: ScriptedDns, to: NextHop, overrides: Record<string, readonly ResolveOverride[]> = {}) {
  const locator = new ServerLocator({ dns, random: new SeededRandom(1), overrides: new Map(Object.entries(overrides)) })
  const targets = await locator.resolve(to)
  return targets.map(({ transport, address, port }) => `${transport} ${address}:${port}`)
}

/** RFC 3263 section 4.1 and 4.2, with priorities where the RFC has weights only. */
const example = () =>
  new ScriptedDns({
    naptr: {
      'example.com': [
        pointer(100, 50, 'SIP+D2U', '_sip._udp.example.com'),
        pointer(50, 50, 'SIPS+D2T', '_sips._tcp.example.com'),
        pointer(90, 50, 'SIP+D2T', '_sip._tcp.example.com'),
      ],
    },
    srv: {
      '_sips._tcp.example.com': [
        service(1, 2, 5061, 'server2.example.com'),
        service(0, 1, 5071, 'server1.example.com'),
      ],
      '_sip._tcp.example.com': [service(0, 1, 5060, 'server1.example.com')],
      '_sip._udp.example.com': [service(0, 1, 5060, 'server1.example.com')],
    },
    addresses: {
      'example.com': ['192.0.2.9'],
      'server1.example.com': ['192.0.2.1', '2001:db8::1'],
      'server2.example.com': ['192.0.2.2'],
    },
  })

describe('locating servers, RFC 3263 section 4', () => {
  it.each([
    [
      'NAPTR chooses the transport, SRV the servers',
      hop('example.com'),
      ['NAPTR example.com'],
      ['tls 192.0.2.1:5071', 'tls 2001:db8::1:5071', 'tls 192.0.2.2:5061'],
    ],
    [
      'a transport in the URI skips NAPTR',
      hop('example.com', { transport: 'tcp' }),
      ['SRV _sip._tcp.example.com'],
      ['tcp 192.0.2.1:5060', 'tcp 2001:db8::1:5060'],
    ],
    ['a port skips SRV too', hop('example.com', { port: 5099 }), ['A example.com'], ['udp 192.0.2.9:5099']],
    ['both', hop('example.com', { port: 5099, transport: 'tls' }), ['A example.com'], ['tls 192.0.2.9:5099']],
    ['an address is asked of nobody', hop('192.0.2.7'), [], ['udp 192.0.2.7:5060']],
    ['an IPv6 address with a transport', hop('[2001:db8::7]', { transport: 'tls' }), [], ['tls 2001:db8::7:5061']],
    ['this machine is asked of no name server', hop('localhost', { transport: 'tls' }), ['A localhost'], []],
  ])('%s', async (_rule, to, firstQuery, targets) => {
    const dns = example()
    expect(await located(dns, to)).toEqual(targets)
    expect(dns.queries.slice(0, 1)).toEqual(firstQuery)
  })

  it('without NAPTR records, SRV records are looked up for every supported transport, TLS first', async () => {
    const dns = new ScriptedDns({
      srv: {
        '_sip._udp.a.example': [service(0, 0, 5060, 'u.example')],
        '_sips._tcp.a.example': [service(9, 0, 5061, 's.example')],
      },
      addresses: { 'u.example': ['192.0.2.1'], 's.example': ['192.0.2.2'] },
    })
    expect(await located(dns, hop('a.example'))).toEqual(['tls 192.0.2.2:5061', 'udp 192.0.2.1:5060'])
  })

  it('without NAPTR and SRV records, the addresses are used, over UDP or the transport of the URI', async () => {
    const dns = new ScriptedDns({ addresses: { 'a.example': ['192.0.2.1'] } })
    expect(await located(dns, hop('a.example'))).toEqual(['udp 192.0.2.1:5060'])
    expect(await located(dns, hop('a.example', { transport: 'tls' }))).toEqual(['tls 192.0.2.1:5061'])
  })

  it('only NAPTR records of the lowest order with a supported service are used, sorted by preference', async () => {
    const srv = Object.fromEntries(
      ['a', 'b', 'c'].map(name => [`${name}.example`, [service(0, 0, 5060, `${name}.example`)]]),
    )
    const dns = new ScriptedDns({
      naptr: {
        'x.example': [
          pointer(1, 1, 'SIPS+D2S', 'sctp.example'),
          pointer(1, 1, 'SIP+D2W', 'websocket.example'),
          { ...pointer(1, 1, 'SIP+D2U', 'rewritten.example'), regexp: '!.*!sip:evil@a.example!' },
          { ...pointer(1, 1, 'SIP+D2U', 'address.example'), flags: 'a' },
          pointer(2, 20, 'sip+d2u', 'b.example'),
          pointer(2, 10, 'SIP+D2T', 'a.example'),
          pointer(3, 1, 'SIPS+D2T', 'c.example'),
        ],
      },
      srv,
      addresses: { 'a.example': ['192.0.2.1'], 'b.example': ['192.0.2.2'], 'c.example': ['192.0.2.3'] },
    })
    expect(await located(dns, hop('x.example'))).toEqual(['tcp 192.0.2.1:5060', 'udp 192.0.2.2:5060'])
  })

  it('an SRV record with target "." means that the service is not available', async () => {
    const none = [service(0, 0, 0, '.')]
    const addresses = { 'a.example': ['192.0.2.1'] }
    const dns = new ScriptedDns({ srv: { '_sips._tcp.a.example': none }, addresses })
    expect(await located(dns, hop('a.example', { transport: 'tls' }))).toEqual([])
  })

  it('a failed query is treated as no record; if all queries fail, no target is found', async () => {
    const failure = new Error('SERVFAIL')
    const addresses = { 'a.example': ['192.0.2.1'] }
    const half = new ScriptedDns({
      naptr: { 'a.example': failure },
      srv: { '_sip._udp.a.example': failure },
      addresses,
    })
    expect(await located(half, hop('a.example'))).toEqual(['udp 192.0.2.1:5060'])
    expect(await located(new ScriptedDns({ addresses: { 'a.example': failure } }), hop('a.example'))).toEqual([])
  })

  it('invalid host names are not looked up, and the number of targets is limited', async () => {
    const dns = new ScriptedDns({
      srv: {
        '_sip._udp.a.example': Array.from({ length: 1000 }, (_, i) => service(i, 0, 5060, `host${i}.example`)),
        '_sip._tcp.a.example': [service(0, 0, 5060, 'a b'), service(0, 0, 70_000, 'host0.example')],
      },
      addresses: { 'host0.example': Array.from({ length: 1000 }, () => '192.0.2.1') },
    })
    for (const host of ['', 'a b', 'a..b', '-x.example', 'x'.repeat(300), 'evil\u0000.example'])
      expect(await located(dns, hop(host))).toEqual([])
    expect(dns.queries).toEqual([])
    expect(await located(dns, hop('a.example'))).toHaveLength(16)
    expect(dns.queries.length).toBeLessThan(30)
  })
})

describe('the name that TLS has to prove (RFC 5922 section 4)', () => {
  it("the certificate is verified for the hop's name, never for a name from NAPTR or SRV", async () => {
    const locator = new ServerLocator({ dns: example(), random: new SeededRandom(1) })
    const names = async (to: NextHop) => new Set((await locator.resolve(to)).map(target => target.serverName))
    expect(await names(hop('example.com'))).toEqual(new Set(['example.com']))
    expect(await names(hop('192.0.2.7', { serverName: 'trunk.example' }))).toEqual(new Set(['trunk.example']))
  })
})

describe('resolve overrides', () => {
  const entries = {
    'trunk.example': [
      { host: '127.0.0.1', port: 15_061, transport: 'tls' as const },
      { host: 'server2.example.com' },
      { host: '[::1]', transport: 'udp' as const },
    ],
  }

  it('overrides are tried in their order; the hop supplies a missing port or transport', async () => {
    const dns = example()
    expect(await located(dns, hop('Trunk.example.', { port: 5070 }), entries)).toEqual([
      'tls 127.0.0.1:15061',
      'udp 192.0.2.2:5070',
      'udp ::1:5070',
    ])
    expect(dns.queries).toEqual(['A server2.example.com'])
  })

  it('an override never turns a TLS hop into another transport', async () => {
    expect(await located(example(), hop('trunk.example', { transport: 'tls' }), entries)).toEqual([
      'tls 127.0.0.1:15061',
      'tls 192.0.2.2:5061',
    ])
  })
})
