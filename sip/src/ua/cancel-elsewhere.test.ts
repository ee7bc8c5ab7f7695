import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import type { TransportName } from '../transport/transport.ts'
import type { CancelOutcome } from './cancel.ts'
import type { InviteAttempt } from './invite-attempt.ts'
import type { OutboundCall } from './session.ts'
import { Pair, sdp, sipUri } from './testing/pair.ts'
import { ScriptedPeer } from './testing/scripted-peer.ts'
import { UserAgent } from './user-agent.ts'

/** A call from "a", which is killed, and another process at 10.0.0.3 that has only the stored attempt. */
class DeadCaller {
  readonly pair: Pair
  readonly reaper: UserAgent
  readonly #transport: TransportName
  stored = ''

  constructor(transport: TransportName = 'udp') {
    this.pair = new Pair({ transport })
    this.#transport = transport
    this.reaper = new UserAgent({
      time: this.pair.time,
      random: new SeededRandom(77),
      transport: this.pair.network.element({ address: '10.0.0.3', host: 'c.test' }),
      guard: () => ({ action: 'drop' }),
      onInvite: () => {},
    })
  }

  async call(options: Partial<OutboundCall> = {}): Promise<void> {
    this.pair.call({
      from: { displayName: 'Ällice; "q"', uri: sipUri('al%20ice', 'a.test', this.#transport), params: new Map() },
      beforeAttempt: async attempt => {
        this.stored = JSON.stringify(attempt)
      },
      ...options,
    })
    for (let step = 0; step < 20; step++) {
      this.pair.time.advance(10)
      await settled()
    }
  }

  kill(): void {
    this.pair.a.transport.silence()
    this.pair.a.transport.cutAll()
    this.pair.time.advance(100)
  }

  get attempt(): InviteAttempt {
    return JSON.parse(this.stored)
  }

  async cancel(attempt = this.attempt, passMs = 1000): Promise<CancelOutcome> {
    const outcome = this.reaper.cancel(attempt, { reason: { protocol: 'SIP', cause: 500, text: 'engine lost' } })
    this.pair.time.advance(passMs)
    return outcome
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

function headersOf(text: string, names: readonly string[]): readonly string[] {
  return text.split('\r\n').filter(line => names.some(name => line.startsWith(`${name}: `)))
}

describe('a CANCEL by another process than the one that sent the INVITE', () => {
  it.each(['udp', 'tcp', 'tls'] as const)(
    'a CANCEL built from the stored attempt ends a ringing call over %s',
    async transport => {
      const dead = new DeadCaller(transport)
      await dead.call()
      const callee = dead.pair.b.calls[0]!
      callee.session.progress(180)
      dead.pair.time.advance(100)
      dead.kill()
      expect(callee.types).toEqual([])
      const outcome = await dead.cancel()
      expect(outcome).toMatchObject({ confirmed: true, status: 200 })
      expect(outcome.detail).toContain('was not seen')
      expect(callee.end).toMatchObject({ cause: 'cancelled', by: 'remote', status: 487 })
      expect(callee.end!.detail).toContain('engine lost')
      dead.pair.time.advance(70_000)
      expect(dead.reaper.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 0, sends: 0 })
    },
  )

  it('the CANCEL repeats the fields that RFC 3261 section 9.1 requires and goes to the same address', async () => {
    const dead = new DeadCaller()
    const route = { ...sipUri('r', 'b.test', 'udp'), params: new Map([['lr', null]]) }
    await dead.call({ route: [{ displayName: undefined, uri: route, params: new Map() }] })
    dead.kill()
    await dead.cancel()
    const { passed } = dead.pair.network
    const invite = passed.find(({ text }) => text.startsWith('INVITE'))!
    const cancel = passed.find(({ text }) => text.startsWith('CANCEL'))!
    expect(cancel.text.split('\r\n')[0]).toBe(invite.text.split('\r\n')[0]!.replace('INVITE', 'CANCEL'))
    const same = ['Via', 'Route', 'From', 'To', 'Call-ID']
    expect(headersOf(cancel.text, same)).toEqual(headersOf(invite.text, same))
    expect(headersOf(invite.text, same)).toHaveLength(5)
    expect(headersOf(cancel.text, ['CSeq'])).toEqual([headersOf(invite.text, ['CSeq'])[0]!.replace('INVITE', 'CANCEL')])
    expect(cancel.to).toEqual(invite.to)
    expect(cancel.from.address).toBe('10.0.0.3')
  })

  it('a 481 to the CANCEL confirms that the far end has no such INVITE', async () => {
    const dead = new DeadCaller()
    await dead.call()
    dead.pair.b.calls[0]!.session.reject(486)
    dead.pair.time.advance(100_000)
    dead.kill()
    expect(await dead.cancel()).toMatchObject({ confirmed: true, status: 481 })
  })

  it('a CANCEL does not end an answered call, and the outcome says that the answer was not seen', async () => {
    const dead = new DeadCaller()
    await dead.call()
    const callee = dead.pair.b.calls[0]!
    dead.kill()
    callee.session.answer(sdp('answer'))
    dead.pair.time.advance(100)
    expect((await dead.cancel()).detail).toContain('was not seen')
    expect(callee.session.state).toBe('confirmed')
  })

  it('a CANCEL is unconfirmed if the far end refuses it, is silent or unreachable', async () => {
    const dead = new DeadCaller()
    const peer = new ScriptedPeer(dead.pair.network, '10.0.0.9', 'peer.test')
    await dead.call({ uri: sipUri('x', 'peer.test', 'udp') })
    dead.kill()
    const { attempt } = dead
    const silent = dead.cancel(attempt, 33_000)
    expect(await silent).toMatchObject({ confirmed: false, status: undefined })
    peer.onMessage = (message, flow) => {
      if (message.kind === 'request') peer.reply({ request: message, flow }, 405)
    }
    expect(await dead.cancel()).toEqual({ confirmed: false, status: 405, detail: 'CANCEL answered 405' })
    const overTls = {
      ...attempt,
      nextHop: { ...attempt.nextHop, address: '10.0.0.77', port: 5061, transport: 'tls' as const },
    }
    const refused = await dead.cancel(overTls)
    expect(refused).toMatchObject({ confirmed: false, status: undefined })
    expect(refused.detail).toContain('refused')
  })

  it('a CANCEL is unconfirmed if the stored attempt is unreadable', async () => {
    const dead = new DeadCaller()
    await dead.call()
    dead.kill()
    const { attempt } = dead
    const damaged: unknown[] = [
      null,
      {},
      [],
      { ...attempt, requestUri: 'no uri' },
      { ...attempt, from: 7 },
      { ...attempt, routeSet: ['<sip:x'] },
      { ...attempt, routeSet: 'x' },
      { ...attempt, sequence: -1 },
      { ...attempt, sequence: 1.5 },
      { ...attempt, callId: 'a\r\nEvil: yes' },
      { ...attempt, branch: 'z9hG4bK;x\r\nEvil: yes' },
      { ...attempt, sentBy: { ...attempt.sentBy, host: 'a b' } },
      { ...attempt, sentBy: { ...attempt.sentBy, transport: 'sctp' } },
      { ...attempt, nextHop: undefined },
      { ...attempt, nextHop: { ...attempt.nextHop, transport: 'sctp' } },
    ]
    for (const value of damaged) {
      expect(await dead.cancel(value as InviteAttempt), JSON.stringify(value)).toMatchObject({ confirmed: false })
    }
    expect(dead.pair.network.passed.filter(({ text }) => text.startsWith('CANCEL'))).toEqual([])
  })

  it('a BYE is unconfirmed if the stored dialog is unreadable', async () => {
    const { reaper } = new DeadCaller()
    for (const value of [null, {}, { callId: 'x' }]) {
      expect(await reaper.bye(value as never)).toMatchObject({ confirmed: false, status: undefined })
    }
  })
})
