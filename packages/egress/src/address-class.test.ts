import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalHost, isPublicAddress } from './address-class.ts'

describe('isPublicAddress accepts', () => {
  it.each(['1.1.1.1', '8.8.8.8', '93.184.216.34', '172.15.255.255', '172.32.0.0', '100.63.255.255', '100.128.0.0'])(
    '%s',
    address => expect(isPublicAddress(address)).toBe(true),
  )

  it.each(['223.255.255.255', '169.253.255.255', '192.0.1.0', '2606:4700::1111', '2a00:1450:4009::200e', '3ffe::1'])(
    '%s',
    address => expect(isPublicAddress(address)).toBe(true),
  )

  it.each(['::ffff:8.8.8.8', '::ffff:808:808', '64:ff9b::808:808', '64:ff9b::8.8.8.8'])(
    '%s, an IPv6 address that contains a public IPv4 address',
    address => expect(isPublicAddress(address)).toBe(true),
  )
})

describe('isPublicAddress rejects', () => {
  it.each([
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'this network'],
    ['10.0.0.1', 'private'],
    ['10.255.255.255', 'private'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['100.100.100.200', 'a metadata address'],
    ['100.127.255.255', 'carrier-grade NAT'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['168.63.129.16', 'a metadata address'],
    ['169.254.0.1', 'link-local'],
    ['169.254.169.254', 'a metadata address'],
    ['169.254.170.2', 'a metadata address'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.192', 'a metadata address'],
    ['192.0.2.1', 'documentation'],
    ['192.88.99.1', '6to4'],
    ['192.168.1.1', 'private'],
    ['198.18.0.1', 'benchmarks'],
    ['198.19.255.255', 'benchmarks'],
    ['198.51.100.1', 'documentation'],
    ['203.0.113.1', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.250', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::2', 'reserved'],
    ['::127.0.0.1', 'IPv4-compatible'],
    ['::8.8.8.8', 'IPv4-compatible'],
    ['::ffff:127.0.0.1', 'mapped loopback'],
    ['::ffff:7f00:1', 'mapped loopback'],
    ['0:0:0:0:0:ffff:a9fe:a9fe', 'a mapped metadata address'],
    ['::FFFF:10.0.0.1', 'mapped private'],
    ['::ffff:0:127.0.0.1', 'translated'],
    ['64:ff9b::127.0.0.1', 'NAT64 to loopback'],
    ['64:ff9b::a00:1', 'NAT64 to private'],
    ['64:ff9b::a9fe:a9fe', 'NAT64 to a metadata address'],
    ['64:ff9b:1::808:808', 'local NAT64'],
    ['100::1', 'discard'],
    ['2001::1', 'Teredo'],
    ['2001:0:7f00:1::', 'Teredo'],
    ['2001:2::1', 'benchmarks'],
    ['2001:10::1', 'ORCHID'],
    ['2001:20::1', 'ORCHID'],
    ['2001:db8::1', 'documentation'],
    ['2002:7f00:1::', '6to4 to loopback'],
    ['2002:a00:1::1', '6to4 to private'],
    ['2002:808:808::1', '6to4'],
    ['3fff::1', 'documentation'],
    ['4000::1', 'unassigned'],
    ['5f00::1', 'segment routing'],
    ['fc00::1', 'unique local'],
    ['fd00:ec2::254', 'a metadata address'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local with a zone'],
    ['2606:4700::1111%eth0', 'with a zone'],
    ['fec0::1', 'site-local'],
    ['ff02::1', 'multicast'],
    ['localhost', 'no address'],
    ['127.1', 'no address'],
    ['', 'no address'],
  ])('%s (%s)', address => expect(isPublicAddress(address)).toBe(false))

  it('any IPv6 address that contains a private IPv4 address behind a mapping prefix', () => {
    const octet = fc.integer({ min: 0, max: 255 })
    fc.assert(
      fc.property(fc.constantFrom('::ffff:', '64:ff9b::', '::'), octet, octet, octet, (prefix, a, b, c) => {
        expect(isPublicAddress(`${prefix}10.${a}.${b}.${c}`)).toBe(false)
        expect(isPublicAddress(`${prefix}127.${a}.${b}.${c}`)).toBe(false)
        expect(isPublicAddress(`${prefix}172.${16 + (a % 16)}.${b}.${c}`)).toBe(false)
        expect(isPublicAddress(`${prefix}192.168.${b}.${c}`)).toBe(false)
        expect(isPublicAddress(`${prefix}169.254.${b}.${c}`)).toBe(false)
      }),
    )
  })

  it('without an exception: any text that a resolver might return', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.ipV6(), fc.ipV4()), text => typeof isPublicAddress(text) === 'boolean'),
    )
  })
})

describe('canonicalHost', () => {
  it.each([
    ['Example.COM.', 'example.com'],
    ['0x7f.1', '127.0.0.1'],
    ['::1', '::1'],
    ['[0:0::1]', '::1'],
    ['bücher.example', 'xn--bcher-kva.example'],
  ])('canonicalHost turns %s into %s', (written, canonical) => expect(canonicalHost(written)).toBe(canonical))

  it.each(['', 'a b', 'a/b', 'a@b', 'a?b', 'a#b', 'a\\b', 'a:b:c', '[::1', '1.2.3.256'])(
    'canonicalHost returns undefined for %j, which is no host',
    written => expect(canonicalHost(written)).toBeUndefined(),
  )
})
