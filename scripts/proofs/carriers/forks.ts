import { type CarrierHarness, sdp } from './carrier-harness.ts'
import { check, checkThat } from './checks.ts'
import type { ScenarioGroup } from './scenario.ts'

const RELIABLE = ['Require: 100rel', 'RSeq: 1']
/** Media port of a fork that does not answer the call. */
const OTHER_PORT = 42_000

const early = (h: CarrierHarness, status: number, tag: string, lines: string[] = [], port?: number) =>
  h.respond(status, { tag, lines, ...(port !== undefined && { body: sdp({ port }) }) })

export const FORKS: ScenarioGroup = {
  title: 'Forks and early media',
  scenarios: [
    {
      name: 'fork-after-reliable-announcement',
      carrier:
        'an announcement answers the offer in a reliable 183, then another fork answers the call with its own SDP',
      engine: 'audio goes to the fork that answered',
      source: { issue: 'AlticeLabsPublic/asterisk-i#82' },
      async run(h) {
        await h.dial()
        h.rtp.listen(OTHER_PORT)
        await early(h, 183, 'announcement', RELIABLE, OTHER_PORT)
        await early(h, 180, 'person')
        await h.answer({ tag: 'person' })
        await h.checkTalks()
        check('To tag of the ACK', h.carrier.last('ACK').message.to.params.get('tag'), 'person')
      },
    },
    {
      name: 'fork-answers-without-sdp',
      carrier: 'two forks answer the offer early; the first one answers the call with a 200 without SDP',
      engine: 'the early answer of that fork counts, not the last one received',
      source: { issue: 'AlticeLabsPublic/asterisk-i#82' },
      async run(h) {
        await h.dial()
        h.rtp.listen(OTHER_PORT)
        await early(h, 183, 'person', [], 40_000)
        await early(h, 183, 'announcement', [], OTHER_PORT)
        await h.answer({ tag: 'person', body: '' })
        await h.checkTalks()
      },
    },
    {
      name: 'two-forks-answer',
      carrier: 'two forks answer the call with 200',
      engine: 'the second 200 is acknowledged and its dialog ended by BYE; the call goes on with the first',
      source: { issue: 'pjsip/pjproject#3234' },
      async run(h) {
        await h.dial()
        h.rtp.listen(OTHER_PORT)
        await h.answer({ tag: 'first' })
        await h.answer({ tag: 'second', body: sdp({ port: OTHER_PORT }) })
        const sentTo = (method: string) => h.carrier.all(method).map(({ message }) => message.to.params.get('tag'))
        check('ACKs', sentTo('ACK'), ['first', 'second'])
        check('BYEs', sentTo('BYE'), ['second'])
        await h.checkTalks()
      },
    },
    {
      name: 'to-tag-changes-at-the-answer',
      carrier: 'the 200 has another To tag than the 180 (a border controller that hunts)',
      engine: 'ACK and BYE bear the tag of the 200',
      source: { issue: 'baresip/baresip#2819' },
      async run(h) {
        await h.dial()
        await early(h, 180, 'hunting')
        await h.answer({ tag: 'answered' })
        check('To tag of the ACK', h.carrier.last('ACK').message.to.params.get('tag'), 'answered')
        const bye = await h.checkHangsUp()
        check('To tag of the BYE', bye.message.to.params.get('tag'), 'answered')
      },
    },
    {
      name: 'prack-to-its-own-fork',
      carrier: 'two forks send a reliable 180 each',
      engine: 'each PRACK goes to the tag and Contact of its own fork',
      source: { issue: 'baresip/baresip#2114' },
      async run(h) {
        await h.dial()
        for (const tag of ['one', 'two'])
          await h.respond(180, { tag, contact: `<sip:${tag}@192.0.2.9>`, lines: RELIABLE })
        const pracks = h.carrier
          .all('PRACK')
          .map(({ message: { to, uri } }) => [to.params.get('tag'), 'user' in uri && uri.user])
        check('PRACKs', pracks, [
          ['one', 'one'],
          ['two', 'two'],
        ])
      },
    },
    {
      name: 'reliable-ringing-repeated',
      carrier: 'a reliable 183 is retransmitted, and a later one comes out of order',
      engine: 'one PRACK for the retransmission, none for the one out of order',
      source: { clause: 'RFC 3262 section 4' },
      async run(h) {
        await h.dial()
        for (const rseq of [5, 5, 7]) await early(h, 183, 'carrier', ['Require: 100rel', `RSeq: ${rseq}`])
        const acknowledged = h.carrier.all('PRACK').map(({ message }) => message.headers.get('RAck')?.split(' ')[0])
        check('acknowledged RSeq', acknowledged, ['5'])
      },
    },
    {
      name: 'early-media-then-refused',
      carrier: 'an announcement as early media, then 404',
      engine: 'the announcement is heard, the call ends with 404',
      source: { issue: 'drachtio/drachtio-srf#25' },
      async run(h) {
        await h.dial()
        await early(h, 183, 'carrier', [], 40_000)
        check('early media', h.events('ringing').at(-1)?.earlyMedia, true)
        await h.checkHears('the announcement')
        await h.respond(404)
        check('end', [h.end?.cause, h.end?.sipStatus, h.end?.answered], ['rejected', 404, false])
      },
    },
    {
      name: 'early-media-in-180',
      carrier: 'SDP in a 180 (custom ringback), then a 200 at once',
      engine: 'the ringback is heard, then the call is answered',
      source: { issue: 'livekit/sip#813' },
      async run(h) {
        const invite = await h.dial()
        h.carrier.reply(invite, 180, { body: sdp() })
        h.carrier.reply(invite, 200, { body: sdp() })
        await h.pass(200)
        await h.checkTalks()
      },
    },
    {
      name: 'answer-moves-the-media',
      carrier: 'the 200 has another media port than the 183 in the same dialog',
      engine: 'audio moves to the port of the 200',
      source: { issue: 'livekit/sip#855' },
      async run(h) {
        await h.dial()
        h.rtp.listen(OTHER_PORT)
        await early(h, 183, 'carrier', [], OTHER_PORT)
        check('early audio', await h.audioArrivesAt(), [OTHER_PORT])
        await h.answer()
        await h.checkTalks()
      },
    },
    {
      name: 'audio-before-the-answer',
      carrier: 'RTP arrives before any SDP, then the 200',
      engine: 'the call is answered and audio passes',
      source: { issue: 'livekit/sip#813' },
      async run(h) {
        await h.dial()
        h.rtp.talk(600)
        await h.pass(500)
        await h.answer()
        await h.checkTalks()
      },
    },
    {
      name: 'forwarding-and-queueing',
      carrier: '181, 182 and 199 before the answer',
      engine: 'they count as progress; the call is answered',
      source: { issue: 'drachtio/drachtio-srf#25' },
      async run(h) {
        await h.dial()
        for (const status of [181, 182, 199]) await h.respond(status)
        await h.answer()
        await h.checkTalks()
        checkThat('nothing was cancelled', h.carrier.all('CANCEL').length === 0)
      },
    },
  ],
}
