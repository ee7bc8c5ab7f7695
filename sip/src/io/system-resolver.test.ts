import { VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import type { NextHop } from '../transport/transport.ts'
import { SystemResolver, type SystemResolverOptions } from './system-resolver.ts'

const hop = (host: string, rest: Partial<NextHop> = {}): NextHop => ({
  host,
  port: undefined,
  transport: undefined,
  serverName: undefined,
  ...rest,
})

function resolverWith(options: Partial<SystemResolverOptions> = {}) {
  const asked: string[] = []
  const lookupAll = (host: string) => {
    asked.push(host)
    return Promise.resolve(['192.0.2.1', '2001:db8::1'])
  }
  const time = new VirtualTime()
  return { asked, time, resolver: new SystemResolver({ time, lookupAll, ...options }) }
}

describe('where a hop leads', () => {
  it('takes literals as they are, with the default port of the transport', async () => {
    const { resolver, asked } = resolverWith()
    expect(await resolver.resolve(hop('192.0.2.7'))).toEqual([
      { address: '192.0.2.7', port: 5060, transport: 'udp', serverName: '192.0.2.7' },
    ])
    expect(await resolver.resolve(hop('[2001:db8::7]', { transport: 'tls' }))).toEqual([
      { address: '2001:db8::7', port: 5061, transport: 'tls', serverName: '2001:db8::7' },
    ])
    expect(asked).toEqual([])
  })

  it('keeps the order of addresses, the given port, and the name that the certificate must carry', async () => {
    const { resolver } = resolverWith()
    const targets = await resolver.resolve(
      hop('sbc.example', { port: 5070, transport: 'tls', serverName: 'trunk.example' }),
    )
    expect(targets.map(target => target.address)).toEqual(['192.0.2.1', '2001:db8::1'])
    for (const target of targets)
      expect(target).toMatchObject({ port: 5070, transport: 'tls', serverName: 'trunk.example' })
  })

  it('lets an override stand before the DNS while the certificate is checked for the name that was asked', async () => {
    const overrides = new Map([['trunk.example', { host: '127.0.0.1', port: 15061, transport: 'tls' as const }]])
    const { resolver, asked } = resolverWith({ overrides })
    expect(await resolver.resolve(hop('Trunk.example', { port: 5061 }))).toEqual([
      { address: '127.0.0.1', port: 15061, transport: 'tls', serverName: 'Trunk.example' },
    ])
    expect(asked).toEqual([])
  })

  it('finds nothing for names that are none, for failures and for silence', async () => {
    const { resolver, asked } = resolverWith()
    for (const host of ['', 'a b', 'a..b', '-x.example', 'x'.repeat(300), 'evil\u0000.example'])
      expect(await resolver.resolve(hop(host))).toEqual([])
    expect(asked).toEqual([])
    const failing = resolverWith({ lookupAll: () => Promise.reject(new Error('SERVFAIL')) })
    expect(await failing.resolver.resolve(hop('a.example'))).toEqual([])
    const silent = resolverWith({ lookupAll: () => new Promise(() => {}) })
    const answer = silent.resolver.resolve(hop('a.example'))
    silent.time.advance(5_000)
    expect(await answer).toEqual([])
  })
})
