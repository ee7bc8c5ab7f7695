import { type Ms, SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import type { DialogSnapshot } from '../dialog/dialog-snapshot.ts'
import type { OutboundCall } from './session.ts'
import { Heard, Pair, sdp, sipUri } from './testing/pair.ts'
import { ScriptedPeer } from './testing/scripted-peer.ts'
import { UserAgent } from './user-agent.ts'

/** A call to a peer that says what the test says; whoever notes its dialog takes the time that the test gives it. */
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

  /** What the peer heard behind the INVITE. */
  get heard(): string[] {
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

describe('the ACK of a call whose dialog has to be noted first', () => {
  it('leaves when it has been and not before, while the call stands already; 200s that are repeated meanwhile change nothing', async () => {
    const stage = new Stage(OFFER)
    await stage.answered()
    expect(stage.caller.types).toEqual(['answered'])
    expect(stage.caller.session.state).toBe('confirmed')
    expect(stage.noted).toEqual([stage.caller.session.dialog])
    expect(JSON.parse(JSON.stringify(stage.noted[0]))).toEqual(stage.noted[0])
    await stage.pass(300)
    stage.peer.reply(stage.peer.last('INVITE'), 200, { body: 'answer' })
    await stage.pass(300)
    expect(stage.heard).toEqual([])
    await stage.agree()
    expect(stage.heard).toEqual(['ACK'])
    expect(stage.noted).toHaveLength(1)
    expect(stage.caller.types).toEqual(['answered'])
    stage.peer.reply(stage.peer.last('INVITE'), 200, { body: 'answer' })
    await stage.pass(100)
    expect(stage.heard).toEqual(['ACK', 'ACK'])
  })

  it.each([
    ['is not noted within two seconds', (_: Stage) => {}, 'not within 2 s'],
    ['cannot be noted', ({ note }: Stage) => note.reject(new Error('the disk is full')), 'the disk is full'],
  ])('leaves all the same where the dialog %s, and the log says so', async (_, fate, why) => {
    const stage = new Stage(OFFER)
    await stage.answered()
    await stage.pass(1850)
    expect(stage.heard).toEqual([])
    fate(stage)
    await stage.pass(100)
    expect(stage.heard).toEqual(['ACK'])
    const { callId } = stage.caller.session
    expect(stage.pair.a.logs).toEqual([
      { level: 'warn', event: 'ack_not_noted', detail: `call ${callId} is acknowledged unnoted: ${why}` },
    ])
    await stage.agree()
    await stage.pass(5000)
    expect(stage.heard).toEqual(['ACK'])
    expect(stage.caller.types).toEqual(['answered'])
  })

  it('leaves at once where the one who notes it throws', async () => {
    const stage = new Stage({
      ...OFFER,
      beforeAcknowledging: () => {
        throw new Error('a bug')
      },
    })
    await stage.answered()
    await stage.pass(10)
    expect(stage.heard).toEqual(['ACK'])
    expect(stage.pair.a.logs).toMatchObject([{ event: 'ack_not_noted', detail: expect.stringContaining('a bug') }])
  })

  it('goes before a BYE of ours, which waits for it', async () => {
    const stage = new Stage(OFFER)
    await stage.answered()
    stage.caller.session.hangUp()
    await stage.pass(100)
    expect(stage.heard).toEqual([])
    expect(stage.caller.session.state).toBe('terminating')
    await stage.agree()
    expect(stage.heard).toEqual(['ACK', 'BYE'])
    stage.peer.reply(stage.peer.last('BYE'), 200)
    await stage.pass(100)
    expect(stage.caller.end).toMatchObject({ cause: 'bye', by: 'local', confirmed: true })
  })

  it.each(['the call stands', 'we are hanging up'])(
    'is held back no longer when the far end hangs up, where %s; nothing follows it',
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
      expect(stage.heard).toEqual(['ACK'])
      expect(stage.pair.a.logs).toEqual([])
      expect(stage.pair.a.ua.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 0, sends: 0 })
    },
  )

  it('waits too where the answer crossed our CANCEL; the BYE follows it', async () => {
    const stage = new Stage(OFFER)
    await stage.pass(100)
    stage.peer.reply(stage.peer.last('INVITE'), 180)
    await stage.pass(100)
    stage.caller.session.hangUp()
    await stage.answered()
    expect(stage.heard).toEqual(['CANCEL'])
    expect(stage.noted).toHaveLength(1)
    await stage.agree()
    expect(stage.heard).toEqual(['CANCEL', 'ACK', 'BYE'])
    stage.peer.reply(stage.peer.last('BYE'), 200)
    await stage.pass(100)
    expect(stage.caller.end).toMatchObject({ cause: 'cancelled', by: 'local', status: 200, confirmed: true })
    expect(stage.caller.types).not.toContain('answered')
  })

  it('of another fork leaves at once, with its BYE: only the first is noted', async () => {
    const stage = new Stage(OFFER)
    await stage.answered('one')
    stage.peer.reply(stage.peer.last('INVITE'), 200, { toTag: 'two', body: 'answer' })
    await stage.pass(100)
    expect(stage.heard).toEqual(['ACK', 'BYE'])
    expect(stage.peer.last('BYE').request.to.params.get('tag')).toBe('two')
    stage.peer.reply(stage.peer.last('BYE'), 200)
    expect(stage.noted.map(({ remoteTag }) => remoteTag)).toEqual(['one'])
    await stage.agree()
    expect(stage.heard).toEqual(['ACK', 'BYE', 'ACK'])
    expect(stage.peer.last('ACK').request.to.params.get('tag')).toBe('one')
    expect(stage.caller.session.state).toBe('confirmed')
  })

  it.each(['answer', 'note'])(
    'carries our answer to a delayed offer, and waits for answer and note, whichever is last: %s',
    async last => {
      const stage = new Stage()
      await stage.answered('peer-tag', 'offer')
      expect(stage.noted).toHaveLength(1)
      const answer = () => stage.caller.session.acknowledge(sdp('our answer'))
      if (last === 'note') answer()
      else stage.note.resolve()
      await stage.pass(100)
      expect(stage.heard).toEqual([])
      if (last === 'note') stage.note.resolve()
      else answer()
      await stage.pass(100)
      expect(stage.heard).toEqual(['ACK'])
      expect(new TextDecoder().decode(stage.peer.last('ACK').request.body)).toBe('our answer')
      expect(answer).toThrow('acknowledge')
    },
  )

  it('is not overtaken by a re-offer of ours; one of the far end meanwhile is glare', async () => {
    const stage = new Stage(OFFER)
    await stage.answered()
    stage.caller.session.reoffer(sdp('hold'))
    const theirs = stage.bye().replaceAll('BYE', 'INVITE').replace('Content', 'Contact: <sip:x@peer.test>\nContent')
    stage.peer.sendText(theirs, { address: '10.0.0.1', transport: 'udp' })
    await stage.pass(100)
    expect(stage.heard).toEqual([])
    expect(stage.peer.responses.map(({ status }) => status)).toContain(491)
    await stage.agree()
    expect(stage.heard).toEqual(['ACK', 'INVITE'])
  })

  it('goes over a new connection where that of the 200 died meanwhile', async () => {
    const stage = new Stage(OFFER, 'tls')
    await stage.answered()
    const { flow } = stage.peer.last('INVITE')
    stage.pair.a.transport.cutAll()
    await stage.pass(1000)
    expect(stage.heard).toEqual([])
    await stage.agree()
    await stage.pass(500)
    expect(stage.heard).toEqual(['ACK'])
    expect(stage.peer.last('ACK').flow.id).not.toBe(flow.id)
  })

  it('goes before the BYE also where the user agent closes, and holds that up for no longer than its two seconds', async () => {
    const stage = new Stage({ ...OFFER, beforeAcknowledging: () => new Promise(() => {}) })
    await stage.answered()
    const closed = stage.pair.a.ua.close()
    await stage.pass(1500)
    expect(stage.heard).toEqual([])
    await stage.pass(500)
    expect(stage.heard).toEqual(['ACK', 'BYE'])
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

  it('has noted what a BYE needs, which the far end takes without an ACK: it ends once', async () => {
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

  it('leaves a call that the far end ends by itself after 64*T1, whoever knows of it', async () => {
    const { pair, callee } = await died()
    pair.time.advance(64 * 500)
    expect(pair.trace).toContain('b> BYE')
    expect(callee.session.state).toBe('terminating')
    pair.time.advance(64 * 500)
    expect(callee.end).toMatchObject({ cause: 'timeout' })
  })
})
