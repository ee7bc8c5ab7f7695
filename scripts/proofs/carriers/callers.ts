import { CARRIER, sdp } from './carrier-harness.ts'
import { check, checkThat } from './checks.ts'
import type { ScenarioGroup } from './scenario.ts'

export const CALLERS: ScenarioGroup = {
  title: 'Calls of the carrier',
  scenarios: [
    {
      name: 'invite-twice',
      carrier: 'the INVITE is retransmitted while it is answered',
      engine: 'one call; the last response is repeated',
      source: { issue: 'emiago/sipgo#227' },
      async run(h) {
        let legs = 0
        h.line.onOffer = leg => {
          legs++
          leg.answer()
        }
        const wording = { sequence: 10, branch: 'z9hG4bKsame', callId: 'one@carrier', body: sdp() }
        for (let i = 0; i < 3; i++) h.inviteEngine(wording)
        await h.pass(300)
        check('calls', legs, 1)
        checkThat(
          'all answers are 200',
          h.carrier.answersTo(10).every(({ status }) => status === 200),
        )
      },
    },
    {
      name: 'invite-by-two-paths',
      carrier: 'one INVITE arrives over two paths (same Call-ID, From tag and CSeq, other branch)',
      engine: '482 to the second one',
      source: { issue: 'pjsip/pjproject#378' },
      async run(h) {
        for (const branch of ['z9hG4bKpath1', 'z9hG4bKpath2'])
          h.inviteEngine({ sequence: 11, branch, callId: 'two@carrier', body: sdp() })
        await h.pass(300)
        checkThat(
          'one of them got 482',
          h.carrier.answersTo(11).some(({ status }) => status === 482),
        )
      },
    },
    {
      name: 'called-again-after-cancel',
      carrier: 'cancels its INVITE and calls again in the same Call-ID and From tag with the next CSeq (hunting)',
      engine: 'the second call is answered, not taken for a merged request',
      source: { issue: 'freeswitch/sofia-sip#211' },
      async run(h) {
        h.line.onOffer = leg => leg.ring()
        const callId = 'hunting@carrier'
        const to = { address: '192.0.2.2', port: 5060, transport: 'udp' } as const
        h.inviteEngine({ sequence: 40, branch: 'z9hG4bKhunt1', callId, body: sdp() })
        await h.pass(200)
        h.carrier.open('CANCEL', 'sip:token@192.0.2.2;transport=udp', to, {
          sequence: 40,
          branch: 'z9hG4bKhunt1',
          callId,
        })
        await h.pass(200)
        h.line.onOffer = leg => leg.answer()
        h.inviteEngine({ sequence: 41, branch: 'z9hG4bKhunt2', callId, body: sdp() })
        await h.pass(200)
        check('status', h.carrier.answersTo(41)[0]?.status, 200)
      },
    },
    {
      name: 'record-route-with-another-port',
      carrier: 'calls over TCP; its Record-Route names a port at which it accepts no connection',
      engine: 'BYE goes back over the connection of the call',
      source: { issue: 'emiago/sipgo#361' },
      async run(h) {
        const lines = [`Record-Route: <sip:${CARRIER}:5999;transport=tcp;lr>`]
        check('status', await h.callEngine({ lines }, { over: 'tcp' }), 200)
        await h.checkHangsUp()
      },
    },
    {
      name: 'ack-never-comes',
      carrier: 'no ACK to the 200',
      engine: 'the 200 is repeated, BYE after 32 s',
      source: { issue: 'emiago/sipgo#227' },
      async run(h) {
        await h.callEngine({}, { acknowledges: false })
        h.rtp.talk(40_000)
        await h.line.pass(34_000, 100)
        checkThat(
          'the 200 was repeated',
          h.carrier.responses.filter(({ message }) => message.status === 200 && message.cseq.method === 'INVITE')
            .length > 5,
        )
        check('BYEs', h.carrier.all('BYE').length, 1)
      },
    },
    {
      name: 'ack-on-another-branch-and-hop',
      carrier: 'the ACK has a branch of its own and comes through another Via',
      engine: 'it confirms the call',
      source: { issue: 'resiprocate/resiprocate#471' },
      async run(h) {
        await h.callEngine({}, { acknowledges: false })
        const { sequence } = h.carrier.responses.findLast(({ message }) => message.status === 200)!.message.cseq
        h.carrier.request('ACK', h.dialog, {
          sequence,
          via: 'SIP/2.0/UDP edge.carrier.example:5080;branch=z9hG4bKedge',
        })
        await h.pass(2000)
        const repeated = h.carrier.responses.filter(({ message }) => message.status === 200).length
        await h.checkTalks()
        check('200s afterwards', h.carrier.responses.filter(({ message }) => message.status === 200).length, repeated)
      },
    },
    {
      name: 'cancel-after-the-answer',
      carrier: 'CANCEL arrives after the 200',
      engine: '200 to the CANCEL, and the call stands',
      source: { issue: 'OpenSIPS/opensips#1388' },
      async run(h) {
        h.line.onOffer = leg => leg.answer()
        const branch = 'z9hG4bKlate'
        const sequence = h.inviteEngine({ sequence: 20, branch, callId: 'late@carrier', body: sdp() })
        await h.pass(200)
        h.carrier.open(
          'CANCEL',
          'sip:token@192.0.2.2;transport=udp',
          { address: '192.0.2.2', port: 5060, transport: 'udp' },
          { sequence, branch, callId: 'late@carrier' },
        )
        await h.pass(200)
        h.learnOffer(h.carrier.answersTo(sequence).find(({ cseq }) => cseq.method === 'INVITE')!.body)
        h.carrier.request('ACK', h.dialog, { sequence })
        await h.pass(200)
        await h.checkTalks()
      },
    },
    {
      name: 'cancel-of-nothing',
      carrier: 'CANCEL for an INVITE that never came',
      engine: '481',
      source: { clause: 'RFC 3261 section 9.2' },
      async run(h) {
        const to = { address: '192.0.2.2', port: 5060, transport: 'udp' } as const
        const sequence = h.carrier.open('CANCEL', 'sip:token@192.0.2.2', to)
        await h.pass(200)
        check('status', h.carrier.answersTo(sequence)[0]?.status, 481)
      },
    },
    {
      name: 'unknown-extension-required',
      carrier: 'an INVITE with `Require: preconditions`',
      engine: '420 with Unsupported',
      unsupported: true,
      source: { clause: 'RFC 3261 section 8.2.2.3' },
      async run(h) {
        check('status', await h.callEngine({ lines: ['Require: precondition'] }), 420)
        check('Unsupported', h.carrier.responses.at(-1)!.message.headers.get('Unsupported'), 'precondition')
      },
    },
    {
      name: 'invite-without-contact',
      carrier: 'an INVITE without Contact',
      engine: 'the call is answered; BYE of the engine goes back to where the INVITE came from',
      source: { clause: 'RFC 3261 section 8.1.1.8' },
      async run(h) {
        check('status', await h.callEngine({ contact: '' }), 200)
        await h.checkHangsUp()
      },
    },
    {
      name: 'record-route-by-address',
      carrier: 'an INVITE with two Record-Route entries that name addresses',
      engine: 'both are copied into the 200; BYE goes through them in this order',
      source: { issue: 'livekit/sip#771' },
      async run(h) {
        const lines = [`Record-Route: <sip:${CARRIER};lr>`, 'Record-Route: <sip:10.3.3.3;lr>']
        check('status', await h.callEngine({ lines }), 200)
        const ok = h.carrier.responses.findLast(({ message }) => message.status === 200)!.message
        check('copied', ok.recordRoute.length, 2)
        const { message } = await h.checkHangsUp()
        check(
          'routes',
          message.route.map(({ uri }) => 'host' in uri && uri.host),
          [CARRIER, '10.3.3.3'],
        )
      },
    },
    {
      name: 'contact-of-the-caller-unreachable',
      carrier: 'the Contact is a private address behind NAT; no Record-Route',
      engine: 'BYE of the engine goes back over the TCP connection of the call',
      source: { issue: 'thevoiceguy/siphon-ai#349' },
      async run(h) {
        check('status', await h.callEngine({ contact: '<sip:caller@10.4.4.4;transport=tcp>' }, { over: 'tcp' }), 200)
        const { flow } = await h.checkHangsUp()
        check('transport', flow.transport, 'tcp')
      },
    },
    {
      name: 'caller-hangs-up-while-ringing',
      carrier: 'CANCEL while the engine rings',
      engine: '200 to the CANCEL, 487 to the INVITE',
      source: { issue: 'livekit/sip#684' },
      async run(h) {
        h.line.onOffer = leg => leg.ring()
        const branch = 'z9hG4bKgivesup'
        const sequence = h.inviteEngine({ sequence: 30, branch, callId: 'gives-up@carrier', body: sdp() })
        await h.pass(200)
        h.carrier.open(
          'CANCEL',
          'sip:token@192.0.2.2;transport=udp',
          { address: '192.0.2.2', port: 5060, transport: 'udp' },
          { sequence, branch, callId: 'gives-up@carrier' },
        )
        await h.pass(200)
        const statuses = h.carrier.answersTo(sequence).map(({ status, cseq }) => `${cseq.method} ${status}`)
        check('responses', [...new Set(statuses)].sort(), ['CANCEL 200', 'INVITE 487'])
      },
    },
    {
      name: 'formats-without-a-common-codec',
      carrier: 'an offer of G.729 and Opus',
      engine: '488 with a Warning',
      unsupported: true,
      source: { issue: 'livekit/livekit#2937' },
      async run(h) {
        const body = sdp({ formats: '18 111', attributes: ['a=rtpmap:111 opus/48000/2'] })
        check('status', await h.callEngine({ body }), 488)
        checkThat('Warning', h.carrier.responses.at(-1)!.message.headers.has('Warning'))
      },
    },
  ],
}
