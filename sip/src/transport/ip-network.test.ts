import { describe, expect, it } from 'vitest'
import { isInNetworks, parseIpNetwork } from './ip-network.ts'

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
