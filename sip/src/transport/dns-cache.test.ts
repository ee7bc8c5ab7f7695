import { VirtualTime } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { ScriptedDns, service } from './dns.fixture.ts'
import { DnsCache, type DnsCacheOptions } from './dns-cache.ts'

function cached(dns: ScriptedDns, options: Partial<DnsCacheOptions> = {}) {
  const time = new VirtualTime()
  return { time, cache: new DnsCache(dns, { time, ...options }) }
}

describe('what was asked of the DNS', () => {
  it('is remembered for 30 s, also when there is nothing, and asked once at a time', async () => {
    const dns = new ScriptedDns({ srv: { 'a.example': [service(0, 0, 5060, 'b.example')] } })
    const { time, cache } = cached(dns)
    const [one, two] = await Promise.all([cache.srv('a.example'), cache.srv('A.example')])
    expect(one).toBe(two)
    expect(await cache.naptr('a.example')).toEqual([])
    time.advance(29_999)
    await cache.srv('a.example')
    await cache.naptr('a.example')
    expect(dns.asked).toEqual(['SRV a.example', 'NAPTR a.example'])
    time.advance(1)
    await cache.srv('a.example')
    expect(dns.asked).toHaveLength(3)
  })

  it('stands in for an answer that does not come, for an hour', async () => {
    const dns = new ScriptedDns({ addresses: { 'a.example': ['192.0.2.1'] } })
    const { time, cache } = cached(dns, { concurrency: 1 })
    await cache.addresses('a.example')
    dns.addresses = () => Promise.reject(new Error('SERVFAIL'))
    time.advance(30_000)
    expect(await cache.addresses('a.example')).toEqual(['192.0.2.1'])
    time.advance(3_600_000)
    await expect(cache.addresses('a.example')).rejects.toThrow('SERVFAIL')
  })

  it('fails in time when nobody answers, and is not asked again for 5 s', async () => {
    const dns = new ScriptedDns({})
    let asked = 0
    dns.srv = () => {
      asked++
      return new Promise(() => {})
    }
    const { time, cache } = cached(dns)
    const answer = cache.srv('a.example')
    time.advance(2_000)
    await expect(answer).rejects.toMatchObject({ code: 'dns_timeout' })
    time.advance(4_000)
    await expect(cache.srv('a.example')).rejects.toMatchObject({ code: 'dns_timeout' })
    expect(asked).toBe(1)
  })

  it('is bounded: names that are remembered, and questions under way', async () => {
    const dns = new ScriptedDns({})
    const { cache } = cached(dns, { capacity: 2, concurrency: 2 })
    for (const name of ['a', 'b', 'c', 'a']) await cache.srv(name)
    expect(dns.asked).toEqual(['SRV a', 'SRV b', 'SRV c', 'SRV a'])
    dns.srv = () => new Promise(() => {})
    for (const name of ['d', 'e']) cache.srv(name).catch(() => {})
    await expect(cache.srv('f')).rejects.toMatchObject({ code: 'dns_busy' })
  })
})
