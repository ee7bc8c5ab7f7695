import { describe, expect, it } from 'vitest'
import { HeaderList } from '../message/header-list.ts'
import { createResponse } from '../message/message-factory.ts'
import { parseIpNetwork } from '../transport/ip-network.ts'
import { Pair, sdp, sipUri } from './testing/pair.ts'
import { ScriptedPeer } from './testing/scripted-peer.ts'

const credentials = { username: 'trunk', password: 'secret' }
const challenging = (passwords: Record<string, string>) => ({
  guard: () => ({ action: 'challenge', realm: 'b.test', passwordOf: (name: string) => passwords[name] }) as const,
})

describe('digest authentication of calls', () => {
  it.each(['udp', 'tls'] as const)(
    'a challenged call over %s: the 401 is stateless and the second INVITE authenticates with SHA-256',
    transport => {
      const pair = new Pair({ transport, b: challenging({ trunk: 'secret' }) })
      const caller = pair.call({ credentials })
      pair.time.advance(200)
      const callee = pair.b.calls[0]!
      callee.session.answer(sdp('answer'))
      pair.time.advance(200)
      expect(caller.session.state).toBe('confirmed')
      const invites = pair.network.passed.filter(({ text }) => text.startsWith('INVITE')).map(({ text }) => text)
      expect(invites).toHaveLength(2)
      expect(invites[1]).toContain('algorithm=SHA-256')
      const number = (text: string | undefined) => Number(/CSeq: (\d+)/.exec(text ?? '')?.[1])
      expect(number(invites[1])).toBe(number(invites[0]) + 1)
      expect(/Call-ID: (.*)/.exec(invites[1]!)?.[1]).toBe(/Call-ID: (.*)/.exec(invites[0]!)?.[1])
      callee.session.hangUp()
      pair.time.advance(200)
      expect(caller.end).toMatchObject({ cause: 'bye', by: 'remote' })
    },
  )

  it('a refused password is not tried again', () => {
    const pair = new Pair({ b: challenging({ trunk: 'other' }) })
    const caller = pair.call({ credentials })
    pair.time.advance(5000)
    expect(caller.end).toMatchObject({ cause: 'rejected', by: 'remote', status: 401 })
    expect(pair.trace.filter(line => line === 'a> INVITE')).toHaveLength(2)
    expect(pair.b.calls).toEqual([])
    expect(pair.b.ua.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 0, sends: 0 })
  })

  it('a stale nonce is replaced once', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    pair.call({ uri: sipUri('x', 'peer.test', 'udp'), credentials })
    const challenge = (nonce: string, stale: string) =>
      peer.reply(peer.last('INVITE'), 407, {
        headers: [['Proxy-Authenticate', `Digest realm="carrier", nonce="${nonce}", qop="auth"${stale}`]],
      })
    pair.time.advance(50)
    challenge('one', '')
    pair.time.advance(50)
    challenge('two', ', stale=true')
    pair.time.advance(50)
    challenge('three', '')
    pair.time.advance(50)
    const invites = peer.requests.filter(({ method }) => method === 'INVITE')
    expect(invites.map(({ headers }) => /nonce="(\w+)"/.exec(headers.get('Proxy-Authorization') ?? '')?.[1])).toEqual([
      undefined,
      'one',
      'two',
    ])
  })

  it.each([
    ['the realm of the INVITE', {}, 'c', true],
    ['a realm of the list', { realms: ['c', 'd'] }, 'd', true],
    ['another realm than that of the INVITE', {}, 'd', false],
    ['a realm outside the list', { realms: ['c'] }, 'd', false],
  ])(
    "a BYE challenged for %s: it is sent again with the call's credentials only for a realm of the trunk",
    (_which, list, realm, answers) => {
      const pair = new Pair()
      const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
      const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp'), credentials: { ...credentials, ...list } })
      const challenge = (method: string, asked: string) => {
        const headers: [string, string][] = [
          ['Proxy-Authenticate', `Digest realm="${asked}", nonce="n${asked}", algorithm=MD5`],
        ]
        peer.reply(peer.last(method), 407, { headers })
        pair.time.advance(50)
      }
      pair.time.advance(50)
      challenge('INVITE', 'c')
      peer.reply(peer.last('INVITE'), 200, { body: 'answer' })
      pair.time.advance(50)
      caller.session.hangUp()
      pair.time.advance(50)
      challenge('BYE', realm)
      const byes = peer.requests.filter(({ method }) => method === 'BYE')
      expect(byes[1]?.headers.get('Proxy-Authorization')?.includes('username="trunk"') ?? false).toBe(answers)
      if (answers) expect(byes[1]?.cseq.sequence).toBe(byes[0]!.cseq.sequence + 1)
      else expect(pair.a.logs.map(({ event }) => event)).toContain('foreign_realm')
    },
  )

  it("credentials follow the dialog to a new address over TLS whose certificate proves the trunk's name", () => {
    const pair = new Pair({ transport: 'tls' })
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'trunk.test')
    const moved = new ScriptedPeer(pair.network, '10.0.0.66', 'trunk.test')
    pair.network.name('trunk.test', [{ address: '10.0.0.9', port: 0 }])
    const caller = pair.call({ uri: sipUri('x', 'trunk.test', 'tls'), credentials: { ...credentials, realms: ['c'] } })
    pair.time.advance(100)
    peer.reply(peer.last('INVITE'), 200, { body: 'answer', contactHost: '10.0.0.66' })
    pair.time.advance(100)
    pair.a.transport.cutAll()
    pair.time.advance(100)
    caller.session.hangUp()
    pair.time.advance(100)
    moved.reply(moved.last('BYE'), 401, { headers: [['WWW-Authenticate', 'Digest realm="c", nonce="n"']] })
    pair.time.advance(100)
    expect(moved.last('BYE').request.headers.get('Authorization')).toContain('username="trunk"')
  })

  it.each([
    ['inside of', '10.0.0.64/28', true],
    ['outside of', '10.0.0.128/28', false],
  ])(
    "credentials follow the dialog to an address %s the trunk's configured networks: %s: %s",
    (_where, network, follow) => {
      const pair = new Pair()
      const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'trunk.test')
      const moved = new ScriptedPeer(pair.network, '10.0.0.66', 'moved.test')
      const caller = pair.call({
        uri: sipUri('x', 'trunk.test', 'udp'),
        credentials: { ...credentials, realms: ['c'] },
        sources: [parseIpNetwork(network)!],
      })
      pair.time.advance(50)
      peer.reply(peer.last('INVITE'), 200, { body: 'answer', contactHost: '10.0.0.66' })
      pair.time.advance(50)
      caller.session.hangUp()
      pair.time.advance(50)
      moved.reply(moved.last('BYE'), 401, { headers: [['WWW-Authenticate', 'Digest realm="c", nonce="n"']] })
      pair.time.advance(1000)
      const sent = moved.last('BYE').request.headers.get('Authorization') ?? ''
      expect(sent.includes('username="trunk"')).toBe(follow)
    },
  )

  it('credentials for a request whose connection closes do not go with it to a host that is not the next hop', () => {
    const pair = new Pair({ transport: 'tcp' })
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const other = new ScriptedPeer(pair.network, '10.0.0.66', 'other.test')
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'tcp'), credentials: { ...credentials, realms: ['c'] } })
    pair.time.advance(100)
    peer.reply(peer.last('INVITE'), 200, { body: 'answer', contactHost: '10.0.0.66' })
    pair.time.advance(100)
    caller.session.hangUp()
    pair.time.advance(100)
    peer.reply(peer.last('BYE'), 401, { headers: [['WWW-Authenticate', 'Digest realm="c", nonce="n"']] })
    pair.time.advance(100)
    expect(peer.last('BYE').request.headers.get('Authorization')).toContain('username="trunk"')
    pair.a.transport.cutAll()
    pair.time.advance(1000)
    expect(other.last('BYE').request.headers.get('Authorization')).toBeUndefined()
  })

  /** A call that the peer challenged and answered; `challenge` replies 407 to its last request of a method. */
  function challengedCall(contactHost?: string) {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp'), credentials })
    const challenge = (method: string, nonce: string, more = '') => {
      const line = `Digest realm="carrier", nonce="${nonce}", qop="auth", opaque="o"${more}`
      peer.reply(peer.last(method), 407, { headers: [['Proxy-Authenticate', line]] })
      pair.time.advance(50)
    }
    const sent = (method: string) =>
      peer.requests
        .filter(request => request.method === method)
        .map(({ headers }) => {
          const value = headers.get('Proxy-Authorization') ?? ''
          return `${/nonce="(\w+)"/.exec(value)?.[1] ?? 'none'} ${/nc=(\d+)/.exec(value)?.[1] ?? ''}`.trim()
        })
    pair.time.advance(50)
    challenge('INVITE', 'one')
    peer.reply(peer.last('INVITE'), 200, { body: 'answer', ...(contactHost !== undefined && { contactHost }) })
    pair.time.advance(50)
    return { pair, peer, caller, challenge, sent }
  }

  it('the further requests of a challenged call carry its credentials at once, with the next nonce count', () => {
    const { pair, peer, caller, sent } = challengedCall()
    for (let i = 0; i < 2; i++) {
      caller.session.info({ contentType: 'application/dtmf-relay', bytes: new Uint8Array(0) })
      pair.time.advance(50)
      peer.reply(peer.last('INFO'), 200)
      pair.time.advance(50)
    }
    caller.session.hangUp()
    pair.time.advance(50)
    peer.reply(peer.last('BYE'), 200)
    pair.time.advance(50)
    expect(sent('INVITE')).toEqual(['none', 'one 00000001'])
    expect(sent('ACK').at(-1)).toBe('one 00000001')
    expect(sent('INFO')).toEqual(['one 00000002', 'one 00000003'])
    expect(sent('BYE')).toEqual(['one 00000004'])
    expect(peer.last('BYE').request.headers.get('Proxy-Authorization')).toContain('opaque="o"')
    expect(caller.end).toMatchObject({ cause: 'bye', by: 'local' })
  })

  it('a nonce that went stale is replaced, and the new one is used from then on', () => {
    const { pair, peer, caller, challenge, sent } = challengedCall()
    caller.session.info({ contentType: 'application/dtmf-relay', bytes: new Uint8Array(0) })
    pair.time.advance(50)
    challenge('INFO', 'two', ', stale=true')
    peer.reply(peer.last('INFO'), 200)
    caller.session.hangUp()
    pair.time.advance(50)
    expect(sent('INFO')).toEqual(['one 00000002', 'two 00000001'])
    expect(sent('BYE')).toEqual(['two 00000002'])
  })

  it('a server that takes each nonce once is asked first from then on', () => {
    const { pair, peer, caller, challenge, sent } = challengedCall()
    caller.session.info({ contentType: 'application/dtmf-relay', bytes: new Uint8Array(0) })
    pair.time.advance(50)
    challenge('INFO', 'two')
    peer.reply(peer.last('INFO'), 200)
    caller.session.hangUp()
    pair.time.advance(50)
    challenge('BYE', 'three')
    expect(sent('INFO')).toEqual(['one 00000002', 'two 00000001'])
    expect(sent('BYE')).toEqual(['none', 'three 00000001'])
  })

  it('a refused password is tried once more after a preemptive attempt, and not again', () => {
    const { pair, caller, challenge, sent } = challengedCall()
    caller.session.info({ contentType: 'application/dtmf-relay', bytes: new Uint8Array(0) })
    pair.time.advance(50)
    challenge('INFO', 'two')
    challenge('INFO', 'three')
    expect(sent('INFO')).toEqual(['one 00000002', 'two 00000001'])
  })

  it('the credentials of a call do not go ahead to a host that is not the next hop', () => {
    const { pair, caller } = challengedCall('10.0.0.66')
    caller.session.hangUp()
    pair.time.advance(1000)
    const passed = pair.network.passed.filter(({ to }) => to.address === '10.0.0.66')
    expect(passed.some(({ text }) => text.startsWith('BYE '))).toBe(true)
    expect(passed.filter(({ text }) => text.includes('Authorization'))).toEqual([])
  })

  it('no credentials are sent to a host that is not the next hop, even if the dialog routes there', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const rogue = new ScriptedPeer(pair.network, '10.0.0.66', 'rogue.test')
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp'), credentials })
    pair.time.advance(50)
    peer.reply(peer.last('INVITE'), 200, { body: 'answer', contactHost: '10.0.0.66' })
    pair.time.advance(50)
    caller.session.hangUp()
    pair.time.advance(50)
    rogue.reply(rogue.last('BYE'), 401, { headers: [['WWW-Authenticate', 'Digest realm="x", nonce="n"']] })
    pair.time.advance(40_000)
    expect(pair.network.passed.some(({ text }) => text.includes('Authorization'))).toBe(false)
    expect(pair.a.logs.map(({ event }) => event)).toContain('rogue_challenge')
  })

  it("no credentials are sent to another host that answers in the next hop's place", () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const rogue = new ScriptedPeer(pair.network, '10.0.0.66', 'rogue.test')
    pair.call({ uri: sipUri('x', 'peer.test', 'udp'), credentials })
    pair.time.advance(50)
    // The rogue knows the branch and answers from its own address.
    const { request } = peer.last('INVITE')
    rogue.sendText('x', { address: '10.0.0.1', transport: 'udp' })
    const response = [
      'SIP/2.0 401 Unauthorized',
      `Via: SIP/2.0/UDP a.test:5060;branch=${request.via[0]?.params.get('branch')}`,
      `From: <sip:alice@a.test>;tag=${request.from.params.get('tag')}`,
      'To: <sip:x@peer.test>;tag=r',
      `Call-ID: ${request.callId}`,
      `CSeq: ${request.cseq.sequence} INVITE`,
      'WWW-Authenticate: Digest realm="x", nonce="n"',
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n')
    rogue.sendText(response, { address: '10.0.0.1', transport: 'udp' })
    pair.time.advance(40_000)
    expect(pair.network.passed.some(({ text }) => text.includes('Authorization:'))).toBe(false)
  })

  it('no credentials are sent to a target that did not receive the INVITE', () => {
    const pair = new Pair()
    const asked = new ScriptedPeer(pair.network, '10.0.0.21', 'asked.test')
    const other = new ScriptedPeer(pair.network, '10.0.0.22', 'other.test')
    pair.network.name('trunk.test', [
      { address: '10.0.0.21', port: 0 },
      { address: '10.0.0.22', port: 0 },
    ])
    pair.call({ uri: sipUri('x', 'trunk.test', 'udp'), credentials })
    pair.time.advance(50)
    const { request } = asked.last('INVITE')
    const challenge = createResponse(request, 401, {
      headers: HeaderList.empty.with('WWW-Authenticate', 'Digest realm="x", nonce="n"'),
    })
    other.sendMessage(challenge, { address: '10.0.0.1', transport: 'udp' })
    pair.time.advance(200)
    expect(pair.network.passed.some(({ text }) => text.includes('\r\nAuthorization:'))).toBe(false)
  })

  it('credentials for a proxy are kept when the callee challenges as well', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    pair.call({ uri: sipUri('x', 'peer.test', 'udp'), credentials })
    pair.time.advance(50)
    peer.reply(peer.last('INVITE'), 407, { headers: [['Proxy-Authenticate', 'Digest realm="proxy", nonce="p"']] })
    pair.time.advance(50)
    peer.reply(peer.last('INVITE'), 401, { headers: [['WWW-Authenticate', 'Digest realm="callee", nonce="c"']] })
    pair.time.advance(50)
    const { headers } = peer.last('INVITE').request
    expect(headers.get('Proxy-Authorization')).toContain('realm="proxy"')
    expect(headers.get('Authorization')).toContain('realm="callee"')
  })

  it('CSeq continues from the authenticated INVITE, even if the dialog began before the challenge', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp'), credentials })
    pair.time.advance(50)
    const first = peer.last('INVITE')
    peer.reply(first, 183, { toTag: 'same' })
    peer.reply(first, 407, { toTag: 'same', headers: [['Proxy-Authenticate', 'Digest realm="p", nonce="n"']] })
    pair.time.advance(50)
    peer.reply(peer.last('INVITE'), 200, { toTag: 'same', body: 'answer' })
    pair.time.advance(50)
    caller.session.hangUp()
    pair.time.advance(50)
    const begin = first.request.cseq.sequence
    expect(peer.requests.map(({ method, cseq }) => `${method} ${cseq.sequence - begin}`)).toEqual([
      'INVITE 0',
      'ACK 0',
      'INVITE 1',
      'ACK 1',
      'BYE 2',
    ])
  })

  it.each([
    ['10.0.0.9', true],
    ['10.0.0.66', false],
  ])('the ACK to a 200 whose Contact is at %s carries the credentials: %s', (contactHost, carries) => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    new ScriptedPeer(pair.network, '10.0.0.66', 'rogue.test')
    pair.call({ uri: sipUri('x', 'peer.test', 'udp'), credentials })
    pair.time.advance(50)
    peer.reply(peer.last('INVITE'), 407, { headers: [['Proxy-Authenticate', 'Digest realm="p", nonce="n"']] })
    pair.time.advance(50)
    peer.reply(peer.last('INVITE'), 200, { body: 'answer', contactHost })
    pair.time.advance(50)
    const ack = pair.network.passed.at(-1)
    expect(ack?.to.address).toBe(contactHost)
    expect(ack?.text.startsWith('ACK ')).toBe(true)
    expect(ack?.text.includes('Proxy-Authorization: Digest')).toBe(carries)
  })
})
