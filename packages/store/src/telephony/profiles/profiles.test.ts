import { describe, expect, it } from 'vitest'
import { detailsInForce, TRUNK_PROFILE_NAMES } from './profiles.ts'

describe('the settings of a trunk with a profile', () => {
  it('a trunk has the settings of its profile, and those that staff set explicitly win', () => {
    expect(detailsInForce({ profile: 'vonage', codecs: ['PCMA'] })).toMatchObject({
      transport: 'tls',
      media: 'srtp',
      number_format_out: 'digits',
      codecs: ['PCMA'],
    })
  })

  it.each([{}, { media: 'rtp' }, { profile: 'plain', cps: 5 }, { profile: 'constructor' }] as const)(
    'the details %j, which name no profile of this build, stay as they are',
    details => {
      expect(detailsInForce(details)).toEqual(details)
    },
  )

  it.each(TRUNK_PROFILE_NAMES)('the profile %s requires TLS and SRTP', profile => {
    expect(detailsInForce({ profile })).toMatchObject({ transport: 'tls', media: 'srtp' })
  })
})
