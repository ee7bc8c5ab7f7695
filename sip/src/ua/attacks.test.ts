import { expect, it } from 'vitest'
import { Pair, sdp, sipUri, textOf } from './testing/pair.ts'
import { ScriptedPeer } from './testing/scripted-peer.ts'

const credentials = { username: 'trunk', password: 'secret' }
const clean = { sessions: 0, dialogs: 0, transactions: 0, sends: 0 }
const credentialsThatLeft = (pair: Pair) =>
  pair.network.passed.filter(({ text }) => /^(Proxy-)?Authorization:/im.test(text)).length

it('digest replay: 1000 copies of an authenticated INVITE, from its own address and others, start no call', () => {
  const guard = () => ({ action: 'challenge', realm: 'b.test', passwordOf: () => 'secret' }) as const
  const pair = new Pair({ b: { guard: guard } })
  const caller = pair.call({ credentials })
  pair.time.advance(200)
  const captured = pair.network.passed.findLast(({ text }) => text.startsWith('INVITE'))!.text
  expect(captured).toContain('Authorization: Digest')
  pair.b.calls[0]!.session.answer(sdp('answer'))
  pair.time.advance(200)
  caller.session.hangUp()
  pair.time.advance(100_000)
  expect(pair.b.ua.footprint).toEqual(clean)

  const attacker = new ScriptedPeer(pair.network, '10.0.0.66', 'attacker.test')
  const answers: number[] = []
  attacker.onMessage = message => {
    if (message.kind === 'response') answers.push(message.status)
  }
  for (let i = 0; i < 1000; i++) {
    const copy = captured
      .replace(/branch=[^\r;]+/, `branch=z9hG4bKreplay${i}`)
      .replace(/^Via: .*?;/m, i % 2 === 0 ? 'Via: SIP/2.0/UDP 10.0.0.66;' : 'Via: SIP/2.0/UDP attacker.test;')
      // A new call, the same call, another nonce count, another nonce: no copy has a fresh nonce of the server.
      .replace(/^Call-ID: /m, i % 4 === 0 ? `Call-ID: ${i}` : 'Call-ID: ')
      .replace(/nc=00000001/, i % 8 === 7 ? 'nc=00000002' : 'nc=00000001')
      .replace(/nonce="(.)/, i % 16 === 9 ? 'nonce="x$1' : 'nonce="$1')
    attacker.sendText(copy, { address: '10.0.0.2', transport: 'udp' })
    pair.time.advance(20)
  }
  expect(answers).toHaveLength(1000)
  expect(new Set(answers)).toEqual(new Set([401]))
  expect(pair.b.calls).toHaveLength(1)
  expect(pair.b.ua.footprint).toEqual(clean)
})

it('rogue challenge: no Authorization is sent to a host that is not the trunk, for any request', () => {
  for (const status of [401, 407] as const) {
    const pair = new Pair()
    const trunk = new ScriptedPeer(pair.network, '10.0.0.9', 'trunk.test')
    const rogue = new ScriptedPeer(pair.network, '10.0.0.66', 'rogue.test')
    const challenge: [string, string] = [
      status === 401 ? 'WWW-Authenticate' : 'Proxy-Authenticate',
      'Digest realm="trunk.test", nonce="n", qop="auth", algorithm=MD5',
    ]
    rogue.onMessage = (message, flow) => {
      if (message.kind === 'request' && message.method !== 'ACK') {
        rogue.reply({ request: message, flow }, status, { headers: [challenge] })
      }
    }
    const caller = pair.call({ uri: sipUri('x', 'trunk.test', 'udp'), credentials, sessionTimer: { expiresS: 600 } })
    pair.time.advance(50)
    // The trunk's dialog leads elsewhere: by Contact, from the first reliable response on.
    const reliable: [string, string][] = [
      ['Require', '100rel'],
      ['RSeq', '1'],
    ]
    trunk.reply(trunk.last('INVITE'), 183, { headers: reliable, body: 'answer', contactHost: '10.0.0.66' })
    pair.time.advance(50)
    const headers: [string, string][] = [
      ['Allow', 'INVITE, UPDATE'],
      ['Session-Expires', '600;refresher=uac'],
    ]
    trunk.reply(trunk.last('INVITE'), 200, { headers, contactHost: '10.0.0.66' })
    pair.time.advance(50)
    caller.session.info({ contentType: 'application/dtmf', bytes: new Uint8Array([0x31]) })
    caller.session.refer(sipUri('x', 'y.test', 'udp'))
    caller.session.reoffer(sdp('again'))
    pair.time.advance(400_000)
    caller.session.hangUp()
    pair.time.advance(40_000)
    expect(new Set(rogue.methods())).toEqual(new Set(['PRACK', 'ACK', 'INFO', 'REFER', 'INVITE', 'UPDATE', 'BYE']))
    expect(credentialsThatLeft(pair)).toBe(0)
    expect(pair.a.logs.filter(({ event }) => event === 'rogue_challenge').length).toBeGreaterThanOrEqual(6)
    expect(pair.a.ua.footprint).toEqual(clean)
  }
})

it('toll fraud: no 3xx and no REFER, in a call or outside, starts a new call', () => {
  const pair = new Pair()
  const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
  const premium = new ScriptedPeer(pair.network, '10.0.0.99', 'premium.test')
  for (const status of [300, 301, 302, 305, 380]) {
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp') })
    pair.time.advance(50)
    peer.reply(peer.last('INVITE'), status, { contactHost: 'premium.test' })
    pair.time.advance(40_000)
    expect(caller.end).toMatchObject({ cause: 'rejected', status })
  }
  const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp') })
  pair.time.advance(50)
  peer.reply(peer.last('INVITE'), 200, { body: 'answer' })
  pair.time.advance(50)
  const { invite } = caller.session
  for (const toTag of [`;tag=${invite.from.params.get('tag')}`, '']) {
    for (let i = 0; i < 100; i++) {
      const refer = [
        'REFER sip:alice@a.test SIP/2.0',
        `Via: SIP/2.0/UDP peer.test;branch=z9hG4bKrefer${toTag.length}${i}`,
        'Max-Forwards: 70',
        'From: <sip:x@peer.test>;tag=peer-tag',
        `To: <sip:alice@a.test>${toTag}`,
        `Call-ID: ${invite.callId}`,
        `CSeq: ${500 + i} REFER`,
        `Refer-To: <sip:${i}@premium.test>`,
        'Contact: <sip:x@peer.test>',
        'Content-Length: 0',
        '',
        '',
      ].join('\r\n')
      peer.sendText(refer, { address: '10.0.0.1', transport: 'udp' })
    }
    pair.time.advance(40_000)
  }
  const answers = peer.responses.filter(({ cseq }) => cseq.method === 'REFER').map(({ status }) => status)
  expect(answers).toHaveLength(200)
  expect(new Set(answers)).toEqual(new Set([403]))
  expect(premium.heard).toEqual([])
  expect(textOf(sdp('answer'))).toBe(caller.body('answered'))
})
