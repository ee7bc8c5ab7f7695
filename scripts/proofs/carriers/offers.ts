import { sdp, sdpWith } from './carrier-harness.ts'
import { check, checkThat } from './checks.ts'
import type { ScenarioGroup } from './scenario.ts'

const answerText = (body: Uint8Array) => new TextDecoder().decode(body)

export const OFFERS: ScenarioGroup = {
  title: 'Offers within the call',
  scenarios: [
    {
      name: 'invite-without-sdp',
      carrier: 'an INVITE without SDP; the answer comes in the ACK',
      engine: 'the offer is in the 200; audio passes',
      source: { issue: 'livekit/sip#402' },
      async run(h) {
        h.line.onOffer = leg => leg.answer()
        const sequence = h.inviteEngine({ body: '' })
        await h.pass(200)
        const [ok] = h.carrier.answersTo(sequence)
        checkThat('the 200 carries an offer', answerText(ok!.body).includes('m=audio'))
        h.learnOffer(ok!.body)
        h.carrier.request('ACK', h.dialog, { sequence, body: sdp() })
        await h.pass(200)
        await h.checkTalks()
      },
    },
    {
      name: 'reinvite-unchanged',
      carrier: 'a re-INVITE with the same SDP, its version unchanged',
      engine: '200 with the SDP of before; audio goes on without a gap',
      source: { issue: 'sipwise/rtpengine#1443' },
      async run(h) {
        await h.establish()
        for (let i = 0; i < 2; i++) check('status', await h.send('INVITE', { body: sdp() }), 200)
        const answers = h.carrier.responses.map(({ message }) => answerText(message.body)).filter(text => text !== '')
        check('second answer', answers[1], answers[0])
        check('events', h.events('held').length + h.events('resumed').length, 0)
        await h.checkTalks()
      },
    },
    {
      name: 'reinvite-without-sdp',
      carrier: 'a re-INVITE without SDP on a call that the carrier holds; its answer ends the hold',
      engine: 'the 200 offers sendrecv; the call is resumed',
      source: { issue: 'signalwire/freeswitch#1091' },
      async run(h) {
        await h.establish()
        check('hold', await h.send('INVITE', { body: sdpWith(['a=sendonly'], { version: 2 }) }), 200)
        checkThat('the engine is on hold', h.leg.held)
        const sequence = h.carrier.request('INVITE', h.dialog)
        await h.pass(200)
        const [ok] = h.carrier.answersTo(sequence)
        checkThat('the offer sends and receives', !/a=(sendonly|recvonly|inactive)/.test(answerText(ok!.body)))
        h.carrier.request('ACK', h.dialog, { sequence, body: sdp({ version: 3 }) })
        await h.pass(200)
        check('held', h.leg.held, false)
        await h.checkTalks()
      },
    },
    {
      name: 'hold-by-zero-address',
      carrier: 'hold by `c=IN IP4 0.0.0.0`, without a direction attribute; then resume',
      engine: 'held: no RTP is sent; then audio passes again',
      source: { issue: 'kamailio/kamailio#1292' },
      async run(h) {
        await h.establish()
        await h.send('INVITE', { body: sdp({ address: '0.0.0.0', version: 2 }) })
        check('held', h.leg.held, true)
        await h.pass(100)
        check('ports that receive', await h.audioArrivesAt(), [])
        await h.send('INVITE', { body: sdp({ version: 3 }) })
        await h.checkTalks()
      },
    },
    {
      name: 'hold-inactive-for-a-minute',
      carrier: 'hold by `a=inactive` for 60 s, without any RTP',
      engine: 'the call lives and is resumed',
      source: { issue: 'sipsorcery-org/sipsorcery#884' },
      async run(h) {
        await h.establish()
        await h.send('INVITE', { body: sdpWith(['a=inactive'], { version: 2 }) })
        await h.pass(60_000)
        await h.send('INVITE', { body: sdp({ version: 3 }) })
        await h.checkTalks()
      },
    },
    {
      name: 'our-hold-answered-recvonly',
      carrier: 'the engine holds for 70 s; the carrier answers recvonly and sends nothing',
      engine: 'the call lives and is resumed',
      source: { issue: 'thevoiceguy/siphon-ai#402' },
      async run(h) {
        await h.establish()
        h.leg.hold()
        await h.pass(200)
        await h.answer({ body: sdpWith(['a=recvonly'], { version: 2 }) })
        await h.pass(70_000)
        h.leg.resume()
        await h.pass(200)
        await h.answer({ body: sdp({ version: 3 }) })
        await h.checkTalks()
      },
    },
    {
      name: 'reinvites-cross',
      carrier: 'its re-INVITE crosses ours, and both are refused with 491',
      engine: '491 to theirs; ours again later, and it goes through',
      source: { issue: 'pjsip/pjproject#1166' },
      async run(h) {
        await h.establish()
        h.leg.hold()
        check('status of theirs', await h.send('INVITE', { body: sdp({ version: 2 }) }), 491)
        await h.respond(491)
        const { sequence } = h.carrier.last('INVITE').message.cseq
        await h.pass(4500)
        check('CSeq of the re-INVITE', h.carrier.last('INVITE').message.cseq.sequence, sequence + 1)
        await h.answer({ body: sdpWith(['a=recvonly'], { version: 2 }) })
        check(
          'hold',
          h.events('reoffered').map(({ purpose }) => purpose),
          ['hold'],
        )
      },
    },
    {
      name: 'reinvite-before-the-ack',
      carrier: 'a re-INVITE before the ACK to the 200',
      engine: '491; the call goes on',
      source: { issue: 'pjsip/pjproject#1455' },
      async run(h) {
        await h.callEngine({}, { acknowledges: false })
        const first = h.carrier.responses.findLast(({ message }) => message.status === 200)!.message.cseq.sequence
        const sequence = h.carrier.request('INVITE', h.dialog, { body: sdp({ version: 2 }) })
        await h.pass(200)
        check('status', h.carrier.answersTo(sequence)[0]?.status, 491)
        h.carrier.request('ACK', h.dialog, { sequence: first })
        await h.pass(200)
        await h.checkTalks()
      },
    },
    {
      name: 'reinvite-moves-the-media',
      carrier: 'media moves to another port by re-INVITE',
      engine: 'RTP goes to the new port only',
      source: { issue: 'DoubangoTelecom/doubango#306' },
      async run(h) {
        await h.establish()
        h.rtp.stream.port = 44_000
        h.rtp.listen(44_000)
        await h.send('INVITE', { body: sdp({ port: 44_000, version: 2 }) })
        await h.pass(100)
        await h.checkTalks()
      },
    },
    {
      name: 'reinvite-with-unknown-codec',
      carrier: 'a re-INVITE that offers G.729 only',
      engine: '488; the call goes on as it was',
      source: { issue: 'onsip/SIP.js#258' },
      async run(h) {
        await h.establish()
        check('status', await h.send('INVITE', { body: sdp({ formats: '18', version: 2 }) }), 488)
        await h.checkTalks()
      },
    },
    {
      name: 'reinvite-with-video',
      carrier: 'a re-INVITE adds video',
      engine: 'the video stream is refused with port 0, audio goes on',
      source: { issue: 'selvakn/gsm-sip-bridge#62' },
      async run(h) {
        await h.establish()
        check(
          'status',
          await h.send('INVITE', {
            body: `${sdp({ version: 2 })}m=video 45000 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n`,
          }),
          200,
        )
        checkThat(
          'video has port 0',
          h.carrier.responses.some(({ message }) => answerText(message.body).includes('m=video 0 ')),
        )
        await h.checkTalks()
      },
    },
    {
      name: 'update-changes-the-media',
      carrier: 'UPDATE with SDP moves the media',
      engine: '200 with SDP; RTP goes to the new port',
      source: { clause: 'RFC 3311 section 5.2' },
      async run(h) {
        await h.establish()
        h.rtp.stream.port = 44_000
        h.rtp.listen(44_000)
        check('status', await h.send('UPDATE', { body: sdp({ port: 44_000, version: 2 }) }), 200)
        await h.pass(100)
        await h.checkTalks()
      },
    },
    {
      name: 'reinvite-lost-then-repeated',
      carrier: 'a re-INVITE arrives twice with the same branch',
      engine: 'one 200 twice, one change',
      source: { clause: 'RFC 3261 section 17.2.1' },
      async run(h) {
        await h.establish()
        const wording = { sequence: 500, branch: 'z9hG4bKtwice', body: sdpWith(['a=sendonly'], { version: 2 }) }
        h.carrier.request('INVITE', h.dialog, wording)
        h.carrier.request('INVITE', h.dialog, wording)
        await h.pass(100)
        h.carrier.request('ACK', h.dialog, { sequence: 500 })
        await h.pass(100)
        check('held', h.events('held').length, 1)
        checkThat(
          'every answer is 200',
          h.carrier.answersTo(500).every(({ status }) => status === 200),
        )
      },
    },
    {
      name: 'second-offer-in-prack',
      carrier: 'a PRACK with another offer while that of the INVITE is not answered yet',
      engine:
        '488 to the PRACK, which may offer only when the first offer has its answer; the call is answered with the first offer',
      source: { clause: 'RFC 3262 section 5' },
      async run(h) {
        h.line.onOffer = leg => leg.ring()
        const sequence = h.inviteEngine({ body: sdp(), lines: ['Supported: 100rel', 'Require: 100rel'] })
        await h.pass(200)
        const ringing = h.carrier.responses.findLast(({ message }) => message.status === 180)!
        const rseq = ringing.message.headers.get('RSeq')
        const prack = h.carrier.request('PRACK', ringing, {
          lines: [`RAck: ${rseq} ${sequence} INVITE`],
          body: sdp({ port: 42_000, version: 2 }),
        })
        await h.pass(200)
        check('status', h.carrier.answersTo(prack)[0]?.status, 488)
        h.leg.answer()
        await h.pass(200)
        h.learnOffer(h.carrier.answersTo(sequence)[0]!.body)
        h.carrier.request('ACK', h.dialog, { sequence })
        await h.pass(200)
        await h.checkTalks()
      },
    },
    {
      name: 'cancelled-reinvite',
      carrier: 'CANCEL for a re-INVITE that has been answered',
      engine: '200 to the CANCEL, without effect; the call goes on',
      source: { clause: 'RFC 3261 section 9.2' },
      async run(h) {
        await h.establish()
        const branch = 'z9hG4bKcancelled'
        await h.send('INVITE', { sequence: 600, branch, body: sdp({ version: 2 }) })
        h.carrier.request('CANCEL', h.dialog, { sequence: 600, branch })
        await h.pass(200)
        check(
          'responses',
          h.carrier.answersTo(600).map(({ cseq, status }) => `${cseq.method} ${status}`),
          ['INVITE 200', 'CANCEL 200'],
        )
        await h.checkTalks()
      },
    },
  ],
}
