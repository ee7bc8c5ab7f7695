import { parseIpNetwork } from '@parley/sip'
import { type CarrierHarness, sdp, sdpWith } from './carrier-harness.ts'
import { check, checkThat } from './checks.ts'
import type { ScenarioGroup, VirtualScenario } from './scenario.ts'

/** Talks for a second before the change, changes the stream, and then at least `heardMs` of two seconds have to be heard. */
async function afterChange(h: CarrierHarness, change: () => void, heardMs = 1400): Promise<void> {
  await h.establish()
  await h.checkHears('before the change')
  change()
  h.rtp.talk(2000)
  await h.pass(2200)
  const heard = h.heardMs(2200)
  checkThat(`after the change only ${heard} ms of two seconds were heard`, heard >= heardMs)
  h.checkActive()
}

const PACKET_TIMES = [10, 30, 40, 60, 80, 120]

const packetTime = (ptimeMs: number): VirtualScenario => ({
  name: `packets-of-${ptimeMs}-ms`,
  carrier: `packets of ${ptimeMs} ms`,
  engine: 'all of it is heard, nothing is lost',
  source:
    ptimeMs === 30
      ? { issue: 'signalwire/freeswitch#2170' }
      : ptimeMs === 40
        ? { issue: 'sipwise/rtpengine#1580' }
        : { clause: 'RFC 3551 section 4.2' },
  async run(h) {
    await h.establish({}, { body: sdpWith([`a=ptime:${ptimeMs}`]) })
    h.rtp.stream.ptimeMs = ptimeMs
    h.rtp.talk(2400)
    await h.pass(2600)
    const heard = h.heardMs(2600)
    checkThat(`only ${heard} ms of 2,400 were heard`, heard >= 2250)
    const { packetsLost, rejected } = await h.leg.statistics()
    check('lost and malformed packets', [packetsLost, rejected.malformed], [0, 0])
  },
})

export const MEDIA: ScenarioGroup = {
  title: 'RTP',
  scenarios: [
    ...PACKET_TIMES.map(packetTime),
    {
      name: 'packet-time-changes',
      carrier: 'packets of 40 ms become packets of 20 ms without any signalling',
      engine: 'audio goes on',
      source: { issue: 'signalwire/freeswitch#3150' },
      async run(h) {
        h.rtp.stream.ptimeMs = 40
        await afterChange(
          h,
          () => {
            h.rtp.stream.ptimeMs = 20
          },
          1900,
        )
      },
    },
    {
      name: 'longest-packets-wanted',
      carrier: 'an offer with `a=maxptime:20`',
      engine: 'packets of 20 ms at most are sent',
      source: { issue: 'sipwise/rtpengine#944' },
      async run(h) {
        check('status', await h.callEngine({ body: sdpWith(['a=ptime:60', 'a=maxptime:20']) }), 200)
        await h.pass(500)
        const longest = Math.max(...h.rtp.received.map(({ payloadBytes }) => payloadBytes))
        check('longest payload', longest, 160)
      },
    },
    {
      name: 'ssrc-changes',
      carrier: 'a new SSRC from the same port within the call',
      engine: 'the new stream is heard after a moment',
      source: { issue: 'baresip/baresip#817' },
      run: h =>
        afterChange(h, () => {
          Object.assign(h.rtp.stream, { ssrc: 0x22222222, sequence: 40_000, timestamp: 3_000_000 })
        }),
    },
    {
      name: 'source-port-changes',
      carrier: 'RTP comes from another port of the same address, unannounced',
      engine: 'the new source is heard after a moment',
      source: { issue: 'sippy/rtpproxy#119' },
      run: h =>
        afterChange(h, () => {
          Object.assign(h.rtp.stream, { port: 46_000, ssrc: 0x33333333 })
        }),
    },
    {
      name: 'source-address-changes',
      carrier: 'RTP comes from an address that was never announced',
      engine: 'it is not heard: someone else may be sending it',
      unsupported: true,
      source: { issue: 'pjsip/pjproject#1366' },
      async run(h) {
        await h.establish()
        await h.checkHears('before the change')
        h.rtp.stream.host = 66
        h.rtp.talk(2000)
        await h.pass(2200)
        checkThat(`${h.heardMs(1500)} ms were heard`, h.heardMs(1500) === 0)
        h.checkActive()
      },
    },
    {
      name: 'behind-nat',
      carrier: 'the SDP names a private address, RTP comes from the address of the signalling',
      engine: 'the source is learnt from its first packet, and audio goes back to it',
      source: { issue: 'livekit/sip#611' },
      async run(h) {
        h.line.a.limitMedia({ localNetworks: [], isOwnSocket: () => false, ownPorts: [] })
        await h.establish({}, { body: sdp({ address: '192.168.7.7' }) })
        await h.checkTalks()
      },
    },
    {
      name: 'behind-nat-in-the-trunks-network',
      carrier: 'the SDP names a private address, RTP comes from a media server in the networks of the trunk',
      engine: 'the source is learnt',
      source: { issue: 'livekit/sip#687' },
      async run(h) {
        h.line.a.limitMedia({ localNetworks: [], isOwnSocket: () => false, ownPorts: [] })
        await h.establish(
          { mediaSources: [parseIpNetwork('192.0.2.64/26')!] },
          { body: sdp({ address: '192.168.7.7' }) },
        )
        h.rtp.stream.host = 70
        await h.checkTalks()
      },
    },
    {
      name: 'media-to-link-local',
      carrier: 'the SDP names a link-local address (169.254.169.254)',
      engine: 'nothing is sent there: the call is ended as `media-refused`',
      unsupported: true,
      source: { clause: 'RFC 3927 section 2.7' },
      async run(h) {
        h.line.a.limitMedia({ localNetworks: [], isOwnSocket: () => false, ownPorts: [] })
        await h.dial()
        await h.answer({ body: sdp({ address: '169.254.169.254' }) })
        await h.pass(1000)
        check('end', h.end?.cause, 'media-refused')
      },
    },
    {
      name: 'media-to-a-service-port',
      carrier: 'an offer with media port 53',
      engine: '488 with a Warning',
      unsupported: true,
      source: { clause: 'RFC 8866 section 7' },
      async run(h) {
        h.line.b.limitMedia({ localNetworks: [], isOwnSocket: () => false, ownPorts: [] })
        check('status', await h.callEngine({ body: sdp({ port: 53 }) }), 488)
      },
    },
    {
      name: 'timestamp-jumps',
      carrier: 'the RTP timestamp jumps by an hour, the sequence goes on (a parked call)',
      engine: 'audio goes on without added delay',
      source: { issue: 'BelledonneCommunications/linphone-sdk#571' },
      run: h =>
        afterChange(
          h,
          () => {
            h.rtp.stream.timestamp += 3600 * 8000
          },
          1700,
        ),
    },
    {
      name: 'sequence-restarts',
      carrier: 'sequence and timestamp start anew with the same SSRC',
      engine: 'audio goes on after a moment',
      source: { issue: 'asterisk/asterisk#927' },
      run: h =>
        afterChange(h, () => {
          Object.assign(h.rtp.stream, { sequence: 7, timestamp: 99 })
        }),
    },
    {
      name: 'clock-too-fast',
      carrier: 'a clock that is 0.5 % fast, for a minute',
      engine: 'audio is heard throughout, without a growing delay',
      source: { issue: 'baresip/rem#119' },
      run: h => skewed(h, 0.995),
    },
    {
      name: 'clock-too-slow',
      carrier: 'a clock that is 0.5 % slow, for a minute',
      engine: 'audio is heard throughout',
      source: { issue: 'pjsip/pjproject#696' },
      run: h => skewed(h, 1.005),
    },
    {
      name: 'payload-type-changes',
      carrier: 'the other agreed codec (PCMA) within the call, without signalling',
      engine: 'it is heard as well',
      source: { issue: 'sipwise/rtpengine#953' },
      async run(h) {
        await h.establish({}, { body: sdp({ formats: '0 8 101' }) })
        await h.checkHears('before the change')
        h.rtp.stream.payloadType = 8
        await h.checkHears('the other codec')
        h.rtp.stream.payloadType = 0
        await h.checkHears('the first codec again')
      },
    },
    {
      name: 'comfort-noise-only',
      carrier: 'silence suppression: one comfort noise packet every 3 s for two minutes',
      engine: 'the call lives',
      source: { issue: 'sipsorcery-org/sipsorcery#1303' },
      async run(h) {
        await h.establish()
        await h.checkHears()
        h.rtp.comfortNoise(120_000, 3000)
        await h.line.pass(121_000, 100)
        h.checkActive()
        await h.checkHears('after the silence')
      },
    },
    {
      name: 'media-stops',
      carrier: 'RTP stops for good without a word',
      engine: 'the call is ended by BYE after 20 s, as `media-lost`',
      source: { issue: 'jambonz/sbc-inbound#164' },
      async run(h) {
        await h.establish()
        await h.checkHears()
        await h.line.pass(25_000, 100)
        check('end', [h.end?.cause, h.carrier.all('BYE').length], ['media-lost', 1])
      },
    },
    {
      name: 'media-stops-on-a-patient-trunk',
      carrier: 'RTP stops for 45 s on a trunk that allows 60 s without packets',
      engine: 'the call lives',
      source: { issue: 'BelledonneCommunications/linphone-android#1824' },
      async run(h) {
        await h.establish({ silentRemoteAfterMs: 60_000 })
        await h.checkHears()
        await h.line.pass(45_000, 100)
        h.checkActive()
        await h.checkHears('after the silence')
      },
    },
    {
      name: 'jitter-of-a-timestamp-jump',
      carrier: 'the timestamp jumps twice within the call',
      engine: 'the jitter that is reported does not count the jumps',
      source: { clause: 'RFC 3550 appendix A.8' },
      async run(h) {
        await afterChange(h, () => {
          h.rtp.stream.timestamp += 800_000
        })
        const { jitterMaxMs } = await h.leg.statistics()
        checkThat(`a jitter of ${jitterMaxMs} ms`, jitterMaxMs < 20)
      },
    },
    {
      name: 'rtcp-on-the-rtp-port',
      carrier: 'an offer with `a=rtcp-mux`',
      engine: 'it is agreed; RTCP of the engine comes to the RTP port',
      source: { clause: 'RFC 5761 section 5.1.1' },
      async run(h) {
        check('ports of RTCP', await rtcpPorts(h, 'a=rtcp-mux'), [h.rtp.stream.port])
      },
    },
    {
      name: 'rtcp-at-another-port',
      carrier: 'an offer with `a=rtcp:` and a port that is not the one above RTP',
      engine: 'RTCP of the engine comes to that port',
      source: { clause: 'RFC 3605 section 2.1' },
      async run(h) {
        check('ports of RTCP', await rtcpPorts(h, 'a=rtcp:41000'), [41_000])
      },
    },
    {
      name: 'longest-packets-announced',
      carrier: 'does not know how long packets may be',
      engine: '`a=maxptime` of its offer says how long they may be',
      source: { issue: 'i-p-tel/sipdroid#133' },
      async run(h) {
        const { message } = await h.dial()
        checkThat('a=maxptime:120', new TextDecoder().decode(message.body).includes('a=maxptime:120'))
        await h.answer()
        await h.checkTalks()
      },
    },
    {
      name: 'noise-on-the-rtp-port',
      carrier: 'empty datagrams, CRLF keep-alives, STUN requests and truncated RTP on the media port',
      engine: 'they are ignored; audio goes on',
      source: { clause: 'RFC 6263 section 4' },
      async run(h) {
        await h.establish()
        await h.checkHears()
        const stun = new Uint8Array(20)
        stun.set([0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42])
        for (const bytes of [new Uint8Array(0), Uint8Array.of(13, 10, 13, 10), stun, Uint8Array.of(0x80, 0, 1)])
          h.rtp.sendBytes(bytes)
        await h.checkTalks()
      },
    },
    {
      name: 'a-third-of-the-packets-lost',
      carrier: 'every third packet is lost',
      engine: 'the gaps are concealed; the call lives',
      source: { clause: 'RFC 3550 section 6.4.1' },
      async run(h) {
        await h.establish()
        h.rtp.talk(3000, { dropEvery: 3 })
        await h.pass(3200)
        const { packetsLost } = await h.leg.statistics()
        checkThat(`${packetsLost} packets lost`, packetsLost >= 45 && packetsLost <= 51)
        checkThat(`${h.heardMs(3200)} ms heard`, h.heardMs(3200) > 2500)
      },
    },
  ],
}

/** Ports to which the engine sends RTCP in a call whose offer has this line. */
async function rtcpPorts(h: CarrierHarness, line: string): Promise<number[]> {
  const ports = new Set<number>()
  h.line.packets.onSend = (_from, packet, _length, _ipv4, port) => {
    if (packet[1] === 200 || packet[1] === 201) ports.add(port)
  }
  check('status', await h.callEngine({ body: sdpWith([line]) }), 200)
  h.rtp.talk(10_000)
  await h.pass(10_000)
  return [...ports]
}

async function skewed(h: CarrierHarness, pace: number): Promise<void> {
  await h.establish()
  h.rtp.talk(60_000, { pace })
  await h.line.pass(59_000, 100)
  const heard = h.heardMs(50_000)
  checkThat(`only ${heard} ms of 50 s were heard`, heard >= 49_000)
  await h.pass(2000)
  // What is still heard one second after the last packet was waiting too long.
  checkThat(`${h.heardMs(600)} ms were heard long after they were sent`, h.heardMs(600) === 0)
}
