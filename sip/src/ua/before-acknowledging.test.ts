import { type Ms, SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import type { DialogSnapshot } from '../dialog/dialog-snapshot.ts'
import type { OutboundCall } from './session.ts'
import { Heard, Pair, sdp, sipUri } from './testing/pair.ts'
import { ScriptedPeer } from './testing/scripted-peer.ts'
import { UserAgent } from './user-agent.ts'

/** A call to a scripted peer with a `beforeAcknowledging` that the test resolves or rejects. */
class Stage {
  readonly pair: Pair
  readonly peer: ScriptedPeer
  readonly noted: DialogSnapshot[] = []
  readonly note = Promise.withResolvers<void>()
  readonly caller: Heard

  constructor(options: Partial<OutboundCall> = {}, transport: 'udp' | 'tls' = 'udp') {
    this.pair = new Pair({ transport })
    this.peer = new ScriptedPeer(this.pair.network, '10.0.0.9', 'peer.test')
    const session = this.pair.a.ua.invite({
      uri: sipUri('x', 'peer.test', transport),
      from: { displayName: undefined, uri: sipUri('alice', 'a.test', transport), params: new Map() },
      beforeAcknowledging: dialog => {
        this.noted.push(dialog)
        return this.note.promise
      },
      ...options,
    })
    this.caller = new Heard(session)
  }

  /** Lets time pass and promises settle, before and after. */
  async pass(ms: Ms): Promise<void> {
    await settled()
    this.pair.time.advance(ms)
    await settled()
  }

  async answered(toTag = 'peer-tag', body = 'answer'): Promise<void> {
    await this.pass(100)
    this.peer.reply(this.peer.last('INVITE'), 200, { toTag, body })
    await this.pass(100)
  }

  async agree(): Promise<void> {
    this.note.resolve()
    await this.pass(100)
  }

  /** The messages that the peer received after the INVITE. */
  get receivedMethods(): string[] {
    return this.peer.methods().slice(1)
  }

  bye(): string {
    const { callId, localTag, remoteTag } = this.noted[0]!
    return `BYE sip:alice@a.test SIP/2.0
Via: SIP/2.0/UDP peer.test;branch=z9hG4bKtheirs
Max-Forwards: 70
From: <sip:x@peer.test>;tag=${remoteTag}
To: <sip:alice@a.test>;tag=${localTag}
Call-ID: ${callId}
CSeq: 7 BYE
Content-Length: 0

`
  }
}

const OFFER = { body: sdp('offer') }

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

describe('beforeAcknowledging', () => {
  it('the ACK is sent when beforeAcknowledging resolves, the call is answered before that, and retransmitted 200s have no effect', async () => {
    const stage = new Stage(OFFER)
    await stage.answered()
    expect(stage.caller.types).toEqual(['answered'])
    expect(stage.caller.session.state).toBe('confirmed')
    expect(stage.noted).toEqual([stage.caller.session.dialog])
    expect(JSON.parse(JSON.stringify(stage.noted[0]))).toEqual(stage.noted[0])
    await stage.pass(300)
    stage.peer.reply(stage.peer.last('INVITE'), 200, { body: 'answer' })
    await stage.pass(300)
    expect(stage.receivedMethods).toEqual([])
    await stage.agree()
    expect(stage.receivedMethods).toEqual(['ACK'])
    expect(stage.noted).toHaveLength(1)
    expect(stage.caller.types).toEqual(['answered'])
    stage.peer.reply(stage.peer.last('INVITE'), 200, { body: 'answer' })
    await stage.pass(100)
    expect(stage.receivedMethods).toEqual(['ACK', 'ACK'])
  })

  it.each([
    ['does not settle within two seconds', (_: Stage) => {}, 'not within 2 s'],
    ['rejects', ({ note }: Stage) => note.reject(new Error('the disk is full')), 'the disk is full'],
  ])('the ACK is sent and a warning is logged if beforeAcknowledging %s', async (_, fate, why) => {
    const stage = new Stage(OFFER)
    await stage.answered()
    await stage.pass(1850)
    expect(stage.receivedMethods).toEqual([])
    fate(stage)
    await stage.pass(100)
    expect(stage.receivedMethods).toEqual(['ACK'])
    const { callId } = stage.caller.session
    expect(stage.pair.a.logs).toEqual([
      {
        level: 'warn',
        event: 'ack_not_noted',
        detail: `call ${callId} is acknowledged although beforeAcknowledging failed: ${why}`,
      },
    ])
    await stage.agree()
    await stage.pass(5000)
    expect(stage.receivedMethods).toEqual(['ACK'])
    expect(stage.caller.types).toEqual(['answered'])
  })

  it('the ACK is sent at once if beforeAcknowledging throws', async () => {
    const stage = new Stage({
      ...OFFER,
      beforeAcknowledging: () => {
        throw new Error('a bug')
      },
    })
    await stage.answered()
    await stage.pass(10)
    expect(stage.receivedMethods).toEqual(['ACK'])
    expect(stage.pair.a.logs).toMatchObject([{ event: 'ack_not_noted', detail: expect.stringContaining('a bug') }])
  })

  it('our BYE waits until the ACK has been sent', async () => {
    const stage = new Stage(OFFER)
    await stage.answered()
    stage.caller.session.hangUp()
    await stage.pass(100)
    expect(stage.receivedMethods).toEqual([])
    expect(stage.caller.session.state).toBe('terminating')
    await stage.agree()
    expect(stage.receivedMethods).toEqual(['ACK', 'BYE'])
    stage.peer.reply(stage.peer.last('BYE'), 200)
    await stage.pass(100)
    expect(stage.caller.end).toMatchObject({ cause: 'bye', by: 'local', confirmed: true })
  })

  it.each(['the call stands', 'we are hanging up'])(
    'a BYE of the far end releases the ACK, where %s, and nothing follows it',
    async when => {
      const stage = new Stage(OFFER)
      await stage.answered()
      if (when === 'we are hanging up') stage.caller.session.hangUp()
      else stage.caller.session.reoffer(sdp('hold'))
      stage.peer.sendText(stage.bye(), { address: '10.0.0.1', transport: 'udp' })
      await stage.pass(100)
      const by = when === 'we are hanging up' ? 'local' : 'remote'
      expect(stage.caller.end).toMatchObject({ cause: 'bye', by, confirmed: true })
      await stage.agree()
      await stage.pass(40_000)
      expect(stage.receivedMethods).toEqual(['ACK'])
      expect(stage.pair.a.logs).toEqual([])
      expect(stage.pair.a.ua.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 0, sends: 0 })
    },
  )

  it('the ACK waits also if the 200 crossed our CANCEL, and the BYE follows it', async () => {
    const stage = new Stage(OFFER)
    await stage.pass(100)
    stage.peer.reply(stage.peer.last('INVITE'), 180)
    await stage.pass(100)
    stage.caller.session.hangUp()
    await stage.answered()
    expect(stage.receivedMethods).toEqual(['CANCEL'])
    expect(stage.noted).toHaveLength(1)
    await stage.agree()
    expect(stage.receivedMethods).toEqual(['CANCEL', 'ACK', 'BYE'])
    stage.peer.reply(stage.peer.last('BYE'), 200)
    await stage.pass(100)
    expect(stage.caller.end).toMatchObject({ cause: 'cancelled', by: 'local', status: 200, confirmed: true })
    expect(stage.caller.types).not.toContain('answered')
  })

  it('a 200 of another fork gets ACK and BYE at once; beforeAcknowledging is called for the first dialog only', async () => {
    const stage = new Stage(OFFER)
    await stage.answered('one')
    stage.peer.reply(stage.peer.last('INVITE'), 200, { toTag: 'two', body: 'answer' })
    await stage.pass(100)
    expect(stage.receivedMethods).toEqual(['ACK', 'BYE'])
    expect(stage.peer.last('BYE').request.to.params.get('tag')).toBe('two')
    stage.peer.reply(stage.peer.last('BYE'), 200)
    expect(stage.noted.map(({ remoteTag }) => remoteTag)).toEqual(['one'])
    await stage.agree()
    expect(stage.receivedMethods).toEqual(['ACK', 'BYE', 'ACK'])
    expect(stage.peer.last('ACK').request.to.params.get('tag')).toBe('one')
    expect(stage.caller.session.state).toBe('confirmed')
  })

  it.each(['answer', 'note'])(
    'with a delayed offer the ACK waits for both our answer and beforeAcknowledging: %s',
    async last => {
      const stage = new Stage()
      await stage.answered('peer-tag', 'offer')
      expect(stage.noted).toHaveLength(1)
      const answer = () => stage.caller.session.acknowledge(sdp('our answer'))
      if (last === 'note') answer()
      else stage.note.resolve()
      await stage.pass(100)
      expect(stage.receivedMethods).toEqual([])
      if (last === 'note') stage.note.resolve()
      else answer()
      await stage.pass(100)
      expect(stage.receivedMethods).toEqual(['ACK'])
      expect(new TextDecoder().decode(stage.peer.last('ACK').request.body)).toBe('our answer')
      expect(answer).toThrow('acknowledge')
    },
  )

  it('our re-INVITE waits for the ACK, and a re-INVITE of the far end meanwhile is glare', async () => {
    const stage = new Stage(OFFER)
    await stage.answered()
    stage.caller.session.reoffer(sdp('hold'))
    const theirs = stage.bye().replaceAll('BYE', 'INVITE').replace('Content', 'Contact: <sip:x@peer.test>\nContent')
    stage.peer.sendText(theirs, { address: '10.0.0.1', transport: 'udp' })
    await stage.pass(100)
    expect(stage.receivedMethods).toEqual([])
    expect(stage.peer.responses.map(({ status }) => status)).toContain(491)
    await stage.agree()
    expect(stage.receivedMethods).toEqual(['ACK', 'INVITE'])
  })

  it('the ACK uses a new connection if that of the 200 closed meanwhile', async () => {
    const stage = new Stage(OFFER, 'tls')
    await stage.answered()
    const { flow } = stage.peer.last('INVITE')
    stage.pair.a.transport.cutAll()
    await stage.pass(1000)
    expect(stage.receivedMethods).toEqual([])
    await stage.agree()
    await stage.pass(500)
    expect(stage.receivedMethods).toEqual(['ACK'])
    expect(stage.peer.last('ACK').flow.id).not.toBe(flow.id)
  })

  it('a closing user agent sends the ACK before the BYE and waits for it two seconds at most', async () => {
    const stage = new Stage({ ...OFFER, beforeAcknowledging: () => new Promise(() => {}) })
    await stage.answered()
    const closed = stage.pair.a.ua.close()
    await stage.pass(1500)
    expect(stage.receivedMethods).toEqual([])
    await stage.pass(500)
    expect(stage.receivedMethods).toEqual(['ACK', 'BYE'])
    stage.peer.reply(stage.peer.last('BYE'), 200)
    await stage.pass(100)
    await closed
    expect(stage.pair.a.ua.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 0, sends: 0 })
  })
})

describe('a process that dies between the answer of its call and the ACK', () => {
  async function died() {
    const pair = new Pair()
    const noted: DialogSnapshot[] = []
    pair.call({
      beforeAcknowledging: dialog => {
        noted.push(dialog)
        return new Promise(() => {})
      },
    })
    pair.time.advance(200)
    const [callee] = pair.b.calls
    callee!.session.answer(sdp('answer'))
    pair.time.advance(200)
    await settled()
    pair.a.transport.silence()
    pair.time.advance(10_000)
    expect(pair.trace).not.toContain('a> ACK')
    return { pair, callee: callee!, noted: JSON.parse(JSON.stringify(noted[0])) as DialogSnapshot }
  }

  it('the stored dialog is enough for a BYE, which the far end accepts without an ACK', async () => {
    const { pair, callee, noted } = await died()
    const reaper = new UserAgent({
      time: pair.time,
      random: new SeededRandom(7),
      transport: pair.network.element({ address: '10.0.0.3', host: 'c.test' }),
      guard: () => ({ action: 'drop' }),
      onInvite: () => {},
    })
    const over = reaper.bye(noted)
    pair.time.advance(200)
    expect(await over).toMatchObject({ confirmed: true, status: 200 })
    expect(callee.end).toMatchObject({ cause: 'bye', by: 'remote' })
    const again = reaper.bye(noted)
    pair.time.advance(60_000)
    expect(await again).toMatchObject({ confirmed: true, status: 481 })
    expect(callee.types).toEqual(['ended'])
    expect(pair.trace.filter(line => line === 'b> BYE')).toEqual([])
  })

  it('the far end ends an unacknowledged call by itself after 64*T1', async () => {
    const { pair, callee } = await died()
    pair.time.advance(64 * 500)
    expect(pair.trace).toContain('b> BYE')
    expect(callee.session.state).toBe('terminating')
    pair.time.advance(64 * 500)
    expect(callee.end).toMatchObject({ cause: 'timeout' })
  })
})
