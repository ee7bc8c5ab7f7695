import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseIpAddress, unmapAddress } from './ip-address.ts'

const hex = (text: string) => {
  const bytes = parseIpAddress(text)
  return bytes && Buffer.from(bytes).toString('hex')
}

describe('IP literals', () => {
  it.each([
    ['192.0.2.255', 'c00002ff'],
    ['::', '0'.repeat(32)],
    ['::1', `${'0'.repeat(31)}1`],
    ['2001:DB8::8:800:200C:417A', '20010db80000000000080800200c417a'],
    ['::ffff:192.0.2.1', `${'0'.repeat(20)}ffffc0000201`],
    ['1:2:3:4:5:6:7::', '00010002000300040005000600070000'],
  ])('the IP address %s is parsed', (text, bytes) => expect(hex(text)).toBe(bytes))

  it('the parser agrees with node:net about what is an IP address', () => {
    const nearly = fc.stringMatching(/^[0-9a-f:.]{0,24}$/)
    const texts = fc.oneof(fc.ipV4(), fc.ipV6(), nearly)
    const agree = (text: string) => {
      expect(parseIpAddress(text)?.length).toBe({ 4: 4, 6: 16 }[isIP(text)])
    }
    fc.assert(fc.property(texts, agree), { numRuns: 2000 })
  })

  it('an IPv4-mapped IPv6 address is written as IPv4; other addresses are unchanged', () => {
    expect(unmapAddress('::ffff:127.0.0.1')).toBe('127.0.0.1')
    expect(unmapAddress('::1')).toBe('::1')
    expect(unmapAddress('2001:db8::ffff:1.2.3.4')).toBe('2001:db8::ffff:1.2.3.4')
  })
})
