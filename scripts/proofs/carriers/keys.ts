import { type SrtpKey, SrtpSender } from '@parley/media/testing'
import { type CarrierHarness, sdp } from './carrier-harness.ts'
import { check, checkThat } from './checks.ts'
import type { ScenarioGroup } from './scenario.ts'

const S80 = 'AES_CM_128_HMAC_SHA1_80'
const S256 = 'AES_256_CM_HMAC_SHA1_80'

/** Master key and salt of the carrier; `serial` makes different ones. */
function keyOf(serial: number, suite: SrtpKey['suite'] = S80): SrtpKey {
  const bytes = suite === S256 ? 46 : 30
  return { suite, keyAndSalt: new Uint8Array(bytes).fill(serial) }
}

const cryptoLine = (tag: number, { suite, keyAndSalt }: SrtpKey, suffix = '') =>
  `a=crypto:${tag} ${suite} inline:${Buffer.from(keyAndSalt).toString('base64')}${suffix}`

function secure(lines: readonly string[], { version = 1, profile = 'RTP/SAVP' } = {}): string {
  return sdp({ profile, version, attributes: ['a=rtpmap:101 telephone-event/8000', ...lines] })
}

/** Tag of the engine's `a=crypto` line of a suite. */
function offeredTag(h: CarrierHarness, suite: string): number {
  const offer = new TextDecoder().decode(h.carrier.last('INVITE').message.body)
  return Number(new RegExp(`^a=crypto:(\\d+) ${suite} `, 'm').exec(offer)?.[1] ?? 0)
}

async function establishSecure(h: CarrierHarness): Promise<void> {
  await h.dial({ over: 'tls' })
  const key = keyOf(1)
  await h.answer({ body: secure([cryptoLine(offeredTag(h, S80), key)]) })
  h.rtp.stream.srtp = new SrtpSender(key)
  h.checkActive()
}

/** A re-INVITE of the carrier with a new key, whose rollover counter goes on or starts at 0, after the sequence has wrapped. */
async function rekeyAfterWrap(h: CarrierHarness, keepsCounter: boolean): Promise<void> {
  h.rtp.stream.sequence = 65_500
  await establishSecure(h)
  await h.checkHears('before the wrap')
  h.rtp.talk(1000)
  await h.pass(1200)
  const before = h.rtp.stream.srtp!
  check('status', await h.send('INVITE', { body: secure([cryptoLine(1, keyOf(2))], { version: 2 }) }), 200)
  const after = new SrtpSender(keyOf(2))
  if (keepsCounter) after.continueFrom(before)
  h.rtp.stream.srtp = after
  await h.checkHears('after the re-key')
}

export const KEYS: ScenarioGroup = {
  title: 'SRTP',
  scenarios: [
    {
      name: 'rekey-keeps-rollover-counter',
      carrier: 'a re-key after the sequence has wrapped; the rollover counter goes on',
      engine: 'audio goes on',
      source: { issue: 'pjsip/pjproject#2846' },
      run: h => rekeyAfterWrap(h, true),
    },
    {
      name: 'rekey-resets-rollover-counter',
      carrier: 'a re-key after the sequence has wrapped; the rollover counter starts at 0',
      engine: 'audio goes on',
      source: { issue: 'sipwise/rtpengine#1443' },
      run: h => rekeyAfterWrap(h, false),
    },
    {
      name: 'reinvite-keeps-key',
      carrier: 'a re-INVITE with the same key after the sequence has wrapped',
      engine: 'audio goes on',
      source: { issue: 'pjsip/pjproject#1075' },
      async run(h) {
        h.rtp.stream.sequence = 65_500
        await establishSecure(h)
        h.rtp.talk(2000)
        await h.pass(2200)
        check('status', await h.send('INVITE', { body: secure([cryptoLine(1, keyOf(1))], { version: 2 }) }), 200)
        await h.checkHears('after the re-INVITE')
      },
    },
    {
      name: 'ssrc-changes-under-srtp',
      carrier: 'a new SSRC under the same key (hold and resume of a phone)',
      engine: 'the new stream is heard',
      source: { issue: 'sipwise/rtpengine#107' },
      async run(h) {
        await establishSecure(h)
        await h.checkHears('the first stream')
        Object.assign(h.rtp.stream, { ssrc: 0x44444444, sequence: 12, timestamp: 1 })
        h.rtp.talk(2000)
        await h.pass(2200)
        checkThat(`${h.heardMs(2200)} ms heard`, h.heardMs(2200) >= 1400)
      },
    },
    {
      name: 'aes-256',
      carrier: 'an offer of AES_256_CM_HMAC_SHA1_80 alone',
      engine: 'audio is heard under that suite',
      source: { clause: 'RFC 6188 section 4' },
      async run(h) {
        const key = keyOf(1, S256)
        check('status', await h.callEngine({ body: secure([cryptoLine(1, key)]) }, { over: 'tls' }), 200)
        h.rtp.stream.srtp = new SrtpSender(key)
        await h.checkHears()
      },
      answering: {},
    },
    {
      name: 'first-sequence-number',
      carrier: 'does not know the rollover counter of a call that it joins late',
      engine: 'its first SRTP sequence number is below 32,768',
      source: { clause: 'RFC 4568 section 6.4' },
      async run(h) {
        await establishSecure(h)
        await h.pass(200)
        const [first] = h.rtp.received
        checkThat(`first sequence number ${first?.sequence}`, first !== undefined && first.sequence < 0x8000)
      },
    },
    {
      name: 'keys-over-udp',
      carrier: 'an offer with SDES keys over UDP where SRTP is required',
      engine: '488 with a Warning: keys travel over TLS only',
      unsupported: true,
      source: { clause: 'RFC 4568 section 8.3' },
      async run(h) {
        check('status', await h.callEngine({ body: secure([cryptoLine(1, keyOf(1))]) }), 488)
        const refusal = h.carrier.responses.at(-1)!.message
        checkThat('the Warning names TLS', /TLS/.test(refusal.headers.get('Warning') ?? ''))
      },
      answering: {},
    },
    {
      name: 'plain-rtp-where-srtp-is-required',
      carrier: 'an offer of plain RTP over TLS where SRTP is required',
      engine: '488 with a Warning that says so',
      unsupported: true,
      source: { clause: 'RFC 4568 section 7.1.2' },
      async run(h) {
        check('status', await h.callEngine({}, { over: 'tls' }), 488)
        const warning = h.carrier.responses.at(-1)!.message.headers.get('Warning') ?? ''
        checkThat(`Warning ${warning}`, warning.includes('SRTP is required'))
      },
      answering: {},
    },
    {
      name: 'unknown-suite',
      carrier: 'an offer of F8_128_HMAC_SHA1_80 alone',
      engine: '488; the Warning lists every suite that is accepted',
      unsupported: true,
      source: { clause: 'RFC 4568 section 6.2.3' },
      async run(h) {
        const line = cryptoLine(1, keyOf(1)).replace(S80, 'F8_128_HMAC_SHA1_80')
        check('status', await h.callEngine({ body: secure([line]) }, { over: 'tls' }), 488)
        const warning = h.carrier.responses.at(-1)!.message.headers.get('Warning') ?? ''
        checkThat(`suites in ${warning}`, warning.includes(S80) && warning.includes(S256))
      },
      answering: {},
    },
    {
      name: 'optional-encryption',
      carrier: '`RTP/AVP` with `a=crypto` on a trunk without SRTP',
      engine: 'plain RTP is agreed',
      source: { clause: 'RFC 8643 section 3.1' },
      async run(h) {
        check('status', await h.callEngine({ body: secure([cryptoLine(1, keyOf(1))], { profile: 'RTP/AVP' }) }), 200)
        await h.checkTalks()
      },
    },
    {
      name: 'key-with-identifier',
      carrier: 'a key with lifetime and MKI in the offer',
      engine: 'the call is answered; packets with that MKI are heard',
      source: { clause: 'RFC 4568 section 6.1' },
      async run(h) {
        const key = keyOf(1)
        check('status', await h.callEngine({ body: secure([cryptoLine(1, key, '|2^31|1:1')]) }, { over: 'tls' }), 200)
        const sender = new SrtpSender(key)
        h.rtp.stream.srtp = sender
        h.rtp.stream.mki = Uint8Array.of(1)
        await h.checkHears()
      },
      answering: {},
    },
    {
      name: 'secure-and-plain-stream',
      carrier: 'an offer of the same audio twice, `RTP/AVP` first, then `RTP/SAVP`, where SRTP is required',
      engine: 'the SRTP stream is accepted, the plain one refused with port 0',
      source: { issue: 'pjsip/pjproject#1347' },
      async run(h) {
        const body = `${sdp()}m=audio 40000 RTP/SAVP 0\r\n${cryptoLine(1, keyOf(1))}\r\n`
        check('status', await h.callEngine({ body }, { over: 'tls' }), 200)
        h.rtp.stream.srtp = new SrtpSender(keyOf(1))
        const text = new TextDecoder().decode(
          h.carrier.responses.findLast(({ message }) => message.status === 200)!.message.body,
        )
        checkThat('plain stream refused', text.includes('m=audio 0 RTP/AVP'))
        h.rtp.to = { ...h.rtp.to, port: Number(/^m=audio (\d+) RTP\/SAVP/m.exec(text)?.[1]) }
        await h.checkHears()
      },
      answering: {},
    },
    {
      name: 'key-exchange-by-dtls',
      carrier: 'an offer of `UDP/TLS/RTP/SAVP` with a fingerprint (DTLS-SRTP)',
      engine: '488',
      unsupported: true,
      source: { clause: 'RFC 5763 section 5' },
      async run(h) {
        const body = sdp({
          profile: 'UDP/TLS/RTP/SAVP',
          attributes: ['a=fingerprint:SHA-256 AD:2D:0F', 'a=setup:actpass'],
        })
        check('status', await h.callEngine({ body }, { over: 'tls' }), 488)
      },
      answering: {},
    },
  ],
}
