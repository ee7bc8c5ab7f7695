import { sdp, sdpWith } from './carrier-harness.ts'
import { check, checkThat } from './checks.ts'
import type { ScenarioGroup } from './scenario.ts'

const RELAY = 'Content-Type: application/dtmf-relay'

export const DIGITS: ScenarioGroup = {
  title: 'Digits',
  scenarios: [
    {
      name: 'digit-without-marker',
      carrier: 'telephone-event packets without the marker bit',
      engine: 'each digit counts once',
      source: { issue: 'livekit/sip#742' },
      async run(h) {
        await h.establish()
        for (const digit of '12') {
          h.rtp.digit(digit, { marker: false })
          await h.pass(400)
        }
        check('digits', h.digits(), '12')
      },
    },
    {
      name: 'same-digit-twice',
      carrier: 'the same digit twice in a row, without marker bits',
      engine: 'two digits',
      source: { issue: 'eigger/hass-sip#24' },
      async run(h) {
        await h.establish()
        for (let i = 0; i < 2; i++) {
          h.rtp.digit('7', { marker: false })
          await h.pass(300)
        }
        check('digits', h.digits(), '77')
      },
    },
    {
      name: 'digit-without-end',
      carrier: 'all end packets of a digit are lost',
      engine: 'the digit counts once',
      source: { issue: 'pjsip/pjproject#1582' },
      async run(h) {
        await h.establish()
        h.rtp.digit('5', { endPackets: 0 })
        await h.pass(1000)
        check('digits', h.digits(), '5')
      },
    },
    {
      name: 'long-digit',
      carrier: 'a key held for two seconds',
      engine: 'one digit',
      source: { issue: 'unispeech/asterisk-unimrcp#44' },
      async run(h) {
        await h.establish()
        h.rtp.digit('9', { ms: 2000 })
        await h.pass(2500)
        check('digits', h.digits(), '9')
      },
    },
    {
      name: 'digits-after-hold',
      carrier: 'hold, resume, then digits',
      engine: 'the digits count',
      source: { clause: 'RFC 3264 section 8.4' },
      async run(h) {
        await h.establish()
        await h.send('INVITE', { body: sdpWith(['a=sendonly'], { version: 2 }) })
        await h.pass(2000)
        await h.send('INVITE', { body: sdp({ version: 3 }) })
        h.rtp.digit('3')
        await h.pass(500)
        check('digits', h.digits(), '3')
      },
    },
    {
      name: 'digits-offered-later',
      carrier: 'no telephone-event in the answer; a re-INVITE brings it',
      engine: 'digits of the engine go by telephone-event from then on',
      source: { issue: 'asterisk/asterisk#826' },
      async run(h) {
        await h.establish({}, { body: sdp({ formats: '0', attributes: [] }) })
        await h.send('INVITE', { body: sdp({ version: 2 }) })
        h.leg.sendDigits('6')
        await h.pass(1000)
        check('INFOs', h.carrier.all('INFO').length, 0)
        checkThat(
          'telephone-event packets',
          h.rtp.received.some(({ payloadType }) => payloadType === 101),
        )
      },
    },
    {
      name: 'digits-while-held',
      carrier: 'digits while the carrier holds the call (sendonly)',
      engine: 'the digits count',
      source: { clause: 'RFC 3264 section 5.1' },
      async run(h) {
        await h.establish()
        await h.send('INVITE', { body: sdpWith(['a=sendonly'], { version: 2 }) })
        h.rtp.digit('4')
        await h.pass(500)
        check('digits', h.digits(), '4')
      },
    },
    {
      name: 'info-digit-repeated',
      carrier: 'an INFO with a digit twice: same CSeq, new branch',
      engine: 'one digit; the second request is not carried out again',
      source: { clause: 'RFC 3261 section 12.2.2' },
      async run(h) {
        await h.establish()
        for (const branch of ['z9hG4bKone', 'z9hG4bKtwo'])
          h.carrier.request('INFO', h.dialog, {
            sequence: 300,
            branch,
            lines: [RELAY],
            body: 'Signal=5\r\nDuration=160\r\n',
          })
        await h.pass(300)
        check('digits', h.digits(), '5')
      },
    },
    {
      name: 'info-digit-without-line-end',
      carrier: 'INFO `Signal=5`, `Duration=160` without a final line end',
      engine: 'the digit counts',
      source: { issue: 'pjsip/pjproject#3014' },
      async run(h) {
        await h.establish()
        check('status', await h.send('INFO', { lines: [RELAY], body: 'Signal=5\r\nDuration=160' }), 200)
        check('digits', h.digits(), '5')
      },
    },
    {
      name: 'info-digit-as-number',
      carrier: 'INFO `application/dtmf` with `11` for the pound key',
      engine: 'the digit is `#`',
      source: { issue: 'siphon-project/siphon-sip#347' },
      async run(h) {
        await h.establish()
        await h.send('INFO', { lines: ['Content-Type: application/dtmf'], body: '11' })
        check('digits', h.digits(), '#')
      },
    },
    {
      name: 'info-of-another-kind',
      carrier: 'INFO with a body that is no digit (media control)',
      engine: '415; the call goes on',
      unsupported: true,
      source: { clause: 'RFC 6086 section 4.2.2' },
      async run(h) {
        await h.establish()
        check(
          'status',
          await h.send('INFO', { lines: ['Content-Type: application/media_control+xml'], body: '<x/>' }),
          415,
        )
        h.checkActive()
      },
    },
    {
      name: 'peer-without-telephone-event',
      carrier: 'the answer has no telephone-event',
      engine: 'digits of the engine go by INFO, one at a time',
      source: { issue: 'pjsip/pjproject#2036' },
      async run(h) {
        await h.establish({}, { body: sdp({ formats: '0', attributes: [] }) })
        h.leg.sendDigits('42')
        await h.pass(1000)
        const sent = h.carrier
          .all('INFO')
          .map(({ message }) => /Signal=(.)/.exec(new TextDecoder().decode(message.body))?.[1])
        check('digits at the carrier', sent, ['4', '2'])
      },
    },
  ],
}
