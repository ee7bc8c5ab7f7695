import type { Ms } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import type { InviteAttempt } from './invite-attempt.ts'
import type { OutboundCall } from './session.ts'
import { type Heard, Pair, sdp, sipUri } from './testing/pair.ts'
import { ScriptedPeer } from './testing/scripted-peer.ts'

/** A `beforeAttempt` that records the attempts and that the test resolves or rejects. */
class AttemptHook {
  readonly attempts: InviteAttempt[] = []
  #waiting = Promise.withResolvers<void>()

  readonly beforeAttempt = (attempt: InviteAttempt): Promise<void> => {
    this.attempts.push(attempt)
    return this.#waiting.promise
  }

  agree(): void {
    this.#waiting.resolve()
    this.#waiting = Promise.withResolvers()
  }

  refuse(why: string): void {
    this.#waiting.reject(new Error(why))
    this.#waiting = Promise.withResolvers()
  }
}

class Stage {
  readonly pair = new Pair()
  readonly hook = new AttemptHook()

  call(options: Partial<OutboundCall> = {}): Heard {
    return this.pair.call({ beforeAttempt: this.hook.beforeAttempt, ...options })
  }

  /** Lets time pass and promises settle, before and after. */
  async pass(ms: Ms): Promise<void> {
    await settled()
    this.pair.time.advance(ms)
    await settled()
  }

  async agree(): Promise<void> {
    this.hook.agree()
    await this.pass(100)
  }

  get left(): readonly unknown[] {
    return this.pair.network.passed
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

const password = { username: 'alice', password: 'secret' }
const challenge = ['WWW-Authenticate', 'Digest realm="r", nonce="n1", algorithm=MD5, qop="auth"'] as const

describe('beforeAttempt', () => {
  it('the INVITE is sent when beforeAttempt resolves, exactly as announced', async () => {
    const stage = new Stage()
    const caller = stage.call({
      from: { displayName: 'Al "x" Ice', uri: sipUri('alice', 'a.test', 'udp'), params: new Map() },
      route: [
        {
          displayName: undefined,
          uri: { ...sipUri('r', 'b.test', 'udp'), params: new Map([['lr', null]]) },
          params: new Map(),
        },
      ],
    })
    await stage.pass(60_000)
    expect(stage.left).toEqual([])
    expect(stage.hook.attempts).toHaveLength(1)
    await stage.agree()
    const [attempt] = stage.hook.attempts
    const invite = stage.pair.network.passed[0]!.text
    const [line] = invite.split('\r\n')
    const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(invite)?.[1]?.trim()
    expect(line).toBe(`INVITE ${attempt!.requestUri} SIP/2.0`)
    expect(header('From')).toBe(attempt!.from)
    expect(header('To')).toBe(attempt!.to)
    expect(header('Call-ID')).toBe(attempt!.callId)
    expect(header('CSeq')).toBe(`${attempt!.sequence} INVITE`)
    expect(header('Route')).toBe(attempt!.routeSet.join(', '))
    expect(header('Via')).toBe(`SIP/2.0/UDP a.test:5060;rport;branch=${attempt!.branch}`)
    expect(attempt).toMatchObject({
      sentBy: { host: 'a.test', port: 5060, transport: 'udp' },
      nextHop: { address: '10.0.0.2', port: 5060, transport: 'udp', serverName: 'b.test' },
    })
    expect(JSON.parse(JSON.stringify(attempt))).toEqual(attempt)
    stage.pair.b.calls[0]!.session.answer(sdp('answer'))
    await stage.pass(100)
    expect(caller.types).toContain('answered')
    caller.session.hangUp()
    await stage.pass(100)
    expect(caller.end).toMatchObject({ cause: 'bye', inviteLeft: true, confirmed: true })
  })

  it('the INVITE is never sent if beforeAttempt rejects, and the end reports that nothing was sent', async () => {
    const stage = new Stage()
    const caller = stage.call()
    await stage.pass(100)
    stage.hook.refuse('the database is away')
    await stage.pass(60_000)
    expect(stage.left).toEqual([])
    expect(caller.types).toEqual(['ended'])
    expect(caller.end).toMatchObject({
      cause: 'withheld',
      by: 'local',
      status: 503,
      inviteLeft: false,
      confirmed: true,
    })
    expect(caller.end!.detail).toContain('the database is away')
    expect(stage.pair.a.ua.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 0, sends: 0 })
  })

  it('the INVITE is never sent if beforeAttempt throws', async () => {
    const stage = new Stage()
    const caller = stage.call({
      beforeAttempt: () => {
        throw new Error('a bug')
      },
    })
    await stage.pass(100)
    expect(stage.left).toEqual([])
    expect(caller.end).toMatchObject({ cause: 'withheld', inviteLeft: false })
  })

  it.each(['before beforeAttempt is called', 'while beforeAttempt is pending'])(
    'hanging up %s sends nothing, also not later',
    async when => {
      const stage = new Stage()
      const caller = stage.call()
      if (when === 'while beforeAttempt is pending') await stage.pass(100)
      caller.session.hangUp()
      await stage.pass(0)
      expect(caller.end).toMatchObject({ cause: 'cancelled', by: 'local', inviteLeft: false, confirmed: true })
      await stage.agree()
      await stage.pass(60_000)
      expect(stage.hook.attempts).toHaveLength(when === 'while beforeAttempt is pending' ? 1 : 0)
      expect(stage.left).toEqual([])
      expect(caller.types).toEqual(['ended'])
    },
  )

  it('beforeAttempt itself may hang up', async () => {
    const stage = new Stage()
    const caller: Heard = stage.call({ beforeAttempt: async () => caller.session.hangUp() })
    await stage.pass(1000)
    expect(stage.left).toEqual([])
    expect(caller.end).toMatchObject({ cause: 'cancelled', inviteLeft: false })
  })

  it('time in beforeAttempt counts towards the ring timeout', async () => {
    const stage = new Stage()
    const caller = stage.call({ ringTimeoutMs: 20_000 })
    await stage.pass(19_000)
    expect(caller.end).toBeUndefined()
    await stage.pass(2_000)
    expect(caller.end).toMatchObject({ cause: 'timeout', by: 'local', inviteLeft: false })
    expect(stage.left).toEqual([])
  })

  it('a user agent that is closed meanwhile does not send the INVITE', async () => {
    const stage = new Stage()
    const caller = stage.call()
    await stage.pass(100)
    void stage.pair.a.ua.close()
    await stage.pass(100)
    expect(caller.end).toMatchObject({ inviteLeft: false })
    await stage.agree()
    expect(stage.left).toEqual([])
  })

  it('beforeAttempt is called again, with the new CSeq and branch, for an INVITE with credentials', async () => {
    const stage = new Stage()
    const peer = new ScriptedPeer(stage.pair.network, '10.0.0.9', 'peer.test')
    const caller = stage.call({ uri: sipUri('x', 'peer.test', 'udp'), credentials: password })
    await stage.pass(100)
    await stage.agree()
    peer.reply(peer.last('INVITE'), 401, { headers: [challenge] })
    await stage.pass(10_000)
    expect(peer.methods()).toEqual(['INVITE', 'ACK'])
    const [first, second] = stage.hook.attempts
    expect(second).toMatchObject({ callId: first!.callId, from: first!.from, sequence: first!.sequence + 1 })
    expect(second!.branch).not.toBe(first!.branch)
    await stage.agree()
    expect(peer.last('INVITE').request.via[0]!.params.get('branch')).toBe(second!.branch)
    expect(peer.last('INVITE').request.cseq.sequence).toBe(second!.sequence)
    peer.reply(peer.last('INVITE'), 200, { body: 'answer' })
    await stage.pass(100)
    expect(caller.types).toContain('answered')
  })

  it.each(['given up', 'refused'])(
    '%s while the INVITE with credentials waits: no second INVITE is sent',
    async how => {
      const stage = new Stage()
      const peer = new ScriptedPeer(stage.pair.network, '10.0.0.9', 'peer.test')
      const caller = stage.call({ uri: sipUri('x', 'peer.test', 'udp'), credentials: password })
      await stage.pass(100)
      await stage.agree()
      peer.reply(peer.last('INVITE'), 401, { headers: [challenge] })
      await stage.pass(100)
      if (how === 'given up') caller.session.hangUp()
      else stage.hook.refuse('lost')
      await stage.pass(100)
      expect(caller.end).toMatchObject({
        cause: how === 'given up' ? 'cancelled' : 'withheld',
        inviteLeft: true,
        confirmed: true,
      })
      await stage.agree()
      await stage.pass(60_000)
      expect(peer.methods()).toEqual(['INVITE', 'ACK'])
      expect(stage.pair.a.ua.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 0, sends: 0 })
    },
  )

  it('beforeAttempt is called again after a 422, once per attempt', async () => {
    const stage = new Stage()
    const peer = new ScriptedPeer(stage.pair.network, '10.0.0.9', 'peer.test')
    stage.call({ uri: sipUri('x', 'peer.test', 'udp') })
    await stage.pass(100)
    await stage.agree()
    peer.reply(peer.last('INVITE'), 422, { headers: [['Min-SE', '4000']] })
    await stage.pass(100)
    expect(peer.methods()).toEqual(['INVITE', 'ACK'])
    await stage.agree()
    expect(stage.hook.attempts).toHaveLength(2)
    expect(peer.last('INVITE').request.cseq.sequence).toBe(stage.hook.attempts[1]!.sequence)
  })

  it('beforeAttempt is called for the next target with its address; the silent target stays unconfirmed', async () => {
    const stage = new Stage()
    const silent = new ScriptedPeer(stage.pair.network, '10.0.0.21', 'silent.test')
    const next = new ScriptedPeer(stage.pair.network, '10.0.0.22', 'next.test')
    stage.pair.network.name('trunk.test', [
      { address: '10.0.0.21', port: 0 },
      { address: '10.0.0.22', port: 0 },
    ])
    const caller = stage.call({ uri: sipUri('x', 'trunk.test', 'udp') })
    await stage.pass(100)
    await stage.agree()
    await stage.pass(33_000)
    expect(silent.methods()).toContain('INVITE')
    expect(stage.hook.attempts.map(({ nextHop }) => nextHop.address)).toEqual(['10.0.0.21', '10.0.0.22'])
    expect(next.heard).toEqual([])
    caller.session.hangUp()
    await stage.pass(100)
    expect(caller.end).toMatchObject({ cause: 'cancelled', inviteLeft: true, confirmed: false })
    await stage.agree()
    expect(next.heard).toEqual([])
  })

  it('a refused connection counts as nothing sent', async () => {
    const stage = new Stage()
    stage.pair.network.refuse('10.0.0.2')
    const caller = stage.call({ uri: sipUri('bob', 'b.test', 'tls') })
    await stage.pass(100)
    await stage.agree()
    await stage.pass(1000)
    expect(caller.end).toMatchObject({ cause: 'transport', inviteLeft: false })
  })

  it('an INVITE with an unknown outcome counts as possibly sent', async () => {
    const stage = new Stage()
    const caller = stage.call({ uri: sipUri('bob', 'b.test', 'tls') })
    await stage.pass(100)
    stage.pair.a.transport.silence()
    await stage.agree()
    void stage.pair.a.ua.close()
    await stage.pass(33_000)
    expect(caller.end).toMatchObject({ inviteLeft: true, confirmed: false })
  })

  it('a request too large for a datagram is announced for TCP, and again for UDP if TCP is refused', async () => {
    const stage = new Stage()
    const peer = new ScriptedPeer(stage.pair.network, '10.0.0.9', 'peer.test', ['udp'])
    const uri = { ...sipUri('x', 'peer.test', 'udp'), params: new Map() }
    stage.call({ uri, body: sdp('x'.repeat(2000)) })
    await stage.pass(100)
    await stage.agree()
    await stage.pass(100)
    expect(stage.hook.attempts.map(({ nextHop }) => nextHop.transport)).toEqual(['tcp', 'udp'])
    expect(stage.hook.attempts[1]!.branch).toBe(stage.hook.attempts[0]!.branch)
    expect(peer.heard).toEqual([])
    await stage.agree()
    expect(peer.last('INVITE').request.via[0]!.params.get('branch')).toBe(stage.hook.attempts[1]!.branch)
  })

  it('an inbound call never reports a sent INVITE', async () => {
    const stage = new Stage()
    const { caller, callee } = stage.pair.established()
    caller.session.hangUp()
    await stage.pass(200)
    expect([caller.end?.inviteLeft, callee.end?.inviteLeft]).toEqual([true, false])
  })
})
