import { serialiseUri } from '@parley/sip'
import type { TrunkDetails } from '@parley/store'
import { describe, expect, it } from 'vitest'
import { outboundIdentity } from './outbound-identity.ts'

const CALLER = '+4930123456'

function identity(details: TrunkDetails, caller: string | null = CALLER) {
  const { from, headers } = outboundIdentity(caller, { details, first_number: null, termination_uri: 'sbc.example' })
  return { from: `${from.displayName ?? ''}<${serialiseUri(from.uri)}>`, headers: Object.fromEntries(headers) }
}

describe('who an outbound call says is calling', () => {
  it('without settings an INVITE has the caller in From and no identity headers', () => {
    expect(identity({})).toEqual({ from: '<sip:+4930123456@sbc.example;user=phone>', headers: {} })
    expect(identity({}, null).from).toBe('<sip:anonymous@sbc.example;user=phone>')
  })

  it('P-Asserted-Identity is the number of the run, or the number that staff set', () => {
    expect(identity({ asserted_identity: 'caller', identity: 'account7' })).toEqual({
      from: '<sip:account7@sbc.example;user=phone>',
      headers: { 'P-Asserted-Identity': '<sip:+4930123456@sbc.example;user=phone>' },
    })
    expect(identity({ asserted_identity: '+49309999' }).headers).toEqual({
      'P-Asserted-Identity': '<sip:+49309999@sbc.example;user=phone>',
    })
    expect(identity({ asserted_identity: 'caller' }, null).headers).toEqual({})
  })

  it('privacy "id" makes From anonymous while P-Asserted-Identity names the caller to the carrier', () => {
    expect(identity({ asserted_identity: 'caller', privacy: ['id', 'critical'] })).toEqual({
      from: 'Anonymous<sip:anonymous@anonymous.invalid>',
      headers: { 'P-Asserted-Identity': '<sip:+4930123456@sbc.example;user=phone>', Privacy: 'id;critical' },
    })
    expect(identity({ privacy: ['none'] })).toEqual({
      from: '<sip:+4930123456@sbc.example;user=phone>',
      headers: { Privacy: 'none' },
    })
  })

  it('Diversion names the diverting number', () => {
    expect(identity({ diversion: '+49305555' }).headers).toEqual({
      Diversion: '<sip:+49305555@sbc.example;user=phone>;reason=unconditional;counter=1',
    })
  })

  it('the number format of the trunk applies to every number, and not to the name of an account', () => {
    const details = { number_format_out: 'digits', asserted_identity: 'caller', diversion: '+49305555' } as const
    expect(identity(details)).toEqual({
      from: '<sip:4930123456@sbc.example;user=phone>',
      headers: {
        'P-Asserted-Identity': '<sip:4930123456@sbc.example;user=phone>',
        Diversion: '<sip:49305555@sbc.example;user=phone>;reason=unconditional;counter=1',
      },
    })
  })
})
