import { SeededRandom, systemTime, type Time, VirtualTime } from '@parley/kernel'
import { afterEach, describe, expect, it } from 'vitest'
import { pointer, service } from '../transport/dns.fixture.ts'
import type { DnsPort } from '../transport/dns.ts'
import type { NextHop } from '../transport/transport.ts'
import { cnameAnswer, DnsServer, naptrAnswer, type Reply, srvAnswer } from './dns-server.fixture.ts'
import { SystemDns } from './system-dns.ts'
import { SystemResolver } from './system-resolver.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const hop = (host: string, transport?: NextHop['transport']): NextHop => ({
  host,
  port: undefined,
  transport,
  serverName: undefined,
})

/** More than a loaded machine needs for an answer on loopback: no test that expects an answer may depend on the clock. */
const PATIENT_MS = 10_000

/** A resolver that asks a name server on loopback, and this machine for the addresses of localhost. */
async function resolverAt(reply: (question: string) => Reply, time: Time = systemTime, recordTimeoutMs = PATIENT_MS) {
  const server = await DnsServer.open(reply)
  const system = new SystemDns({ servers: [server.address] })
  closers.push(
    () => system.cancel(),
    () => server.close(),
  )
  const dns: DnsPort = {
    naptr: name => system.naptr(name),
    srv: name => system.srv(name),
    addresses: async name => (name === 'localhost' ? system.addresses(name) : ['192.0.2.9']),
  }
  const resolver = new SystemResolver({ time, dns, random: new SeededRandom(1), cache: { recordTimeoutMs } })
  const located = async (to: NextHop) =>
    (await resolver.resolve(to)).map(({ transport, address, port }) => `${transport} ${address}:${port}`)
  return { server, located, resolver }
}

const zone: Readonly<Record<string, Reply>> = {
  'NAPTR trunk.example': [
    naptrAnswer(pointer(20, 1, 'SIP+D2U', '_sip._udp.trunk.example')),
    naptrAnswer(pointer(10, 1, 'SIPS+D2T', '_sips._tcp.trunk.example')),
  ],
  'SRV _sips._tcp.trunk.example': [
    srvAnswer(service(20, 0, 5071, 'localhost')),
    srvAnswer(service(10, 0, 5061, 'localhost')),
  ],
}

describe('RFC 3263 against a name server', () => {
  it('the servers of a trunk are found and cached for 30 s', async () => {
    const time = new VirtualTime()
    const { server, resolver } = await resolverAt(question => zone[question] ?? 'nxdomain', time)
    const targets = await resolver.resolve(hop('trunk.example'))
    const ipv4 = targets.filter(({ address }) => address === '127.0.0.1')
    expect(ipv4).toEqual([
      { transport: 'tls', address: '127.0.0.1', port: 5061, serverName: 'trunk.example' },
      { transport: 'tls', address: '127.0.0.1', port: 5071, serverName: 'trunk.example' },
    ])
    time.advance(29_999)
    await resolver.resolve(hop('trunk.example'))
    const once = ['NAPTR trunk.example', 'SRV _sips._tcp.trunk.example']
    expect(server.queries).toEqual(once)
    time.advance(1)
    await resolver.resolve(hop('trunk.example'))
    expect(server.queries).toEqual([...once, ...once])
  })

  it.each<[string, Reply]>([
    ['there is no such name', 'nxdomain'],
    ['there is no such record', []],
    ['the server fails', 'servfail'],
    ['the server is silent', 'silence'],
    ['the answer is garbage', Buffer.from('no DNS at all, but longer than any header would be')],
    ['the answer is cut short', Buffer.from([0x81, 0x80, 0, 1])],
    ['the answer is an alias of itself', [cnameAnswer('_sips._tcp.trunk.example')]],
    ['a record is cut short', [{ type: 33, data: Buffer.of(0, 1) }]],
  ])('the addresses of the name are used if %s', async (_why, reply) => {
    const { located } = await resolverAt(() => reply, systemTime, 60)
    expect(await located(hop('trunk.example', 'tls'))).toEqual(['tls 192.0.2.9:5061'])
    expect(await located(hop('trunk.example'))).toEqual(['udp 192.0.2.9:5060'])
  })

  it('no target is found if the domain declares the service unavailable', async () => {
    const { located } = await resolverAt(() => [srvAnswer(service(0, 0, 0, ''))])
    expect(await located(hop('trunk.example', 'tls'))).toEqual([])
  })

  it('only the best few of a thousand records are used', async () => {
    const many = Array.from({ length: 1000 }, (_, i) => srvAnswer(service(1000 - i, 0, 5061 + i, 'a.example')))
    const { located } = await resolverAt(question => (question.startsWith('SRV') ? many : 'nxdomain'))
    const targets = await located(hop('trunk.example', 'tls'))
    expect(targets).toEqual(Array.from({ length: 16 }, (_, i) => `tls 192.0.2.9:${6060 - i}`))
  })

  it('a lost query is repeated after half a second', async () => {
    let asked = 0
    const server = await DnsServer.open(question => (asked++ < 1 ? 'silence' : (zone[question] ?? 'nxdomain')))
    const system = new SystemDns({ servers: [server.address] })
    closers.push(() => server.close())
    expect(await system.srv('_sips._tcp.trunk.example')).toHaveLength(2)
    expect(asked).toBeGreaterThanOrEqual(2)
    expect(server.queries).toEqual(['SRV _sips._tcp.trunk.example'])
  })

  it('localhost is not looked up at a name server', async () => {
    const { server, located } = await resolverAt(() => 'silence')
    expect(await located(hop('localhost'))).toContain('udp 127.0.0.1:5060')
    expect(server.queries).toEqual([])
  })
})
