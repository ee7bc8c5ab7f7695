import { parseIpNetwork } from '@parley/sip'
import { expect, it } from 'vitest'
import { trunkMedia, trunkSources } from './trunk-details.ts'

it('a trunk without settings requires SRTP and has the default codecs and time without packets', () => {
  expect(trunkMedia({})).toEqual({
    security: 'srtp-required',
    codecs: undefined,
    mediaSources: undefined,
    silentRemoteAfterMs: undefined,
    digitsByInfo: false,
  })
})

it('the settings of a trunk determine security, codecs, media networks, time without packets and the way of digits', () => {
  const details = {
    media: 'rtp',
    codecs: ['G722', 'PCMU', 'G729'],
    source: ['192.0.2.0/24', 'carrier'],
    rtp_timeout: 60,
    dtmf: 'info',
  } as const
  expect(trunkMedia(details)).toEqual({
    security: 'rtp-only',
    codecs: ['G722', 'PCMU'],
    mediaSources: [parseIpNetwork('192.0.2.0/24')],
    silentRemoteAfterMs: 60_000,
    digitsByInfo: true,
  })
  expect(trunkMedia({ rtp_timeout: 0 }).silentRemoteAfterMs).toBe(0)
})

it('the sources of a trunk are parsed once', () => {
  const details = { source: ['192.0.2.0/24'] }
  expect(trunkSources(details)).toBe(trunkSources(details))
  expect(trunkSources({})).toBeUndefined()
})
