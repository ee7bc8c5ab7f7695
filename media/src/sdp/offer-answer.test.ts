import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import type { MediaDirection } from '../session/media-session.ts'
import type { LocalMedia } from './local-media.ts'
import { acceptAnswer, createOffer, planAnswer, withdrawOffer } from './offer-answer.ts'
import { parseSdp } from './parse.ts'

const KEY_A = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd'
const KEY_B = '/////////////////////////////////////////'.slice(0, 40)
const S80 = 'AES_CM_128_HMAC_SHA1_80'
const S32 = 'AES_CM_128_HMAC_SHA1_32'

const us: LocalMedia = {
  address: '192.0.2.1',
  port: 10_000,
  sessionId: '7',
  security: 'srtp-required',
  random: new SeededRandom(1),
}
const plain: LocalMedia = { ...us, security: 'rtp-only' }

function sdp(...lines: string[]): Uint8Array {
  return new TextEncoder().encode(['v=0', 'o=- 1 1 IN IP4 192.0.2.2', 's=-', 't=0 0', ...lines, ''].join('\r\n'))
}

function audio(...attributes: string[]): Uint8Array {
  return sdp('c=IN IP4 192.0.2.2', 'm=audio 20000 RTP/AVP 0', ...attributes)
}

function secure(...crypto: string[]): Uint8Array {
  return sdp('c=IN IP4 192.0.2.2', 'm=audio 20000 RTP/SAVP 0 8 101', 'a=rtpmap:101 telephone-event/8000', ...crypto)
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function taken(local: LocalMedia, offer: Uint8Array) {
  const planned = planAnswer(local, offer)
  if (!planned.ok) throw new Error(planned.detail)
  return planned
}

function accepted(pending: Parameters<typeof acceptAnswer>[0], answer: Uint8Array) {
  const result = acceptAnswer(pending, answer)
  if (!result.ok) throw new Error(result.detail)
  return result
}

function version(bytes: Uint8Array): string {
  const parsed = parseSdp(bytes)
  if (!parsed.ok) throw new Error(parsed.detail)
  return parsed.description.origin.version
}

describe('an answer (RFC 3264 section 6)', () => {
  it.each<[MediaDirection, MediaDirection, MediaDirection]>([
    ['sendrecv', 'sendrecv', 'sendrecv'],
    ['sendonly', 'sendrecv', 'recvonly'],
    ['recvonly', 'sendrecv', 'sendonly'],
    ['inactive', 'sendrecv', 'inactive'],
    ['sendrecv', 'sendonly', 'sendonly'],
    ['sendonly', 'sendonly', 'inactive'],
    ['recvonly', 'recvonly', 'inactive'],
    ['sendrecv', 'inactive', 'inactive'],
  ])('the answer to %s, where we want %s, is %s', (offered, wanted, answered) => {
    const planned = taken({ ...plain, direction: wanted }, audio(`a=${offered}`))
    expect(planned.parameters.direction).toBe(answered)
    expect(text(planned.answer)).toContain(`a=${answered}\r\n`)
  })

  it('an answer uses direction and address of the media section, or else those of the session', () => {
    const inherited = sdp('c=IN IP4 192.0.2.3', 'a=sendonly', 'm=audio 20000 RTP/AVP 0')
    expect(taken(plain, inherited).parameters).toMatchObject({
      direction: 'recvonly',
      remote: { address: '192.0.2.3', port: 20_000 },
    })
    const own = sdp('c=IN IP4 192.0.2.3', 'a=sendonly', 'm=audio 20000 RTP/AVP 0', 'c=IN IP4 192.0.2.4', 'a=sendrecv')
    expect(taken(plain, own).parameters).toMatchObject({
      direction: 'sendrecv',
      remote: { address: '192.0.2.4', port: 20_000 },
    })
  })

  it.each([
    ['sendrecv', 'recvonly'],
    ['sendonly', 'recvonly'],
    ['recvonly', 'inactive'],
    ['inactive', 'inactive'],
  ])('the answer to 0.0.0.0 with %s sends nothing: %s', (offered, answered) => {
    const offer = sdp('c=IN IP4 0.0.0.0', 'm=audio 20000 RTP/AVP 0', `a=${offered}`)
    expect(taken(plain, offer).parameters).toMatchObject({ remote: null, direction: answered })
  })

  it('an answer accepts the first usable audio line and refuses all others in their places', () => {
    const offer = sdp(
      'c=IN IP4 192.0.2.2',
      'm=video 30000 RTP/SAVP 96',
      'm=audio 20000 RTP/AVP 0',
      'm=audio 0 RTP/SAVP 0',
      'm=audio 20002 RTP/SAVP 8',
      `a=crypto:1 ${S80} inline:${KEY_A}`,
      'm=audio 20004 RTP/SAVP 8',
      `a=crypto:1 ${S80} inline:${KEY_A}`,
      'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
    )
    const planned = taken(us, offer)
    const mediaLines = text(planned.answer).match(/^m=.*$/gm)
    expect(mediaLines).toEqual([
      'm=video 0 RTP/SAVP 96',
      'm=audio 0 RTP/AVP 0',
      'm=audio 0 RTP/SAVP 0',
      'm=audio 10000 RTP/SAVP 8',
      'm=audio 0 RTP/SAVP 8',
      'm=application 0 UDP/DTLS/SCTP webrtc-datachannel',
    ])
    expect(planned.parameters.remote).toEqual({ address: '192.0.2.2', port: 20_002 })
  })

  it("an answer uses the offerer's first common codec and payload types", () => {
    const offer = sdp(
      'c=IN IP4 192.0.2.2',
      'm=audio 20000 RTP/AVP 9 97 0 98',
      'a=rtpmap:97 pcma/8000',
      'a=rtpmap:98 telephone-event/8000',
      'a=fmtp:98 0-16',
    )
    const planned = taken(plain, offer)
    expect(planned.parameters).toMatchObject({ codec: 'PCMA', payloadType: 97, dtmfPayloadType: 98 })
    expect(text(planned.answer)).toContain('m=audio 10000 RTP/AVP 97 98\r\n')
  })

  it('an answer has no telephone-event where the peer’s has another clock rate', () => {
    const offer = sdp('c=IN IP4 192.0.2.2', 'm=audio 20000 RTP/AVP 0 101', 'a=rtpmap:101 telephone-event/48000')
    expect(taken(plain, offer).parameters.dtmfPayloadType).toBeNull()
  })

  it.each([
    [[], 20],
    [['a=ptime:30'], 30],
    [['a=ptime:5'], 10],
    [['a=ptime:200'], 60],
    [['a=ptime:25'], 20],
    [['a=maxptime:10'], 10],
    [['a=ptime:40', 'a=maxptime:20'], 20],
    [['a=ptime:-3'], 20],
  ])('with %j the answer sends packets of %i ms', (attributes, ptimeMs) => {
    expect(taken(plain, audio(...attributes)).parameters.ptimeMs).toBe(ptimeMs)
  })

  it('the answer to an AVPF offer has the AVPF profile', () => {
    const offer = sdp('c=IN IP4 192.0.2.2', 'm=audio 20000 RTP/AVPF 0', 'a=rtcp-fb:* nack')
    expect(text(taken(plain, offer).answer)).toContain('m=audio 10000 RTP/AVPF 0\r\n')
  })

  it.each([
    ['IPv6', 'c=IN IP6 2001:db8::1'],
    ['a host name', 'c=IN IP4 media.example.com'],
    ['multicast', 'c=IN IP4 224.2.36.42/127'],
    ['broadcast', 'c=IN IP4 255.255.255.255'],
    ['no address at all', 'b=AS:64'],
  ])('an offer of %s is refused with 488 and Warning 301', (_name, line) => {
    expect(planAnswer(plain, sdp(line, 'm=audio 20000 RTP/AVP 0'))).toMatchObject({
      ok: false,
      status: 488,
      code: 'address_unreachable',
      warningCode: 301,
    })
  })

  it('a body that is not SDP is refused with 400 and the number of the line', () => {
    expect(planAnswer(plain, new TextEncoder().encode('v=0\r\nhello\r\n'))).toMatchObject({ ok: false, status: 400 })
    const planned = planAnswer(plain, sdp('c=IN IP4 192.0.2.2', 'm=audio many RTP/AVP 0'))
    expect(planned).toMatchObject({
      ok: false,
      status: 400,
      warning: expect.stringMatching(/^SDP line 6: /),
    })
  })

  it('text of the peer cannot leave the quotes of the Warning header', () => {
    const planned = planAnswer(plain, sdp('c=IN IP4 192.0.2.2', 'm=audio 20000 "a\\ 0'))
    expect(planned).toMatchObject({ ok: false, warning: 'transport ?a? is not supported' })
  })

  it('an answer repeats the t= line of the offer', () => {
    const offer = text(audio()).replace('t=0 0', 't=3034423619 3042462419')
    expect(text(taken(plain, new TextEncoder().encode(offer)).answer)).toContain('t=3034423619 3042462419\r\n')
  })
})

describe('packet times and RTCP', () => {
  it('offers and answers announce that packets of up to 120 ms are received', () => {
    expect(text(createOffer(plain).offer)).toContain('a=maxptime:120\r\n')
    expect(text(taken(plain, audio()).answer)).toContain('a=maxptime:120\r\n')
  })

  it('RTCP goes to the port and address of a=rtcp (RFC 3605)', () => {
    expect(taken(plain, audio('a=rtcp:30001')).parameters.remoteRtcp).toEqual({ address: '192.0.2.2', port: 30_001 })
    expect(taken(plain, audio('a=rtcp:30001 IN IP4 192.0.2.9')).parameters.remoteRtcp).toEqual({
      address: '192.0.2.9',
      port: 30_001,
    })
    for (const line of ['a=rtcp:0', 'a=rtcp:9 IN IP4 224.1.1.1', 'a=rtcp:9 IN IP6 ::1']) {
      expect(taken(plain, audio(line)).parameters.remoteRtcp).toBeUndefined()
    }
  })

  it.each(['a=rtcp-mux', 'a=rtcp-mux-only'])('%s is answered with a=rtcp-mux, also in later offers', line => {
    const planned = taken(plain, audio(line))
    expect(planned.parameters.rtcpMux).toBe(true)
    expect(text(planned.answer)).toContain('a=rtcp-mux\r\n')
    const reoffer = createOffer({ ...plain, previous: planned.state })
    expect(text(reoffer.offer)).toContain('a=rtcp-mux\r\n')
    const without = taken({ ...plain, address: '192.0.2.2', port: 20_000 }, audio())
    expect(accepted(reoffer.pending, without.answer).parameters.rtcpMux).toBe(false)
  })

  it('our own first offer does not ask for multiplexed RTCP', () => {
    expect(text(createOffer(plain).offer)).not.toContain('rtcp-mux')
  })
})

describe('keys in an answer (RFC 4568 section 7.1.2)', () => {
  it("the answer takes the offerer's first usable suite under its tag, with a key of its own", () => {
    const offer = secure(
      `a=crypto:3 AEAD_AES_256_GCM inline:${KEY_A}`,
      `a=crypto:41 ${S32} inline:${KEY_B}`,
      `a=crypto:42 ${S80} inline:${KEY_A}`,
    )
    const planned = taken(us, offer)
    const { send, receive } = planned.parameters.srtp!
    expect(receive).toEqual({ suite: S32, keyAndSalt: Uint8Array.from({ length: 30 }, () => 255) })
    expect(send.suite).toBe(S32)
    expect(send.keyAndSalt).not.toEqual(receive.keyAndSalt)
    expect(text(planned.answer).match(/^a=crypto.*$/gm)).toEqual([
      `a=crypto:41 ${S32} inline:${Buffer.from(send.keyAndSalt).toString('base64')}`,
    ])
  })

  it.each([
    ['none at all', []],
    ['an MKI that its length cannot hold', [`a=crypto:1 ${S80} inline:${KEY_A}|2^31|256:1`]],
    ['a key that is too short', [`a=crypto:1 ${S80} inline:${KEY_A.slice(0, 36)}`]],
    ['a key that is too long', [`a=crypto:1 ${S80} inline:${KEY_A}AAAA`]],
    ['a key that lasts for 65,536 packets', [`a=crypto:1 ${S80} inline:${KEY_A}|2^16`]],
    ['encryption switched off', [`a=crypto:1 ${S80} inline:${KEY_A} UNENCRYPTED_SRTP`]],
    ['authentication switched off', [`a=crypto:1 ${S80} inline:${KEY_A} UNAUTHENTICATED_SRTP`]],
    ['an unknown session parameter', [`a=crypto:1 ${S80} inline:${KEY_A} X=1`]],
    ['suites that we have not', [`a=crypto:1 NULL_HMAC_SHA1_80 inline:${KEY_A}`, 'a=crypto:2 F8_128_HMAC_SHA1_80 x']],
  ])('SRTP keys are refused from %s', (_name, lines) => {
    expect(planAnswer(us, secure(...lines))).toMatchObject({ ok: false, status: 488, code: 'no_usable_crypto' })
  })

  it('the Warning of a refusal lists every suite that is accepted', () => {
    const planned = planAnswer(us, secure(`a=crypto:1 NULL_HMAC_SHA1_80 inline:${KEY_A}`))
    if (planned.ok) throw new Error('the offer was accepted')
    expect(planned.warning).toBe(
      'no usable a=crypto: offer one of AES_CM_128_HMAC_SHA1_80, AES_CM_128_HMAC_SHA1_32, AES_256_CM_HMAC_SHA1_80, ' +
        'AES_256_CM_HMAC_SHA1_32, AEAD_AES_128_GCM, AEAD_AES_256_GCM',
    )
  })

  it.each(['AES_256_CM_HMAC_SHA1_80', 'AES_256_CM_HMAC_SHA1_32'])('%s (RFC 6188) is accepted', suite => {
    const key = Buffer.alloc(46, 9).toString('base64')
    const { send, receive } = taken(us, secure(`a=crypto:1 ${suite} inline:${key}`)).parameters.srtp!
    expect([send.suite, send.keyAndSalt.length, receive.suite]).toEqual([suite, 46, suite])
  })

  it('a key with an MKI is accepted, and answered with a key that has none', () => {
    const planned = taken(us, secure(`a=crypto:1 ${S80} inline:${KEY_A}|2^31|1:4`))
    expect(planned.parameters.srtp!.receive.mki).toEqual(Uint8Array.of(0, 0, 0, 1))
    expect(planned.parameters.srtp!.send.mki).toBeUndefined()
    expect(text(planned.answer)).toMatch(/^a=crypto:1 \S+ inline:[A-Za-z0-9+/=]+\r$/m)
  })

  it('SRTP keys with advisory parameters, a long lifetime and no padding are accepted', () => {
    const offer = secure(`a=crypto:1 ${S80} inline:${KEY_A}|2^31 WSH=64 KDR=0 -X=1`)
    expect(taken(us, offer).parameters.srtp!.receive.suite).toBe(S80)
  })
})

describe('AES-GCM (RFC 7714)', () => {
  const them: LocalMedia = { ...us, address: '192.0.2.2', port: 20_000, random: new SeededRandom(2) }

  it('AES-GCM is offered only when requested, before the mandatory suites, and both ends agree on the keys', () => {
    expect(text(createOffer(us).offer)).not.toContain('AEAD')
    const { offer, pending } = createOffer({ ...us, offerAead: true })
    const suites = text(offer).match(/(?<=^a=crypto:\d )\w+/gm)
    expect(suites).toEqual(['AEAD_AES_256_GCM', 'AEAD_AES_128_GCM', S80, S32])
    const answered = taken(them, offer)
    expect(answered.parameters.srtp!.send.suite).toBe('AEAD_AES_256_GCM')
    const agreed = accepted(pending, answered.answer)
    expect(agreed.parameters.srtp!.receive).toEqual(answered.parameters.srtp!.send)
    expect(agreed.parameters.srtp!.send).toEqual(answered.parameters.srtp!.receive)
  })

  it('AES-GCM is not chosen where the peer prefers another suite or its key has the wrong length', () => {
    const gcm = (tag: number, bytes: number) =>
      `a=crypto:${tag} AEAD_AES_128_GCM inline:${Buffer.alloc(bytes, 5).toString('base64')}`
    const suiteOf = (...lines: string[]) => taken(us, secure(...lines)).parameters.srtp!.receive.suite
    expect(suiteOf(`a=crypto:1 ${S80} inline:${KEY_A}`, gcm(2, 28))).toBe(S80)
    expect(suiteOf(gcm(1, 28), `a=crypto:2 ${S80} inline:${KEY_A}`)).toBe('AEAD_AES_128_GCM')
    expect(suiteOf(gcm(1, 30), `a=crypto:2 ${S80} inline:${KEY_A}`)).toBe(S80)
  })
})

describe('an answer to our offer', () => {
  const { offer, pending } = createOffer(us)
  const good = taken({ ...us, address: '192.0.2.2', port: 20_000, random: new SeededRandom(2) }, offer)
  const answer = text(good.answer)
  const changed = (from: string | RegExp, to: string) => new TextEncoder().encode(answer.replace(from, to))

  it('an answer is accepted, also when it is repeated', () => {
    expect(acceptAnswer(pending, good.answer)).toEqual(acceptAnswer(pending, good.answer))
    expect(accepted(pending, good.answer).parameters.srtp!.send).toEqual(good.parameters.srtp!.receive)
  })

  it('an answer may renumber payload types: we send with its numbers and receive with ours', () => {
    const renumbered = answer
      .replace('RTP/SAVP 0 101', 'RTP/SAVP 110 96')
      .replace('rtpmap:0 ', 'rtpmap:110 ')
      .replaceAll(':101 ', ':96 ')
    expect(accepted(pending, new TextEncoder().encode(renumbered)).parameters).toMatchObject({
      payloadType: 110,
      receivePayloadType: 0,
      dtmfPayloadType: 96,
      receiveDtmfPayloadType: 101,
    })
  })

  it('a line that was not offered does no harm to an answer', () => {
    expect(acceptAnswer(pending, changed(/$/, 'm=video 0 RTP/AVP 96\r\n'))).toMatchObject({ ok: true })
  })

  it.each([
    ['a tag that was not offered', changed('crypto:1', 'crypto:3'), 'answer_crypto_tag'],
    ['another suite for the tag', changed(S80, S32), 'answer_crypto_suite'],
    ['our own key', changed(/inline:\S+/, text(offer).match(/inline:\S+/)![0]), 'answer_crypto_reflected'],
    ['no key', changed(/a=crypto.*\r\n/, ''), 'answer_without_crypto'],
    ['two keys', changed(/(a=crypto.*\r\n)/, '$1$1'), 'answer_crypto'],
    ['an MKI that its length cannot hold', changed(/(inline:\S+)/, '$1|256:1'), 'answer_crypto'],
    ['plain RTP', changed('RTP/SAVP', 'RTP/AVP'), 'answer_transport'],
    ['a codec that was not offered', changed('RTP/SAVP 0 101', 'RTP/SAVP 9'), 'answer_codec'],
    ['a refused line', changed('m=audio 20000', 'm=audio 0'), 'answer_media_refused'],
    ['another kind of media', changed('m=audio', 'm=video'), 'answer_media_kind'],
    ['no line', changed(/m=[\s\S]*$/, ''), 'answer_media_missing'],
    ['an IPv6 address', changed('c=IN IP4 192.0.2.2', 'c=IN IP6 ::1'), 'address_unreachable'],
    ['no SDP', new Uint8Array(0), 'sdp_empty'],
  ])('an answer is refused with %s', (_name, body, code) => {
    expect(acceptAnswer(pending, body)).toMatchObject({ ok: false, code })
  })
})

describe('an established session (RFC 3264 section 8)', () => {
  const them: LocalMedia = { ...us, address: '192.0.2.2', port: 20_000, sessionId: '8', random: new SeededRandom(3) }

  function established() {
    const { offer, pending } = createOffer(us)
    const answer = taken(them, offer)
    return { caller: accepted(pending, answer.answer), callee: answer, offer }
  }

  it('a refresh sends the same description with the same version and keys', () => {
    const { caller, callee, offer } = established()
    const refresh = createOffer({ ...us, previous: caller.state })
    expect(text(refresh.offer)).toBe(text(offer))
    const answer = taken({ ...them, previous: callee.state }, refresh.offer)
    expect(text(answer.answer)).toBe(text(callee.answer))
    expect(accepted(refresh.pending, answer.answer).parameters).toEqual(caller.parameters)
    expect(answer.parameters).toEqual(callee.parameters)
  })

  it('a refresh by the answering side keeps the current keys', () => {
    const { caller, callee } = established()
    const refresh = createOffer({ ...them, previous: callee.state })
    expect(text(refresh.offer)).toBe(text(callee.answer))
    const answer = taken({ ...us, previous: caller.state }, refresh.offer)
    expect(answer.parameters.srtp).toEqual(caller.parameters.srtp)
    expect(accepted(refresh.pending, answer.answer).parameters.srtp).toEqual(callee.parameters.srtp)
  })

  it('hold and resume each increment the version and keep the keys', () => {
    const { caller, callee } = established()
    const hold = createOffer({ ...us, previous: caller.state, direction: 'sendonly' })
    expect(version(hold.offer)).toBe('2')
    const held = taken({ ...them, previous: callee.state }, hold.offer)
    expect(version(held.answer)).toBe('2')
    expect(held.parameters).toMatchObject({ direction: 'recvonly', srtp: callee.parameters.srtp })
    const holding = accepted(hold.pending, held.answer)
    expect(holding.parameters).toMatchObject({ direction: 'sendonly', srtp: caller.parameters.srtp })
    const resume = createOffer({ ...us, previous: holding.state })
    expect(version(resume.offer)).toBe('3')
    const resumed = taken({ ...them, previous: held.state }, resume.offer)
    expect(resumed.parameters).toEqual(callee.parameters)
  })

  it('either side can re-key both directions', () => {
    const { caller, callee } = established()
    const rekey = createOffer({ ...us, previous: caller.state, renewKeys: true })
    const answer = taken({ ...them, previous: callee.state }, rekey.offer)
    const after = accepted(rekey.pending, answer.answer)
    expect(after.parameters.srtp!.send).not.toEqual(caller.parameters.srtp!.send)
    expect(after.parameters.srtp!.receive).not.toEqual(caller.parameters.srtp!.receive)
    expect(answer.parameters.srtp).toEqual({
      send: after.parameters.srtp!.receive,
      receive: after.parameters.srtp!.send,
    })
  })

  it('a refused offer leaves the session unchanged; its version number is not reused', () => {
    const { caller, offer } = established()
    const refused = createOffer({ ...us, previous: caller.state, renewKeys: true, direction: 'sendonly' })
    const state = withdrawOffer(refused.pending)
    const next = createOffer({ ...us, previous: state })
    expect(version(next.offer)).toBe('3')
    expect(text(next.offer).match(/^a=crypto.*$/gm)).toEqual(text(offer).match(/^a=crypto.*$/gm))
  })

  it('no later offer or answer drops a media line', () => {
    const offer = sdp(
      'c=IN IP4 192.0.2.2',
      'm=video 30000 RTP/AVP 96',
      'm=audio 20000 RTP/AVP 0',
      'm=image 9 udptl t38',
    )
    const answer = taken(plain, offer)
    const reoffer = createOffer({ ...plain, previous: answer.state, direction: 'sendonly' })
    expect(text(reoffer.offer).match(/^m=.*$/gm)).toEqual([
      'm=video 0 RTP/AVP 96',
      'm=audio 10000 RTP/AVP 0',
      'm=image 0 udptl t38',
    ])
  })

  it('an established session follows a peer to another address', () => {
    const { caller, callee } = established()
    const moved = createOffer({ ...us, previous: caller.state, address: '198.51.100.1', port: 40_000 })
    const answer = taken({ ...them, previous: callee.state }, moved.offer)
    expect(answer.parameters.remote).toEqual({ address: '198.51.100.1', port: 40_000 })
    expect(text(answer.answer)).toBe(text(callee.answer))
  })
})

describe('Opus in offer and answer (RFC 7587 section 7)', () => {
  const wide: LocalMedia = { ...plain, codecs: ['OPUS', 'PCMU'] }

  it('an offer names Opus with 48 kHz and two channels, and telephone-event at each clock rate', () => {
    const offer = text(createOffer(wide).offer)
    expect(offer).toContain('m=audio 10000 RTP/AVP 111 0 101 102\r\n')
    expect(offer).toContain('a=rtpmap:111 OPUS/48000/2\r\n')
    expect(offer).toContain('a=fmtp:111 minptime=10;useinbandfec=1\r\n')
    expect(offer).toContain('a=rtpmap:102 telephone-event/48000\r\n')
  })

  it('an answer takes the payload type of the offer, our format parameters, and the telephone-event of 48 kHz', () => {
    const lines = [
      'm=audio 20000 RTP/AVP 96 0 97 98',
      'a=rtpmap:96 opus/48000/2',
      'a=fmtp:96 usedtx=1;useinbandfec=0',
      'a=rtpmap:97 telephone-event/8000',
      'a=rtpmap:98 telephone-event/48000',
    ]
    const { parameters, answer } = taken(wide, sdp('c=IN IP4 192.0.2.2', ...lines))
    expect(parameters).toMatchObject({ codec: 'OPUS', payloadType: 96, dtmfPayloadType: 98 })
    expect(parameters.codecFmtp).toBe('usedtx=1;useinbandfec=0')
    expect(text(answer)).toContain('a=fmtp:96 minptime=10;useinbandfec=1\r\n')
  })

  it('Opus of one channel is no codec of RFC 7587 and is not taken', () => {
    const mono = sdp('c=IN IP4 192.0.2.2', 'm=audio 20000 RTP/AVP 96', 'a=rtpmap:96 opus/48000')
    expect(planAnswer(wide, mono)).toMatchObject({ ok: false, code: 'no_common_codec' })
  })
})
