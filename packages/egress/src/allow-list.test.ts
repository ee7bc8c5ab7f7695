import { describe, expect, it } from 'vitest'
import { parseEgressAllow } from './allow-list.ts'

describe('PARLEY_EGRESS_ALLOW', () => {
  it('PARLEY_EGRESS_ALLOW lists hosts and addresses, each with a port', () => {
    expect(parseEgressAllow(' 127.0.0.1:8090, crm.internal:443 ,[::1]:8090,')).toEqual([
      { host: '127.0.0.1', port: 8090 },
      { host: 'crm.internal', port: 443 },
      { host: '::1', port: 8090 },
    ])
  })

  it.each(['', ' ', ','])('%j allows nothing', text => expect(parseEgressAllow(text)).toEqual([]))

  it.each([
    ['CRM.Internal.:80', 'crm.internal'],
    ['[0:0:0:0:0:0:0:1]:80', '::1'],
    ['0x7f000001:80', '127.0.0.1'],
  ])('%s means %s', (text, host) => expect(parseEgressAllow(text)).toEqual([{ host, port: 80 }]))

  it.each([
    'crm.internal',
    'crm.internal:',
    ':80',
    'crm.internal:0',
    'crm.internal:65536',
    'crm.internal:80x',
    'http://crm.internal:80',
    'user@crm.internal:80',
    'crm internal:80',
    '::1:80',
    '[::1]',
    '[::1',
    '*:80',
    '10.0.0.0/8:80',
    'crm.internal:80-90',
    '1.2.3.999:80',
    '.:80',
  ])('an invalid entry is named in the error: %j', entry => {
    expect(parseEgressAllow(`a.test:1,${entry},b.test:2`)).toBe(
      `"${entry}" must be HOST:PORT, such as 127.0.0.1:8090 or [::1]:8090`,
    )
  })

  it('PARLEY_EGRESS_ALLOW has a limited number of entries', () => {
    expect(parseEgressAllow('a.test:1,'.repeat(1001))).toBe('at most 1000 entries')
  })
})
