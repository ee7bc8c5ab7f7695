import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { IpNetworkTable, isInNetworks, parseIpNetwork } from './ip-network.ts'

const networks = (...texts: string[]) => texts.map(text => parseIpNetwork(text)!)

describe('networks of addresses', () => {
  it.each([
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['192.168.128.0/17', '192.168.255.1', true],
    ['192.168.128.0/17', '192.168.127.255', false],
    ['192.0.2.7', '192.0.2.7', true],
    ['192.0.2.7', '192.0.2.6', false],
    ['192.0.2.6/31', '192.0.2.7', true],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '2001:db8::1', true],
    ['::/0', '192.0.2.1', false],
    ['fd00::/8', 'fdff::1', true],
    ['2001:db8:8000::/33', '2001:db8:7fff::1', false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['10.0.0.0/8', 'trunk.example', false],
    ['10.0.0.0/8', '', false],
  ])('whether the network %s contains the address "%s"', (network, address, inside) => {
    expect(isInNetworks(address, networks(network))).toBe(inside)
    expect(isInNetworks(address, networks('198.51.100.1', network))).toBe(inside)
    expect(isInNetworks(address, [])).toBe(false)
  })

  it.each([
    '',
    '10.0.0.0/33',
    '10.0.0.1/8',
    '10.0.0.0/08',
    '10.0.0.0/',
    '10.0.0/8',
    'fd00::/129',
    'fd01::/8',
    'x/8',
    '10.0.0.0/8/8',
  ])('the malformed network "%s" is refused', text => expect(parseIpNetwork(text)).toBeUndefined())
})

describe('a table of networks', () => {
  it('the values of every network that contains the address are found', () => {
    const table = new IpNetworkTable<string>()
    const entries = ['10.0.0.0/8', '10.1.0.0/16', '10.1.2.3', '10.1.2.3', '2001:db8::/32', '0.0.0.0/0']
    for (const [i, text] of entries.entries()) table.add(parseIpNetwork(text)!, `${text} ${i}`)
    expect(table.find('10.1.2.3').sort()).toEqual([
      '0.0.0.0/0 5',
      '10.0.0.0/8 0',
      '10.1.0.0/16 1',
      '10.1.2.3 2',
      '10.1.2.3 3',
    ])
    expect(table.find('::ffff:10.2.0.1').sort()).toEqual(['0.0.0.0/0 5', '10.0.0.0/8 0'])
    expect(table.find('2001:db8::1')).toEqual(['2001:db8::/32 4'])
    expect(table.find('2001:db9::1')).toEqual([])
    expect(table.find('no address')).toEqual([])
  })

  it('the table agrees with the comparison of one network after the other', () => {
    const random = new SeededRandom(1)
    const address = () => [...random.bytes(4)].map(byte => byte & 3).join('.')
    const prefix = (text: string, bits: number) => {
      const bytes = text
        .split('.')
        .map((byte, i) => Number(byte) & ((0xff00 >> Math.min(8, Math.max(0, bits - 8 * i))) & 0xff))
      return `${bytes.join('.')}/${bits}`
    }
    const texts = Array.from({ length: 200 }, () => prefix(address(), random.bytes(1)[0]! % 33))
    const table = new IpNetworkTable<string>()
    for (const text of texts) table.add(parseIpNetwork(text)!, text)
    for (let i = 0; i < 200; i++) {
      const one = address()
      const expected = texts.filter(text => isInNetworks(one, networks(text)))
      expect(table.find(one).sort()).toEqual(expected.sort())
    }
  })
})
