import { type Random, randomBelow, SeededRandom } from '@parley/kernel'
import { expect, it } from 'vitest'
import { serialise } from '../message/serialise.ts'
import { Pair, sdp, sipUri } from './testing/pair.ts'
import { requestText, ScriptedPeer } from './testing/scripted-peer.ts'

const clean = { sessions: 0, dialogs: 0, transactions: 0, sends: 0 }
const toA = { address: '10.0.0.1', transport: 'udp' } as const

/** What the user agent logs when it does not do as a peer says. */
const PROVOKED = new Set(['rogue_challenge', 'foreign_realm', 'foreign_request', 'bye_retried'])

function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[randomBelow(random, items.length)]!
}

/** Answers any message with arbitrary messages. */
function nonsense(random: Random, peer: ScriptedPeer, callIds: readonly string[], tags: readonly string[]): void {
  const method = pick(random, [
    'INVITE',
    'ACK',
    'BYE',
    'CANCEL',
    'INFO',
    'OPTIONS',
    'UPDATE',
    'PRACK',
    'NOTIFY',
    'REFER',
    'X',
  ])
  switch (randomBelow(random, 4)) {
    case 0: {
      const contact = pick(random, ['*', '<tel:+1>', '<sip:x@10.0.0.9>', '<sip:>', '<sip:x@[::1]:99999>', '"', ''])
      const text = requestText({
        method,
        uri: pick(random, ['sip:alice@a.test', 'tel:+1', 'sips:a', 'sip:a@b;transport=ws', 'urn:x']),
        branch: `z9hG4bK${randomBelow(random, 5)}`,
        callId: pick(random, callIds),
        cseq: randomBelow(random, 4),
        fromTag: pick(random, tags),
        ...(randomBelow(random, 2) === 0 ? {} : { toTag: pick(random, tags) }),
        headers: [
          pick(random, [
            'X: y',
            'Record-Route: <sip:p;lr>, <tel:1>',
            'Require: x',
            'Route: <sip:a.test;lr>',
            'Expires: 1',
            'Require: 100rel',
            'Session-Expires: 1;refresher=uas\r\nSupported: timer',
            'Session-Expires: 90;refresher=uac\r\nRequire: timer\r\nMin-SE: 4294967295',
            'Event: refer\r\nSubscription-State: terminated;reason=x\r\nContent-Type: message/sipfrag',
            'RAck: 1 1 INVITE',
            'Content-Type: application/sdp',
          ]),
        ],
        body: pick(random, ['', 'v=0']),
      }).replace(/Contact: .*/, `Contact: ${contact}`)
      peer.sendText(text, toA)
      return
    }
    case 1: {
      const heard = peer.heard.filter(({ message }) => message.kind === 'request')
      const entry = heard[randomBelow(random, Math.max(1, heard.length))]
      if (entry?.message.kind !== 'request') return
      const status = pick(random, [100, 180, 183, 200, 200, 202, 302, 401, 407, 422, 481, 487, 491, 500, 503, 603])
      const challenge = pick(random, [
        'Digest realm="a", nonce="b"',
        'Digest',
        'Digest realm=,',
        'Digest stale=true, nonce="x"',
      ])
      peer.reply({ request: entry.message, flow: entry.flow }, status, {
        toTag: pick(random, ['t1', 't2', 't3']),
        headers: [
          [status === 407 ? 'Proxy-Authenticate' : 'WWW-Authenticate', challenge],
          ['Retry-After', 'soon'],
          ...pick<[string, string][]>(random, [
            [],
            [
              ['Require', '100rel'],
              ['RSeq', String(randomBelow(random, 4))],
            ],
            [
              ['Session-Expires', pick(random, ['90;refresher=uas', '1;refresher=uac', '99999999999', 'x', '600'])],
              ['Allow', pick(random, ['UPDATE', 'INVITE', ''])],
            ],
            [['Min-SE', pick(random, ['90', '2000', '4294967295', '-1'])]],
          ]),
        ],
        body: pick(random, ['', 'v=0']),
        contactHost: pick(random, ['10.0.0.9', 'peer.test', 'nowhere.invalid']),
      })
      return
    }
    default: {
      // An earlier message with a few bytes changed.
      const entry = pick(random, peer.heard.length === 0 ? [undefined] : peer.heard)
      if (entry === undefined) return
      const bytes = serialise(entry.message)
      for (let i = randomBelow(random, 4); i > 0; i--) {
        bytes[randomBelow(random, bytes.length)] = pick(random, [0, 10, 13, 32, 34, 44, 58, 59, 60, 61, 62, 64, 255])
      }
      peer.sendBytes(bytes, toA)
    }
  }
}

it('arbitrary messages of a peer in arbitrary order throw nothing, every session ends and no state remains', () => {
  let ended = 0
  for (let seed = 1; seed <= 150; seed++) {
    const random = new SeededRandom(seed)
    const pair = new Pair({ seed })
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const credentials = { username: 'u', password: 'p' }
    pair.a.onCall = session => {
      const does = randomBelow(random, 3)
      if (does === 0) session.progress(183, sdp('early'))
      if (does === 1) session.answer(sdp('answer'))
      return (event, callSession) => {
        if (event.type === 'offer' && callSession.state === 'confirmed') callSession.acceptOffer(sdp('ok'))
      }
    }
    const uri = sipUri('x', 'peer.test', 'udp')
    const calls = [0, 1].map(() =>
      pair.call({ uri, credentials, sessionTimer: { expiresS: 90, refresher: 'local' } }, (event, callSession) => {
        if (callSession.state !== 'confirmed') return
        if (event.type === 'answered' && randomBelow(random, 2) === 0) callSession.refer(uri)
        if (event.type === 'offer' && randomBelow(random, 2) === 0) callSession.acceptOffer(sdp('ok'))
        if (event.type === 'refresh') callSession.reoffer(sdp('offer'))
      }),
    )
    for (let step = 0; step < 60; step++) {
      const tags = ['raw-tag', 't1', 't2', 't3', ...peer.requests.map(({ from }) => from.params.get('tag') ?? '')]
      nonsense(random, peer, ['raw-call', ...calls.map(({ session }) => session.callId)], tags)
      pair.time.advance(randomBelow(random, randomBelow(random, 20) === 0 ? 60_000 : 300))
    }
    const all = [...calls, ...pair.a.calls]
    for (const { session } of all) session.hangUp()
    pair.time.advance(300_000)
    for (const heard of all)
      expect(
        heard.types.filter(type => type === 'ended'),
        `seed ${seed}`,
      ).toHaveLength(1)
    ended += all.length
    expect(
      pair.a.logs.filter(({ event }) => !PROVOKED.has(event)),
      `seed ${seed}`,
    ).toEqual([])
    expect(pair.a.ua.footprint, `seed ${seed}`).toEqual(clean)
  }
  expect(ended).toBeGreaterThan(500)
})
