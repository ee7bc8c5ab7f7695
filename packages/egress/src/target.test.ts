import { describe, expect, it } from 'vitest'
import { isPermitted, isPermittedHost } from './target.ts'

const ALLOW = [
  { host: '10.0.0.9', port: 5061 },
  { host: 'pbx.internal', port: 5060 },
]

describe('a host that a tenant names', () => {
  it.each(['sip.example.com', '8.8.8.8', '10.0.0.9', 'pbx.internal', 'rebinding.example'])('%s may be stored', host => {
    expect(isPermittedHost(host, ALLOW)).toBe(true)
  })

  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '169.254.169.254',
    '10.0.0.1',
    'localhost',
    'LOCALHOST.',
    '::1',
    'a b',
    '',
  ])('%s is refused', host => expect(isPermittedHost(host, ALLOW)).toBe(false))
})

describe('an address that a name resolves to', () => {
  it('an address that a name resolves to is contacted if it is public, or staff allow the name or the address at that port', () => {
    expect(isPermitted('sip.example.com', '8.8.8.8', 5061, ALLOW)).toBe(true)
    expect(isPermitted('sip.example.com', '10.0.0.9', 5061, ALLOW)).toBe(true)
    expect(isPermitted('PBX.internal', '192.168.1.2', 5060, ALLOW)).toBe(true)
    expect(isPermitted('pbx.internal', '192.168.1.2', 5061, ALLOW)).toBe(false)
    for (const address of ['127.0.0.1', '169.254.169.254', '10.0.0.1', '::1', '::ffff:10.0.0.1', 'fd00::1'])
      expect(isPermitted('sip.example.com', address, 5061, ALLOW), address).toBe(false)
  })
})
