import { describe, expect, it } from 'vitest'
import { Pair, sdp, sipUri } from './testing/pair.ts'
import { requestText, ScriptedPeer } from './testing/scripted-peer.ts'

const clean = { sessions: 0, dialogs: 0, transactions: 0, sends: 0 }

/** The response of "a" to one request of an unknown peer. */
function answerTo(text: string, action: 'accept' | 'drop' = 'accept') {
  const pair = new Pair({ guard: () => ({ action }) })
  const peer = new ScriptedPeer(pair.network, '10.0.0.9', '10.0.0.9')
  peer.sendText(text, { address: '10.0.0.1', transport: 'udp' })
  pair.time.advance(100)
  return { pair, peer, response: peer.responses.at(-1) }
}

const refusals: [
  what: string,
  text: string,
  status: number,
  header: [name: string, value: string | RegExp] | undefined,
][] = [
  [
    'an extension we lack',
    requestText({ method: 'INVITE', headers: ['Require: 100rel, foo'] }),
    420,
    ['Unsupported', 'foo'],
  ],
  [
    'MESSAGE',
    requestText({ method: 'MESSAGE' }),
    405,
    ['Allow', 'INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, NOTIFY, UPDATE, PRACK'],
  ],
  ['SUBSCRIBE', requestText({ method: 'SUBSCRIBE' }), 405, ['Allow', /INVITE/]],
  ['REFER', requestText({ method: 'REFER', headers: ['Refer-To: <sip:premium@x>'] }), 403, undefined],
  ['a tel: URI', requestText({ method: 'INVITE', uri: 'tel:+4930' }), 416, undefined],
  [
    'a body we cannot read',
    requestText({ method: 'INVITE', headers: ['Content-Type: text/html'], body: '<p>' }),
    415,
    ['Accept', /^application\/sdp\b/],
  ],
  ['BYE outside any dialog', requestText({ method: 'BYE' }), 481, undefined],
  ['BYE in a dialog that is gone', requestText({ method: 'BYE', toTag: 'gone' }), 481, undefined],
  ['INVITE in a dialog that is gone', requestText({ method: 'INVITE', toTag: 'gone' }), 481, undefined],
]

describe('requests that a user agent refuses', () => {
  it.each(refusals)(
    'a user agent refuses %s with the right status and keeps no state',
    (_what, text, status, header) => {
      const { response, pair } = answerTo(text)
      expect(response?.status).toBe(status)
      expect(response?.to.params.get('tag')).toBeTruthy()
      if (header !== undefined)
        expect(response?.headers.get(header[0])).toEqual(
          typeof header[1] === 'string' ? header[1] : expect.stringMatching(header[1]),
        )
      expect(pair.a.calls).toEqual([])
      expect(pair.a.ua.footprint).toEqual(clean)
    },
  )

  it.each([...refusals.map(([what, text]) => [what, text]), ['OPTIONS', requestText({ method: 'OPTIONS' })]])(
    '%s from an unknown sender gets no response',
    (_what, text) => {
      const { pair, peer } = answerTo(text ?? '', 'drop')
      expect(peer.heard).toEqual([])
      expect(pair.network.passed.filter(({ from }) => from.address === '10.0.0.1')).toEqual([])
      expect(pair.a.ua.footprint).toEqual(clean)
    },
  )

  it('OPTIONS is answered with the supported capabilities', () => {
    const { response } = answerTo(requestText({ method: 'OPTIONS' }))
    expect(response?.status).toBe(200)
    expect(response?.headers.get('Allow')).toBe('INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, NOTIFY, UPDATE, PRACK')
    expect(response?.headers.get('Accept')).toMatch(/^application\/sdp\b/)
    expect(response?.headers.has('Supported')).toBe(true)
  })

  it('a retransmission of a refused request gets the same To tag', () => {
    const { pair, peer } = answerTo(requestText({ method: 'BYE', toTag: undefined as never }))
    peer.sendText(requestText({ method: 'BYE' }), { address: '10.0.0.1', transport: 'udp' })
    pair.time.advance(100)
    const tags = peer.responses.map(({ to }) => to.params.get('tag'))
    expect(tags).toHaveLength(2)
    expect(new Set(tags).size).toBe(1)
  })

  it('Max-Forwards 0 is accepted, because a user agent is the last hop', () => {
    const { pair } = answerTo(requestText({ method: 'INVITE' }).replace('Max-Forwards: 70', 'Max-Forwards: 0'))
    expect(pair.a.calls).toHaveLength(1)
  })

  it('a merged request that arrived over a second path gets 482', () => {
    const { pair, peer } = answerTo(requestText({ method: 'INVITE', branch: 'z9hG4bKone' }))
    peer.sendText(requestText({ method: 'INVITE', branch: 'z9hG4bKtwo' }), { address: '10.0.0.1', transport: 'udp' })
    pair.time.advance(100)
    expect(peer.responses.map(({ status }) => status)).toEqual([482])
    expect(pair.a.calls).toHaveLength(1)
  })

  it('a malformed request gets 400 from an accepted sender and no response otherwise', () => {
    const broken = requestText({ method: 'INVITE' }).replace('CSeq: 1 INVITE', 'CSeq: 1 BYE')
    expect(answerTo(broken).response?.status).toBe(400)
    expect(answerTo(broken, 'drop').peer.heard).toEqual([])
  })

  it('bytes that are not SIP and stray responses and ACKs get no response', () => {
    const { pair, peer } = answerTo(requestText({ method: 'ACK', toTag: 'x' }))
    const via = 'Via: SIP/2.0/UDP a.test:5060;branch=z9hG4bKnever'
    const stray = [
      'SIP/2.0 200 OK',
      via,
      'From: <sip:a@b>;tag=1',
      'To: <sip:a@b>;tag=2',
      'Call-ID: x',
      'CSeq: 1 INVITE',
      '',
      '',
    ]
    peer.sendText(stray.join('\n'), { address: '10.0.0.1', transport: 'udp' })
    peer.sendText('GET / HTTP/1.1\n\n', { address: '10.0.0.1', transport: 'udp' })
    peer.sendBytes(new Uint8Array([0, 255, 13, 10, 13, 10]), { address: '10.0.0.1', transport: 'udp' })
    pair.time.advance(1000)
    expect(peer.heard).toEqual([])
    expect(pair.a.logs).toEqual([])
  })

  it('a forged response with our Via has no effect', () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    const caller = pair.call({ uri: sipUri('x', 'peer.test', 'udp') })
    pair.time.advance(50)
    const invite = peer.last('INVITE')
    const forged = { request: { ...invite.request, callId: 'another' }, flow: invite.flow }
    peer.reply(forged, 200, { body: 'x' })
    pair.time.advance(50)
    expect(caller.types).toEqual([])
  })

  it('the session of an INVITE goes only to the listener that the guard chose', () => {
    const chosen: string[] = []
    const pair = new Pair({
      b: {
        guard: request =>
          request.method === 'OPTIONS'
            ? { action: 'accept', onInvite: () => chosen.push('OPTIONS') }
            : {
                action: 'accept',
                ...('user' in request.uri &&
                  request.uri.user === 'routed' && {
                    onInvite: session => {
                      chosen.push(session.callId)
                      session.reject(486)
                    },
                  }),
              },
      },
    })
    const routed = pair.call({ uri: sipUri('routed', 'b.test', 'udp') })
    const other = pair.call()
    void pair.a.ua.options({ uri: sipUri('bob', 'b.test', 'udp'), from: other.session.invite.from })
    pair.time.advance(100)
    expect(chosen).toEqual([routed.session.callId])
    expect(routed.end).toMatchObject({ cause: 'rejected', status: 486 })
    expect(pair.b.calls.map(({ session }) => session.callId)).toEqual([other.session.callId])
  })

  it('a listener that throws causes a 500 and does not affect other calls', () => {
    const broken = (): never => {
      throw new Error('listener bug')
    }
    const pair = new Pair({ b: { guard: () => ({ action: 'accept', onInvite: broken }) } })
    const caller = pair.call()
    pair.time.advance(100)
    expect(caller.end).toMatchObject({ cause: 'rejected', status: 500 })
    expect(pair.b.logs.map(({ event }) => event)).toEqual(['on_invite_failed'])
  })

  it('a user agent that is closing refuses new calls with 503 and Retry-After', async () => {
    const pair = new Pair()
    const { callee } = pair.established()
    const closing = pair.b.ua.close()
    const late = pair.call()
    expect(() => pair.b.ua.invite({ uri: sipUri('a', 'a.test', 'udp'), from: callee.session.invite.to })).toThrow(
      expect.objectContaining({ code: 'draining' }),
    )
    pair.time.advance(100)
    await closing
    expect(late.end).toMatchObject({ cause: 'rejected', status: 503, retryAfterS: 5 })
    expect(pair.b.calls).toHaveLength(1)
  })

  it('close hangs up every call and resolves when all have ended', async () => {
    const pair = new Pair()
    const { callee } = pair.established()
    pair.call()
    pair.time.advance(100)
    let closed = false
    const closing = pair.b.ua.close().then(() => {
      closed = true
    })
    pair.time.advance(100)
    await closing
    expect(closed).toBe(true)
    expect(pair.b.ua.footprint).toEqual(clean)
    expect(callee.end).toMatchObject({ cause: 'bye', by: 'local', confirmed: true })
    expect(pair.b.calls[1]?.end).toMatchObject({ cause: 'rejected', status: 480 })
  })

  it('close resolves within 64*T1 even if no peer answers', async () => {
    const pair = new Pair()
    pair.established()
    pair.a.transport.silence()
    const closing = pair.b.ua.close()
    pair.time.advance(32_100)
    await closing
    expect(pair.b.ua.footprint).toEqual(clean)
  })

  it('a header value with line breaks is refused', () => {
    const pair = new Pair()
    expect(() => pair.call({ headers: [['X-Note', 'a\r\nRoute: <sip:evil>']] })).toThrow(
      expect.objectContaining({ code: 'header_injection' }),
    )
    pair.time.advance(100)
    expect(pair.trace).toEqual([])
    expect(pair.a.ua.footprint).toEqual(clean)
  })

  it('an application that throws in onInvite causes a 500', () => {
    const pair = new Pair()
    pair.b.onCall = () => {
      throw new Error('bug')
    }
    const caller = pair.call()
    pair.time.advance(100)
    expect(caller.end).toMatchObject({ cause: 'rejected', status: 500 })
    expect(pair.b.logs.map(({ event }) => event)).toEqual(['on_invite_failed'])
  })

  it('close ends every session with an event, also one that still waits for its ACK', async () => {
    const pair = new Pair()
    const peer = new ScriptedPeer(pair.network, '10.0.0.9', 'peer.test')
    peer.sendText(requestText({ method: 'INVITE' }), { address: '10.0.0.1', transport: 'udp' })
    pair.time.advance(50)
    const callee = pair.a.calls[0]!
    callee.session.answer(sdp('answer'))
    const closing = pair.a.ua.close()
    const secondClose = pair.a.ua.close()
    pair.time.advance(32_100)
    await Promise.all([closing, secondClose])
    expect(callee.end).toMatchObject({ cause: expect.any(String), status: 200, confirmed: false })
    expect(pair.a.ua.footprint).toEqual(clean)
  })

  it('close settles pending requests', async () => {
    const pair = new Pair()
    const from = { displayName: undefined, uri: sipUri('a', 'a.test', 'udp'), params: new Map() }
    pair.network.refuse('10.0.0.2')
    const outcome = pair.a.ua.options({ uri: sipUri('b', 'b.test', 'udp'), from })
    pair.time.advance(1000)
    void pair.a.ua.close()
    pair.time.advance(1)
    expect(await outcome).toMatchObject({ type: 'failed', cause: 'transport', code: 'shutdown' })
  })
})
