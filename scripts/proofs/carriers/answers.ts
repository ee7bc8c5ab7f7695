import { CARRIER, sdp } from './carrier-harness.ts'
import { check, checkThat } from './checks.ts'
import type { ScenarioGroup } from './scenario.ts'

export const ANSWERS: ScenarioGroup = {
  title: 'Answers and routes',
  scenarios: [
    {
      name: 'answer-repeated',
      carrier: 'the 200 is retransmitted three times, as if the ACK were lost',
      engine: 'each one is acknowledged with the same CSeq; the call is answered once',
      source: { issue: 'livekit/sip#851' },
      async run(h) {
        await h.establish()
        for (let i = 0; i < 3; i++) await h.answer()
        const sequence = h.carrier.last('INVITE').message.cseq.sequence
        const acknowledged = h.carrier.all('ACK').map(({ message }) => message.cseq.sequence)
        check('CSeq of the ACKs', acknowledged, [sequence, sequence, sequence, sequence])
        check('answers', h.events('answered').length, 1)
        await h.checkTalks()
      },
    },
    {
      name: 'answer-repeated-during-reinvite',
      carrier: 'the first 200 is retransmitted while a re-INVITE of the engine is under way',
      engine: 'the retransmission is acknowledged with its own CSeq',
      source: { issue: 'OpenSIPS/opensips#2106' },
      async run(h) {
        await h.establish()
        const first = h.carrier.last('INVITE')
        h.leg.hold()
        await h.pass(200)
        h.carrier.reply(first, 200, { body: sdp() })
        await h.pass(200)
        check('CSeq of the last ACK', h.carrier.last('ACK').message.cseq.sequence, first.message.cseq.sequence)
        await h.answer({ body: sdp({ version: 2 }) })
        h.checkActive()
      },
    },
    {
      name: 'answer-without-contact',
      carrier: '200 without Contact',
      engine: 'ACK and BYE go to the address that was dialled',
      source: { issue: 'asterisk/asterisk#1711' },
      async run(h) {
        await h.establish({}, { contact: '' })
        await h.checkTalks()
        const { message } = await h.checkHangsUp()
        check('host of the BYE', 'host' in message.uri && message.uri.host, CARRIER)
      },
    },
    {
      name: 'answer-to-update-without-contact',
      carrier: 'a 200 to a re-INVITE without Contact',
      engine: 'the target of the dialog stays',
      source: { issue: 'OpenSIPS/opensips#3218' },
      async run(h) {
        await h.establish()
        h.leg.hold()
        await h.pass(200)
        await h.answer({ contact: '', body: sdp({ version: 2, attributes: ['a=recvonly'] }) })
        const { message } = await h.checkHangsUp()
        check('user of the BYE', 'user' in message.uri && message.uri.user, 'carrier')
      },
    },
    {
      name: 'contact-behind-nat',
      carrier: 'the Contact of the 200 names a port at which nobody listens; Record-Route names the proxy by address',
      engine: 'ACK and BYE go to the proxy, with the Contact as Request-URI',
      source: { issue: 'livekit/sip#730' },
      async run(h) {
        await h.establish({}, { contact: '<sip:inner@10.9.9.9:5070>', lines: [`Record-Route: <sip:${CARRIER};lr>`] })
        const ack = h.carrier.last('ACK').message
        check('target and routes of the ACK', ['host' in ack.uri && ack.uri.host, ack.route.length], ['10.9.9.9', 1])
        const { message } = await h.checkHangsUp()
        check(
          'host and routes of the BYE',
          ['host' in message.uri && message.uri.host, message.route.length],
          ['10.9.9.9', 1],
        )
      },
    },
    {
      name: 'route-set-of-two-hops',
      carrier: 'two Record-Route entries in the 200, the nearest proxy last',
      engine: 'the route set is their reverse, and BYE has both',
      source: { issue: 'emiago/sipgo#346' },
      async run(h) {
        const lines = ['Record-Route: <sip:10.1.1.1;lr>', `Record-Route: <sip:${CARRIER};lr>`]
        await h.establish({}, { lines })
        const { message } = await h.checkHangsUp()
        check(
          'routes',
          message.route.map(({ uri }) => 'host' in uri && uri.host),
          [CARRIER, '10.1.1.1'],
        )
      },
    },
    {
      name: 'strict-router',
      carrier: 'a Record-Route without `lr`',
      engine: 'the route is the Request-URI and the Contact the last Route (strict routing)',
      source: { issue: 'eigger/hass-sip#39' },
      async run(h) {
        await h.establish({}, { contact: '<sip:inner@10.9.9.9>', lines: [`Record-Route: <sip:${CARRIER}>`] })
        const { message } = await h.checkHangsUp()
        const hosts = [message.uri, ...message.route.map(({ uri }) => uri)].map(uri => 'host' in uri && uri.host)
        check('Request-URI and routes', hosts, [CARRIER, '10.9.9.9'])
      },
    },
    {
      name: 'contact-changes-in-reinvite',
      carrier: 'a re-INVITE with another Contact',
      engine: 'BYE goes to the new target',
      source: { clause: 'RFC 3261 section 12.2.1.2' },
      async run(h) {
        await h.establish()
        await h.send('INVITE', { contact: `<sip:moved@${CARRIER}>`, body: sdp({ version: 2 }) })
        const { message } = await h.checkHangsUp()
        check('user of the BYE', 'user' in message.uri && message.uri.user, 'moved')
      },
    },
    {
      name: 'contact-over-another-transport',
      carrier: 'the Contact of the 200 says `transport=tcp`, the call came over UDP',
      engine: 'ACK and BYE go over TCP',
      source: { issue: 'livekit/sip#730' },
      async run(h) {
        await h.establish({}, { contact: `<sip:carrier@${CARRIER};transport=tcp>` })
        await h.pass(500)
        check('transport of the ACK', h.carrier.last('ACK').flow.transport, 'tcp')
        const { flow } = await h.checkHangsUp()
        check('transport of the BYE', flow.transport, 'tcp')
      },
    },
    {
      name: 'compact-and-folded-headers',
      carrier: 'compact header names, white space before colons and a folded line in the 200',
      engine: 'the call is answered',
      source: { clause: 'RFC 3261 sections 7.3.1 and 7.3.3' },
      async run(h) {
        const { message, flow } = await h.dial()
        const tag = message.from.params.get('tag')
        const [via] = message.via
        const body = sdp()
        const text = [
          'SIP/2.0 200 ok then',
          `v : SIP/2.0/UDP ${via!.host}:${via!.port ?? 5060};rport=5060;branch=${via!.params.get('branch')}`,
          `f: <sip:alice@192.0.2.1>;tag=${tag}`,
          `t:<sip:bob@${CARRIER};transport=udp>`,
          ' ;tag=carrier',
          `i: ${message.callId}`,
          `cseq:   ${message.cseq.sequence}   INVITE`,
          `m: <sip:carrier@${CARRIER}>`,
          'c: application/SDP',
          `l: ${body.length}`,
          '',
          body,
        ].join('\r\n')
        h.carrier.sendText(text, flow)
        await h.pass(200)
        await h.checkTalks()
      },
    },
    {
      name: 'answer-with-isup',
      carrier: 'the 200 is multipart: SDP and an ISUP part (SIP-I)',
      engine: 'the SDP part is used',
      source: { issue: 'signalwire/freeswitch#1816' },
      async run(h) {
        const body = [
          '--b',
          'Content-Type: application/sdp',
          '',
          sdp(),
          '--b',
          'Content-Type: application/ISUP',
          '',
          'x',
          '--b--',
          '',
        ].join('\r\n')
        await h.establish({}, { body, lines: ['Content-Type: multipart/mixed;boundary=b'] })
        await h.checkTalks()
      },
    },
    {
      name: 'sdp-with-bare-line-feeds',
      carrier: 'SDP with bare line feeds and without a final line end',
      engine: 'it is read, the last attribute included',
      source: { issue: 'emiago/diago#126' },
      async run(h) {
        await h.establish(
          {},
          {
            body: sdp({ attributes: ['a=rtpmap:101 telephone-event/8000', 'a=sendonly'] })
              .replaceAll('\r\n', '\n')
              .trimEnd(),
          },
        )
        checkThat('the engine is on hold', h.leg.held)
      },
    },
    {
      name: 'answer-with-a-rejected-video',
      carrier: 'the answer has a second stream that was not offered (video, port 0)',
      engine: 'the audio stream is used',
      source: { issue: 'pjsip/pjproject#527' },
      async run(h) {
        await h.establish({}, { body: `${sdp()}m=video 0 RTP/AVP 96\r\n` })
        await h.checkTalks()
      },
    },
    {
      name: 'answer-without-audio',
      carrier: 'the answer refuses the audio stream (port 0)',
      engine: 'the call is acknowledged and ended by BYE, as `media-refused`',
      unsupported: true,
      source: { clause: 'RFC 3264 section 6' },
      async run(h) {
        await h.dial()
        await h.answer({ body: sdp({ port: 0 }) })
        await h.pass(1000)
        check('end', [h.end?.cause, h.carrier.all('ACK').length, h.carrier.all('BYE').length], ['media-refused', 1, 1])
      },
    },
    {
      name: 'answer-renumbers-payload-types',
      carrier: 'the answer numbers telephone-event differently from the offer',
      engine: 'digits of the carrier are understood under its number',
      source: { issue: 'freeswitch/sofia-sip#276' },
      async run(h) {
        await h.establish({}, { body: sdp({ formats: '0 96', attributes: ['a=rtpmap:96 telephone-event/8000'] }) })
        h.rtp.digit('5', { payloadType: 96 })
        await h.pass(500)
        check('digits', h.digits(), '5')
        await h.checkTalks()
      },
    },
  ],
}
