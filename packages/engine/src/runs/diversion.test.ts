import type { SipRequest } from '@parley/leg'
import { HeaderList } from '@parley/sip'
import { describe, expect, it } from 'vitest'
import { diversionVariables } from './diversion.ts'

const invite = (...entries: (readonly [string, string])[]) => ({ headers: new HeaderList(entries) }) as SipRequest
const variables = (...entries: (readonly [string, string])[]) => diversionVariables(invite(...entries), 'DE')

describe('a diverted call', () => {
  it('Diversion names the last diverting number, the reason and the number that was called first', () => {
    const last = '"Desk" <sip:+4930222@carrier.example;user=phone>;reason=user-busy;counter=1;privacy=off'
    const first = '<tel:+4930111>;reason=unconditional'
    const expected = { diverted_from: '+4930222', diversion_reason: 'user-busy', originally_called: '+4930111' }
    expect(variables(['Diversion', last], ['Diversion', first])).toEqual(expected)
    expect(variables(['Diversion', `${last}, ${first}`])).toEqual(expected)
  })

  it('a diverting number in national notation is read as E.164', () => {
    expect(variables(['Diversion', '<sip:030123456@pbx.example>'])).toEqual({
      diverted_from: '+4930123456',
      diversion_reason: 'unknown',
      originally_called: '+4930123456',
    })
  })

  it('History-Info gives the same, from the entries that a diversion added (RFC 7044, RFC 4458)', () => {
    const history = [
      '<sip:+4930111@carrier.example>;index=1',
      '<sip:+4930222@carrier.example;cause=302>;index=1.1;mp=1',
      '<sip:+4930222@10.0.0.1>;index=1.1.1;rc=1.1',
      '<sip:+4930333@carrier.example;cause=486?Reason=SIP%3Bcause%3D486>;index=1.2;mp=1.1',
    ]
    expect(variables(['History-Info', history.join(', ')])).toEqual({
      diverted_from: '+4930222',
      diversion_reason: 'user-busy',
      originally_called: '+4930111',
    })
  })

  it('History-Info of a call that nobody diverted gives no variables', () => {
    const history = '<sip:+4930111@carrier.example>;index=1, <sip:+4930111@10.0.0.1>;index=1.1;rc=1'
    expect(variables(['History-Info', history])).toEqual({})
  })

  it.each(['<<<', ', ,', '<sip:a@b>;reason="x\\"y"'])('a header that cannot be read, %j, gives no number', value => {
    expect(variables(['Diversion', value])).not.toHaveProperty('diverted_from')
  })

  it('a call without either header has no variables', () => {
    expect(variables()).toEqual({})
  })
})
