import { parseIpNetwork } from '@parley/sip'
import { CARRIER, type CarrierHarness, sdp } from './carrier-harness.ts'
import { check, checkThat } from './checks.ts'
import type { ScenarioGroup, VirtualScenario } from './scenario.ts'

/** The carrier answers each BYE with `status`, or not at all. */
async function hangUpAnsweredBy(h: CarrierHarness, status: number | null, forMs: number): Promise<void> {
  await h.establish()
  h.carrier.onRequest = received => {
    if (received.message.method !== 'BYE') return false
    if (status !== null) h.carrier.reply(received, status)
    return true
  }
  h.leg.hangUp()
  await h.line.pass(forMs, 100)
}

const unconfirmed = (
  name: string,
  status: number | null,
  carrier: string,
  source: VirtualScenario['source'],
): VirtualScenario => ({
  name,
  carrier,
  engine: 'BYE is repeated for 32 s, then the call ends unconfirmed',
  source,
  async run(h) {
    await hangUpAnsweredBy(h, status, 1000)
    check('the call has not ended yet', h.end ?? null, null)
    await h.line.pass(40_000, 100)
    checkThat(`${h.carrier.all('BYE').length} BYEs`, h.carrier.all('BYE').length > 1)
    check('end', [h.end?.confirmed, h.end?.byeStatus ?? null], [false, status])
  },
})

export const HANG_UPS: ScenarioGroup = {
  title: 'The end of the call, and strangers',
  scenarios: [
    unconfirmed('bye-not-answered', null, 'no response to BYE', { clause: 'RFC 3261 section 15.1.1' }),
    unconfirmed('bye-answered-503', 503, 'BYE is answered 503, again and again', { clause: 'RFC 5057 section 5.1' }),
    unconfirmed('bye-challenged', 401, 'BYE is answered 401 without a challenge that can be answered', {
      issue: 'emiago/diago#93',
    }),
    {
      name: 'bye-challenged-and-answered',
      carrier: 'BYE is challenged with 407 in the realm of the INVITE',
      engine: 'BYE again with credentials; the end is confirmed',
      source: { issue: 'drachtio/drachtio-server#190' },
      async run(h) {
        const challenge = 'Proxy-Authenticate: Digest realm="carrier", nonce="n1", qop="auth"'
        await h.dial({ credentials: { username: 'trunk', password: 'secret' } })
        await h.respond(407, { lines: [challenge] })
        await h.answer()
        h.carrier.onRequest = received => {
          if (received.message.method !== 'BYE' || received.message.headers.has('Proxy-Authorization')) return false
          h.carrier.reply(received, 407, { lines: [challenge.replace('n1', 'n2')] })
          return true
        }
        const { message } = await h.checkHangsUp()
        checkThat('credentials in the BYE', message.headers.has('Proxy-Authorization'))
      },
    },
    {
      name: 'bye-challenged-by-a-stranger',
      carrier: 'the called party itself challenges the BYE in a realm of its own, to learn a digest of the password',
      engine: 'no credentials are sent',
      unsupported: true,
      source: { issue: 'baresip/re#101' },
      async run(h) {
        await h.establish({ credentials: { username: 'trunk', password: 'secret' } })
        h.carrier.onRequest = received => {
          if (received.message.method !== 'BYE') return false
          h.carrier.reply(received, 407, { lines: ['Proxy-Authenticate: Digest realm="thief", nonce="n", qop="auth"'] })
          return true
        }
        h.leg.hangUp()
        await h.line.pass(40_000, 100)
        const proofs = h.carrier.requests.filter(({ message }) => message.headers.has('Proxy-Authorization'))
        check('credentials', proofs.length, 0)
        checkThat('the call has ended', h.end !== undefined)
      },
    },
    {
      name: 'every-request-challenged',
      carrier: 'challenges every request without credentials, also in the dialog',
      engine: 'the BYE bears credentials at once, with the next nonce count',
      source: { issue: 'OpenSIPS/opensips#1064' },
      async run(h) {
        await h.dial({ credentials: { username: 'trunk', password: 'secret' } })
        await h.respond(407, { lines: ['Proxy-Authenticate: Digest realm="carrier", nonce="n1", qop="auth"'] })
        await h.answer()
        const { message } = await h.checkHangsUp()
        check('BYEs', h.carrier.all('BYE').length, 1)
        checkThat('nonce count 2', /nc=00000002/.test(message.headers.get('Proxy-Authorization') ?? ''))
      },
    },
    {
      name: 'bye-answered-481',
      carrier: 'BYE is answered 481: the far end does not know the call any more',
      engine: 'the end is confirmed',
      source: { issue: 'juha-h/baresip-studio#306' },
      async run(h) {
        await hangUpAnsweredBy(h, 481, 1000)
        check('end', [h.end?.confirmed, h.end?.byeStatus], [true, 481])
      },
    },
    {
      name: 'byes-cross',
      carrier: 'its BYE crosses ours',
      engine: 'both are answered 200; one end',
      source: { issue: 'Eyepea/aiosip#101' },
      async run(h) {
        await h.establish()
        h.leg.hangUp()
        check('status', await h.send('BYE'), 200)
        await h.pass(500)
        check('end', [h.end?.cause, h.end?.confirmed], ['bye', true])
      },
    },
    {
      name: 'bye-repeated',
      carrier: 'BYE three times: the 200 is lost',
      engine: '200 each time',
      source: { issue: 'livekit/sip#280' },
      async run(h) {
        await h.establish()
        for (let i = 0; i < 3; i++) h.carrier.request('BYE', h.dialog, { sequence: 700, branch: 'z9hG4bKbye' })
        await h.pass(300)
        check(
          'responses',
          h.carrier.answersTo(700).map(({ status }) => status),
          [200, 200, 200],
        )
        check('end', [h.end?.by, h.end?.cause], ['remote', 'bye'])
      },
    },
    {
      name: 'bye-by-another-hop',
      carrier: 'the BYE comes from another address of its network, not from the one that was called',
      engine: '200; the call ends',
      source: { clause: 'RFC 3261 section 12.2.2' },
      async run(h) {
        await h.establish({ sources: [parseIpNetwork('192.0.2.0/24')!] })
        const hop = h.strangerAt('192.0.2.30')
        check('status', await hop('BYE'), 200)
        check('end', h.end?.cause, 'bye')
      },
    },
    {
      name: 'bye-by-a-stranger',
      carrier: 'a BYE with the right tags from an address outside the networks of the trunk',
      engine: '481; the call goes on',
      unsupported: true,
      source: { issue: 'GlomarGadaffi/pocket-dial#356' },
      async run(h) {
        await h.establish({ sources: [parseIpNetwork('192.0.2.0/28')!] })
        check('status', await h.strangerAt('198.51.100.7')('BYE'), 481)
        await h.checkTalks()
      },
    },
    {
      name: 'bye-over-udp-into-a-tls-call',
      carrier: 'a BYE with the right tags over UDP for a call over TLS',
      engine: '481; the call goes on',
      unsupported: true,
      source: { clause: 'RFC 3261 section 26.2.1' },
      async run(h) {
        await h.dial({ over: 'tls', security: 'rtp-only' })
        await h.answer()
        check('status', await h.strangerAt('192.0.2.30')('BYE'), 481)
        h.checkActive()
      },
    },
    {
      name: 'request-out-of-order',
      carrier: 'an INFO with a lower CSeq than the last request',
      engine: '500; the call goes on',
      source: { clause: 'RFC 3261 section 12.2.2' },
      async run(h) {
        await h.establish()
        await h.send('OPTIONS', { sequence: 900 })
        check(
          'status',
          await h.send('INFO', { sequence: 890, lines: ['Content-Type: application/dtmf'], body: '1' }),
          500,
        )
        check('digits', h.digits(), '')
        h.checkActive()
      },
    },
    {
      name: 'options-in-the-dialog',
      carrier: 'OPTIONS in the dialog as a keep-alive',
      engine: '200',
      source: { clause: 'RFC 3261 section 11.2' },
      async run(h) {
        await h.establish()
        check('status', await h.send('OPTIONS'), 200)
        h.checkActive()
      },
    },
    {
      name: 'notify-without-subscription',
      carrier: 'NOTIFY and MESSAGE in the dialog, without any subscription',
      engine: '481 and 405; the call goes on',
      unsupported: true,
      source: { clause: 'RFC 6665 section 4.1.3' },
      async run(h) {
        await h.establish()
        const notify = await h.send('NOTIFY', { lines: ['Event: refer', 'Subscription-State: active'] })
        check('status of NOTIFY', notify, 481)
        const message = await h.send('MESSAGE', { lines: ['Content-Type: text/plain'], body: 'hello' })
        check('status of MESSAGE', message, 405)
        h.checkActive()
      },
    },
    {
      name: 'refer-by-the-carrier',
      carrier: 'REFER: the engine should call another number in its place',
      engine: '403; no call is placed; the refusal is reported',
      unsupported: true,
      source: { clause: 'RFC 3515 section 5.2' },
      async run(h) {
        await h.establish()
        const status = await h.send('REFER', { lines: [`Refer-To: <sip:other@${CARRIER}>`] })
        check('status and report', [status, h.events('refer-refused').length], [403, 1])
        check('INVITEs', h.carrier.all('INVITE').length, 1)
        h.checkActive()
      },
    },
    {
      name: 'unknown-dialog',
      carrier: 'a BYE with another To tag than the one of the call',
      engine: '481; the call goes on',
      source: { issue: 'eigger/hass-sip#83' },
      async run(h) {
        await h.establish()
        check('status', await h.send('BYE', { tag: 'someone-else' }), 481)
        check('status of a foreign Call-ID', await h.send('BYE', { callId: 'unknown@192.0.2.9' }), 481)
        h.checkActive()
      },
    },
    {
      name: 'connection-lost',
      carrier: 'the TLS connection of the call breaks, the call stands',
      engine: 'it is dialled again with a request in the dialog; the call goes on over the new connection',
      source: { issue: 'drachtio/drachtio-server#384' },
      async run(h) {
        await h.dial({ over: 'tls', security: 'rtp-only' })
        await h.answer()
        const before = h.carrier.requests.length
        h.line.signalling.at(CARRIER)!.cutAll()
        await h.pass(3000)
        const after = h.carrier.requests.slice(before)
        checkThat('a request in the dialog came over a new connection', after.length > 0)
        await h.checkTalks()
        check('the end is confirmed', (await h.checkHangsUp()).flow.transport, 'tls')
      },
    },
    {
      name: 'connection-lost-and-call-gone',
      carrier: 'the TLS connection breaks, and the carrier answers 481 afterwards',
      engine: 'the call ends at once',
      source: { issue: 'pjsip/pjproject#488' },
      async run(h) {
        await h.dial({ over: 'tls', security: 'rtp-only' })
        await h.answer()
        h.carrier.onRequest = received => {
          if (received.message.method === 'ACK') return false
          h.carrier.reply(received, 481)
          return true
        }
        h.line.signalling.at(CARRIER)!.cutAll()
        await h.pass(3000)
        checkThat('the call has ended', h.end !== undefined)
      },
    },
  ],
}

export const REFRESHES: ScenarioGroup = {
  title: 'Session timers',
  scenarios: [
    {
      name: 'refresh-by-update-without-sdp',
      carrier: 'refreshes by UPDATE without SDP, twice, then hangs up after two intervals',
      engine: '200 with Session-Expires; the call lives',
      source: { issue: 'drachtio/drachtio-server#87' },
      async run(h) {
        const lines = ['Supported: timer', 'Session-Expires: 90;refresher=uac']
        check('status', await h.callEngine({ lines }), 200)
        for (let i = 0; i < 3; i++) {
          h.rtp.talk(45_000)
          await h.line.pass(45_000, 100)
          check('status of the UPDATE', await h.send('UPDATE', { lines }), 200)
        }
        checkThat('Session-Expires in the 200', h.carrier.responses.at(-1)!.message.headers.has('Session-Expires'))
        h.checkActive()
      },
    },
    {
      name: 'no-refresh-comes',
      carrier: 'has to refresh and does not',
      engine: 'BYE before the interval is over',
      source: { issue: 'pjsip/pjproject#1722' },
      async run(h) {
        await h.callEngine({ lines: ['Supported: timer', 'Session-Expires: 90;refresher=uac'] })
        h.rtp.talk(90_000)
        await h.line.pass(91_000, 100)
        check('BYEs', h.carrier.all('BYE').length, 1)
        check('cause', h.end?.cause, 'timeout')
      },
    },
    {
      name: 'refresh-answered-with-sdp',
      carrier: 'answers our UPDATE without SDP with a 200 that carries SDP',
      engine: 'the SDP is ignored; later offers work',
      source: { issue: 'pjsip/pjproject#1747' },
      async run(h) {
        await h.establish(
          {},
          {
            lines: [
              'Supported: timer',
              'Require: timer',
              'Session-Expires: 90;refresher=uac',
              'Allow: UPDATE, INVITE, ACK, BYE, CANCEL',
            ],
          },
        )
        h.carrier.onRequest = received => {
          if (received.message.method !== 'UPDATE') return false
          h.carrier.reply(received, 200, {
            body: sdp({ port: 47_000 }),
            lines: ['Session-Expires: 90;refresher=uac', 'Require: timer'],
          })
          return true
        }
        h.rtp.talk(50_000)
        await h.line.pass(50_000, 100)
        check('UPDATEs', h.carrier.all('UPDATE').length, 1)
        check('status', await h.send('INVITE', { body: sdp({ version: 2 }) }), 200)
        await h.checkTalks()
      },
    },
    {
      name: 'refresh-refused',
      carrier: 'answers our UPDATE with 501, although it allows UPDATE',
      engine: 'a re-INVITE refreshes instead; the call lives',
      source: { issue: 'AlticeLabsPublic/asterisk-i#69' },
      async run(h) {
        await h.establish(
          {},
          {
            lines: [
              'Supported: timer',
              'Require: timer',
              'Session-Expires: 90;refresher=uac',
              'Allow: UPDATE, INVITE, ACK, BYE, CANCEL',
            ],
          },
        )
        h.carrier.onRequest = received => {
          const { method } = received.message
          if (method === 'UPDATE') h.carrier.reply(received, 501)
          else if (method === 'INVITE')
            h.carrier.reply(received, 200, {
              body: sdp(),
              lines: ['Session-Expires: 90;refresher=uac', 'Require: timer'],
            })
          return method === 'UPDATE' || method === 'INVITE'
        }
        h.rtp.talk(120_000)
        await h.line.pass(119_000, 100)
        checkThat('a re-INVITE was sent', h.carrier.all('INVITE').length > 1)
        h.checkActive()
      },
    },
    {
      name: 'refresh-without-update',
      carrier: 'does not allow UPDATE',
      engine: 'it is refreshed by re-INVITE, its `o=` line unchanged',
      source: { issue: 'pjsip/pjproject#1047' },
      async run(h) {
        await h.establish(
          {},
          {
            lines: [
              'Supported: timer',
              'Require: timer',
              'Session-Expires: 90;refresher=uac',
              'Allow: INVITE, ACK, BYE, CANCEL',
            ],
          },
        )
        h.rtp.talk(50_000)
        await h.line.pass(48_000, 100)
        const offers = h.carrier
          .all('INVITE')
          .map(({ message }) => /^o=.*$/m.exec(new TextDecoder().decode(message.body))?.[0])
        checkThat(`${offers.length} INVITEs`, offers.length >= 2)
        check('o= line', offers.at(-1), offers[0])
        check('UPDATEs', h.carrier.all('UPDATE').length, 0)
      },
    },
    {
      name: 'interval-below-the-minimum',
      carrier: 'an INVITE with Session-Expires 60',
      engine: '422 with Min-SE 90',
      source: { issue: 'versatica/JsSIP#297' },
      async run(h) {
        check('status', await h.callEngine({ lines: ['Supported: timer', 'Session-Expires: 60'] }), 422)
        check('Min-SE', h.carrier.responses.at(-1)!.message.headers.get('Min-SE'), '90')
      },
    },
    {
      name: 'answer-with-a-shorter-interval',
      carrier: 'a 200 with Session-Expires 30, below the Min-SE of the INVITE',
      engine: 'the call is kept and refreshed in time',
      source: { issue: 'pjsip/pjproject#954' },
      async run(h) {
        await h.establish(
          {},
          {
            lines: [
              'Supported: timer',
              'Require: timer',
              'Session-Expires: 30;refresher=uac',
              'Allow: UPDATE, INVITE, ACK, BYE, CANCEL',
            ],
          },
        )
        h.rtp.talk(60_000)
        await h.line.pass(59_000, 100)
        h.checkActive()
        checkThat('it was refreshed', h.carrier.all('UPDATE').length >= 1)
      },
    },
  ],
}
