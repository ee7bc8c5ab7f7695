import { readFileSync } from 'node:fs'
import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import type { LocalMedia } from './local-media.ts'
import { planAnswer } from './offer-answer.ts'
import { parseSdp } from './parse.ts'

function offerOf(name: string, lineEnd = '\r\n'): Uint8Array {
  const body = readFileSync(new URL(`./fixtures/${name}.sdp`, import.meta.url), 'utf8')
  return new TextEncoder().encode(body.replaceAll('\n', lineEnd))
}

function local(security: LocalMedia['security']): LocalMedia {
  return { address: '203.0.113.9', port: 10_000, sessionId: '77', security, random: new SeededRandom(1) }
}

const TAKEN = [
  ['baresip-srtp-mandatory', 'PCMU', 0, 101, 'AES_CM_128_HMAC_SHA1_32', 1, '192.0.2.10', 20_000],
  ['linphone-srtp-mandatory', 'PCMU', 0, 100, 'AES_CM_128_HMAC_SHA1_80', 1, '192.0.2.20', 23_000],
  ['twilio-secure-trunk', 'PCMU', 0, 101, 'AES_CM_128_HMAC_SHA1_80', 1, '54.172.60.10', 18_246],
  ['telnyx-srtp', 'PCMA', 8, 101, 'AES_256_CM_HMAC_SHA1_80', 2, '64.16.250.10', 31_870],
  ['rtpengine-twelve-suites', 'PCMU', 0, 96, 'AEAD_AES_256_GCM', 1, '203.0.113.5', 30_012],
  ['freeswitch-srtp-and-plain', 'PCMU', 0, 101, 'AES_CM_128_HMAC_SHA1_80', 5, '198.51.100.7', 17_344],
  ['asterisk-sdes', 'PCMA', 8, 101, 'AES_CM_128_HMAC_SHA1_80', 1, '198.51.100.20', 14_086],
] as const

describe.each(TAKEN)('the offer of %s', (name, codec, payloadType, dtmf, suite, tag, address, port) => {
  it.each(['\r\n', '\n'])('the offer of a known peer is answered with its own preferences (line end %j)', lineEnd => {
    const planned = planAnswer(local('srtp-required'), offerOf(name, lineEnd))
    if (!planned.ok) throw new Error(planned.detail)
    expect(planned.parameters).toMatchObject({
      remote: { address, port },
      direction: 'sendrecv',
      codec,
      payloadType,
      dtmfPayloadType: dtmf,
      ptimeMs: 20,
    })
    expect(planned.parameters.srtp!.receive.suite).toBe(suite)
    expect(planned.parameters.srtp!.send.suite).toBe(suite)
    const answered = parseSdp(planned.answer)
    if (!answered.ok) throw new Error(answered.detail)
    expect(answered.description.media[0]!.crypto.map(line => line.tag)).toEqual([tag])
    expect(answered.description.media.slice(1).map(line => line.port)).toEqual(name.startsWith('freeswitch') ? [0] : [])
    // Not offered by us, not echoed: feedback, candidates.
    expect(new TextDecoder().decode(planned.answer)).not.toMatch(/rtcp-fb|ice-|setup/)
  })

  it('a secure offer is refused on a plain trunk, unless it also offers plain RTP', () => {
    const planned = planAnswer(local('rtp-only'), offerOf(name))
    if (name === 'freeswitch-srtp-and-plain') {
      expect(planned).toMatchObject({ ok: true, parameters: { srtp: null, remote: { address, port: 17_346 } } })
    } else {
      expect(planned).toMatchObject({ ok: false, status: 488, code: 'srtp_not_configured' })
    }
  })
})

it.each([
  ['asterisk-optimistic', 'crypto_on_plain_rtp', 305],
  ['browser-dtls', 'transport_not_supported', 302],
  ['fax-t38', 'no_audio', 304],
  ['sipp-hold-old-style', 'srtp_required', 305],
] as const)('a secure trunk refuses %s with 488 and says why', (name, code, warningCode) => {
  const planned = planAnswer(local('srtp-required'), offerOf(name))
  expect(planned).toMatchObject({ ok: false, status: 488, code, warningCode })
})

it('optional encryption (RFC 8643) becomes plain RTP on a trunk for plain RTP', () => {
  const planned = planAnswer(local('rtp-only'), offerOf('asterisk-optimistic'))
  if (!planned.ok) throw new Error(planned.detail)
  expect(planned.parameters.srtp).toBeNull()
  expect(new TextDecoder().decode(planned.answer)).not.toContain('a=crypto')
})

it('keys with an MKI are accepted', () => {
  const planned = planAnswer(local('srtp-required'), offerOf('cisco-mki'))
  if (!planned.ok) throw new Error(planned.detail)
  expect(planned.parameters.srtp?.receive.mki?.at(-1)).toBe(1)
})

it('a plain trunk accepts a call that starts on hold with 0.0.0.0, and sends nothing before there is an address', () => {
  expect(planAnswer(local('rtp-only'), offerOf('sipp-hold-old-style'))).toMatchObject({
    ok: true,
    parameters: { remote: null, direction: 'recvonly', codec: 'PCMU', dtmfPayloadType: null, srtp: null },
  })
})
