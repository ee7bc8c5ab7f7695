import { describe, expect, it } from 'vitest'
import { sipDomainsOf } from './sip-domains.ts'

describe('SIP domains of a certificate (RFC 5922 section 7.1)', () => {
  it.each([
    ['DNS:sbc.example, URI:sip:Carrier.Example', ['carrier.example']],
    ['URI:sip:one.example, DNS:x.example, URI:SIP:two.example', ['one.example', 'two.example']],
    ['URI:sip:user@carrier.example', []],
    ['URI:sips:carrier.example, URI:https://carrier.example, URI:im:carrier.example', []],
    ['DNS:carrier.example, IP Address:192.0.2.1', []],
    ['URI:"sip:evil.example, URI:sip:bank.example"', []],
    ['URI:"sip:evil.example\\u0000.example"', []],
    ['URI:sip:a.example, garbage', ['a.example']],
    ['', []],
  ])('the alternative names "%s" prove the domains %j', (altNames, domains) =>
    expect(sipDomainsOf(altNames)).toEqual(domains),
  )
})
