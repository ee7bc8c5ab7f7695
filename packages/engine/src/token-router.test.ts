import { parseUri, type SipRequest } from '@parley/leg'
import { describe, expect, it } from 'vitest'
import { TokenRouter } from './token-router.ts'

function invite(uri: string): SipRequest {
  return { uri: parseUri(uri) } as SipRequest
}

describe('a router by tokens', () => {
  const router = new TokenRouter([
    { token: 'abcdefghijkl', decide: () => ({ kind: 'refused', status: 486 }) },
    { token: 'mnopqrstuvwx', decide: () => ({ kind: 'refused', status: 603 }) },
  ])

  it.each([
    ['as the user', 'sip:abcdefghijkl@localhost:5061;transport=tls', 486],
    ['as a URI parameter', 'sip:+15550001111@localhost;token=abcdefghijkl', 486],
    ['as the first label of the host', 'sip:+15550001111@abcdefghijkl.calls.example', 486],
    ['of another route as the user', 'sip:mnopqrstuvwx@localhost', 603],
  ])('a request whose Request-URI has the token %s reaches its route', async (_where, uri, status) => {
    expect(await router.find(invite(uri))?.receive(invite(uri))).toEqual({ kind: 'refused', status })
  })

  it.each([
    ['without a token', 'sip:+15550001111@localhost'],
    ['with half a token', 'sip:abcdef@localhost'],
    ['of another scheme', 'tel:+15550001111'],
    ['with an empty user', 'sip:localhost'],
  ])('a Request-URI %s reaches no route', (_what, uri) => {
    expect(router.find(invite(uri))).toBeNull()
  })
})
