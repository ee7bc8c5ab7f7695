import { parseUri, type SipRequest } from '@parley/leg'
import { describe, expect, it } from 'vitest'
import { RouteTable } from './routes.ts'

function invite(uri: string): SipRequest {
  return { uri: parseUri(uri) } as SipRequest
}

describe('an inbound call finds its route by the token alone', () => {
  const table = new RouteTable([
    { name: 'open', token: 'abcdefghijkl', security: 'srtp-required' },
    { name: 'pinned', token: 'mnopqrstuvwx', security: 'srtp-required', sourceAddresses: ['192.0.2.7'] },
  ])

  it.each([
    ['as the user', 'sip:abcdefghijkl@localhost:5061;transport=tls'],
    ['as a URI parameter', 'sip:+15550001111@localhost;token=abcdefghijkl'],
    ['as the first label of the host', 'sip:+15550001111@abcdefghijkl.calls.example'],
  ])('%s', (_where, uri) => {
    expect(table.find(invite(uri), '203.0.113.9')?.name).toBe('open')
  })

  it.each([
    ['no token', 'sip:+15550001111@localhost'],
    ['half a token', 'sip:abcdef@localhost'],
    ['another scheme', 'tel:+15550001111'],
    ['an empty user', 'sip:localhost'],
  ])('%s finds nothing', (_what, uri) => {
    expect(table.find(invite(uri), '203.0.113.9')).toBeNull()
  })

  it('knows the addresses that a trunk lists', () => {
    expect([table.lists('192.0.2.7'), table.lists('203.0.113.9')]).toEqual([true, false])
  })

  it('asks for the source as well where one is set', () => {
    expect(table.find(invite('sip:mnopqrstuvwx@localhost'), '203.0.113.9')).toBeNull()
    expect(table.find(invite('sip:mnopqrstuvwx@localhost'), '192.0.2.7')?.name).toBe('pinned')
  })
})
