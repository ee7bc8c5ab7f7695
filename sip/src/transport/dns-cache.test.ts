import { VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { ScriptedDns, service } from './dns.fixture.ts'
import { DnsCache, type DnsCacheOptions } from './dns-cache.ts'

function cached(dns: ScriptedDns, options: Partial<DnsCacheOptions> = {}) {
  const time = new VirtualTime()
  return { time, cache: new DnsCache(dns, { time, ...options }) }
}

describe('DnsCache', () => {
  it('an answer, empty or not, is cached for 30 s, and concurrent queries share one question', async () => {
    const dns = new ScriptedDns({ srv: { 'a.example': [service(0, 0, 5060, 'b.example')] } })
    const { time, cache } = cached(dns)
    const [one, two] = await Promise.all([cache.srv('a.example'), cache.srv('A.example')])
    expect(one).toBe(two)
    expect(await cache.naptr('a.example')).toEqual([])
    time.advance(29_999)
    await cache.srv('a.example')
    await cache.naptr('a.example')
    expect(dns.queries).toEqual(['SRV a.example', 'NAPTR a.example'])
    time.advance(1)
    await cache.srv('a.example')
    expect(dns.queries).toHaveLength(3)
  })

  it('the last answer is served for an hour while the DNS does not respond', async () => {
    const dns = new ScriptedDns({ addresses: { 'a.example': ['192.0.2.1'] } })
    const { time, cache } = cached(dns, { concurrency: 1 })
    await cache.addresses('a.example')
    dns.addresses = () => Promise.reject(new Error('SERVFAIL'))
    time.advance(30_000)
    expect(await cache.addresses('a.example')).toEqual(['192.0.2.1'])
    time.advance(3_600_000)
    await expect(cache.addresses('a.example')).rejects.toThrow('SERVFAIL')
  })

  it('an unanswered query fails after its timeout and is not repeated for 5 s', async () => {
    const dns = new ScriptedDns({})
    let queries = 0
    dns.srv = () => {
      queries++
      return new Promise(() => {})
    }
    const { time, cache } = cached(dns)
    const answer = cache.srv('a.example')
    time.advance(2_000)
    await expect(answer).rejects.toMatchObject({ code: 'dns_timeout' })
    time.advance(4_000)
    await expect(cache.srv('a.example')).rejects.toMatchObject({ code: 'dns_timeout' })
    expect(queries).toBe(1)
  })

  it('the number of cached names and of concurrent queries is limited', async () => {
    const dns = new ScriptedDns({})
    const { cache } = cached(dns, { capacity: 2, concurrency: 2 })
    for (const name of ['a', 'b', 'c', 'd', 'a']) await cache.srv(name)
    expect(dns.queries).toEqual(['SRV a', 'SRV b', 'SRV c', 'SRV d', 'SRV a'])
    dns.srv = () => new Promise(() => {})
    for (const name of ['e', 'f']) cache.srv(name).catch(() => {})
    await expect(cache.srv('g')).rejects.toMatchObject({ code: 'dns_busy' })
  })
})
