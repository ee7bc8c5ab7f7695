import { CARRIER, type CarrierHarness, OTHER_ADDRESS, sdp } from './carrier-harness.ts'
import { check, checkThat } from './checks.ts'
import type { ScenarioGroup } from './scenario.ts'

const CREDENTIALS = { username: 'trunk', password: 'secret' }
const CHALLENGE = 'Digest realm="carrier", nonce="n1", algorithm=MD5, qop="auth"'

const inviteCount = (h: CarrierHarness) =>
  new Set(h.carrier.all('INVITE').map(({ message }) => message.cseq.sequence)).size

/** `Authorization` or `Proxy-Authorization` of the last INVITE. */
function credentialsOf(h: CarrierHarness): string {
  const { headers } = h.carrier.last('INVITE').message
  return headers.get('Authorization') ?? headers.get('Proxy-Authorization') ?? ''
}

export const REFUSALS: ScenarioGroup = {
  title: 'Refused, challenged and cancelled calls',
  scenarios: [
    {
      name: 'cancel-crosses-answer',
      carrier: 'the 200 crosses the CANCEL',
      engine: 'the 200 is acknowledged and the call ended by BYE',
      source: { issue: 'livekit/sip#756' },
      async run(h) {
        const invite = await h.dial()
        await h.respond(180)
        h.leg.hangUp()
        h.carrier.reply(invite, 200, { body: sdp() })
        await h.pass(1000)
        check(
          'methods',
          h.carrier.requests.map(({ message }) => message.method),
          ['INVITE', 'CANCEL', 'ACK', 'BYE'],
        )
        check('end', [h.end?.answered, h.end?.confirmed], [false, true])
      },
    },
    {
      name: 'cancel-before-any-response',
      carrier: 'the engine gives up before the carrier has responded at all',
      engine: 'CANCEL waits for the first provisional response',
      source: { clause: 'RFC 3261 section 9.1' },
      async run(h) {
        const invite = await h.dial()
        h.leg.hangUp()
        await h.pass(400)
        check('CANCELs', h.carrier.all('CANCEL').length, 0)
        h.carrier.reply(invite, 100)
        await h.pass(200)
        check('CANCELs after the 100', h.carrier.all('CANCEL').length, 1)
        await h.respond(487)
        check('end', [h.end?.sipStatus, h.end?.confirmed], [487, true])
      },
    },
    {
      name: 'cancel-confirmed-without-487',
      carrier: 'the CANCEL is answered 200, the 487 never comes',
      engine: 'the call ends unconfirmed when the time for the 487 is over',
      source: { clause: 'RFC 3261 section 9.1' },
      async run(h) {
        await h.dial()
        await h.respond(180)
        h.leg.hangUp()
        await h.pass(40_000)
        check('CANCELs', h.carrier.all('CANCEL').length, 1)
        check('end', [h.end?.cause, h.end?.confirmed], ['cancelled', false])
      },
    },
    {
      name: 'challenge-repeated-as-stale',
      carrier: '407, then 407 again with `stale=true` and a new nonce',
      engine: 'the second challenge is answered too',
      source: { issue: 'emiago/sipgo#329' },
      async run(h) {
        await h.dial({ credentials: CREDENTIALS })
        await h.respond(407, { lines: [`Proxy-Authenticate: ${CHALLENGE}`] })
        await h.respond(407, { lines: [`Proxy-Authenticate: ${CHALLENGE.replace('n1', 'n2')}, stale=true`] })
        checkThat('the new nonce is used', credentialsOf(h).includes('nonce="n2"'))
        await h.answer()
        await h.checkTalks()
      },
    },
    {
      name: 'challenge-without-header',
      carrier: '401 without WWW-Authenticate',
      engine: 'a refusal with status 401',
      source: { issue: 'emiago/sipgo#329' },
      async run(h) {
        await h.dial({ credentials: CREDENTIALS })
        await h.respond(401)
        check('end', [h.end?.cause, h.end?.sipStatus, inviteCount(h)], ['rejected', 401, 1])
      },
    },
    {
      name: 'challenge-in-two-algorithms',
      carrier: 'challenges in an unknown algorithm, SHA-256 and MD5, in this order',
      engine: 'SHA-256 is answered',
      source: { clause: 'RFC 8760 section 2.4' },
      async run(h) {
        await h.dial({ credentials: CREDENTIALS })
        const algorithms = ['SHA-3', 'SHA-256', 'MD5']
        await h.respond(401, { lines: algorithms.map(name => `WWW-Authenticate: ${CHALLENGE.replace('MD5', name)}`) })
        checkThat(`SHA-256 in ${credentialsOf(h)}`, /algorithm="?SHA-256/.test(credentialsOf(h)))
      },
    },
    {
      name: 'challenge-of-rfc-2069',
      carrier: 'a challenge without qop and without algorithm',
      engine: 'an answer without cnonce and nonce count',
      source: { clause: 'RFC 2617 section 3.2.2.1' },
      async run(h) {
        await h.dial({ credentials: CREDENTIALS })
        await h.respond(407, { lines: ['Proxy-Authenticate: Digest realm="carrier", nonce="n1"'] })
        checkThat(
          `no cnonce in ${credentialsOf(h)}`,
          /response=/.test(credentialsOf(h)) && !/cnonce/.test(credentialsOf(h)),
        )
      },
    },
    {
      name: 'challenged-after-early-dialog',
      carrier: '180 with a To tag, then 407',
      engine: 'the second INVITE has no To tag and a higher CSeq',
      source: { clause: 'RFC 3261 section 8.1.3.5' },
      async run(h) {
        const first = await h.dial({ credentials: CREDENTIALS })
        await h.respond(180)
        await h.respond(407, { lines: [`Proxy-Authenticate: ${CHALLENGE}`] })
        const { message } = h.carrier.last('INVITE')
        check('tag', message.to.params.get('tag') ?? null, null)
        check('CSeq', message.cseq.sequence, first.message.cseq.sequence + 1)
      },
    },
    {
      name: 'session-interval-too-small',
      carrier: '422 with a Min-SE of an hour',
      engine: 'INVITE again with that interval',
      source: { issue: 'versatica/JsSIP#397' },
      async run(h) {
        await h.dial()
        await h.respond(422, { lines: ['Min-SE: 3600'] })
        check('Session-Expires', h.carrier.last('INVITE').message.headers.get('Session-Expires')?.split(';')[0], '3600')
        await h.answer()
        h.checkActive()
      },
    },
    {
      name: 'session-interval-never-large-enough',
      carrier: '422 to every INVITE, each time with a larger Min-SE',
      engine: 'a bounded number of INVITEs, then the call fails with 422',
      source: { issue: 'Metaswitch/sprout#529' },
      async run(h) {
        await h.dial()
        for (let i = 1; i <= 6 && h.end === undefined; i++)
          await h.respond(422, { lines: [`Min-SE: ${1800 + 600 * i}`] })
        check('status', h.end?.sipStatus, 422)
        checkThat(`${inviteCount(h)} INVITEs`, inviteCount(h) <= 5)
      },
    },
    {
      name: 'redirected',
      carrier: '302 with a Contact elsewhere',
      engine: 'it is not followed; the Contact is reported',
      unsupported: true,
      source: { clause: 'RFC 3261 section 8.1.3.4' },
      async run(h) {
        await h.dial()
        await h.respond(302, { contact: '<sip:other@192.0.2.66>' })
        check('targets', h.events('redirected')[0]?.targets, ['sip:other@192.0.2.66'])
        check('end', [h.end?.sipStatus, inviteCount(h)], [302, 1])
      },
    },
    {
      name: 'refused-again-and-again',
      carrier: 'the 486 is retransmitted as if the ACK were lost',
      engine: 'each one is acknowledged in the transaction of the INVITE',
      source: { clause: 'RFC 3261 section 17.1.1.2' },
      async run(h) {
        await h.dial()
        for (let i = 0; i < 3; i++) await h.respond(486)
        const branches = h.carrier.all('ACK').map(({ message }) => message.via[0]?.params.get('branch'))
        const branch = h.carrier.last('INVITE').message.via[0]?.params.get('branch')
        check('branches of the ACKs', branches, [branch, branch, branch])
        check('status', h.end?.sipStatus, 486)
      },
    },
    {
      name: 'unknown-status',
      carrier: 'a final status that no RFC defines (499)',
      engine: 'a refusal like 400, with the status that was sent',
      source: { clause: 'RFC 3261 section 8.1.3.2' },
      async run(h) {
        await h.dial()
        await h.respond(499)
        check('end', [h.end?.cause, h.end?.sipStatus], ['rejected', 499])
      },
    },
    {
      name: 'silent-target',
      carrier: 'the first of two addresses answers nothing; its 200 comes in the fifth second',
      engine: 'after 4 s the second one is called; the late 200 is acknowledged and ended by BYE',
      source: { issue: 'pjsip/pjproject#4477' },
      async run(h) {
        const invite = await h.dialTwoAddresses()
        await h.pass(4500)
        check('addresses that were called', h.calledAddresses(), [CARRIER, OTHER_ADDRESS])
        h.carrier.reply(invite, 200, { body: sdp() })
        await h.pass(500)
        check('methods', [h.carrier.all('ACK').length, h.carrier.all('BYE').length], [1, 1])
        check('the call is not answered by it', h.events('answered').length, 0)
      },
    },
    {
      name: 'refused-by-one-of-two',
      carrier: 'the first of two addresses answers 503, again and again',
      engine: 'the 503 is acknowledged each time; the second address is called',
      source: { issue: 'signalwire/freeswitch#2144' },
      async run(h) {
        const invite = await h.dialTwoAddresses()
        for (let i = 0; i < 3; i++) {
          h.carrier.reply(invite, 503)
          await h.pass(200)
        }
        check('ACKs', h.carrier.all('ACK').length, 3)
        check('addresses that were called', h.calledAddresses(), [CARRIER, OTHER_ADDRESS])
      },
    },
    {
      name: 'cancelled-without-487-before-failover',
      carrier: 'rings at the first of two addresses, confirms the CANCEL and sends no 487',
      engine: 'the second address is not called',
      source: { issue: 'asterisk/asterisk#1717' },
      async run(h) {
        const invite = await h.dialTwoAddresses()
        h.carrier.reply(invite, 180)
        await h.pass(200)
        h.leg.hangUp()
        await h.line.pass(40_000, 100)
        check('CANCELs', h.carrier.all('CANCEL').length, 1)
        check('addresses that were called', h.calledAddresses(), [CARRIER])
        checkThat('the call has ended', h.end !== undefined)
      },
    },
    {
      name: 'trying-and-nothing-else',
      carrier: '100, then nothing more',
      engine: 'CANCEL when the ring timeout is over; without a response to it the call ends unconfirmed',
      source: { clause: 'RFC 3261 section 17.1.1.2' },
      async run(h) {
        await h.dial({ ringTimeoutMs: 40_000 })
        await h.respond(100)
        h.carrier.onRequest = () => true
        await h.line.pass(39_000, 100)
        check('end before the ring timeout', h.end ?? null, null)
        await h.line.pass(40_000, 100)
        checkThat('a CANCEL was sent', h.carrier.all('CANCEL').length > 0)
        check('end', [h.end?.cause, h.end?.answered, h.end?.confirmed], ['timeout', false, false])
      },
    },
  ],
}
