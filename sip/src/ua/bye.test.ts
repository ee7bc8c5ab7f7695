import { describe, expect, it } from 'vitest'
import { Pair } from './testing/pair.ts'
import { ScriptedCallee } from './testing/scripted-callee.ts'

/** An established call that `a` has hung up; each BYE is answered with the next status, the last one again and again. */
class HungUpCall {
  readonly callee = new ScriptedCallee(new Pair()).answer()

  constructor(statuses: readonly number[], headers: readonly (readonly [string, string])[] = []) {
    const { peer } = this.callee
    peer.onMessage = (message, flow) => {
      if (message.kind !== 'request' || message.method !== 'BYE') return
      const status = statuses[this.byes.length - 1] ?? statuses.at(-1)
      if (status !== undefined) peer.reply({ request: message, flow }, status, { headers })
    }
    this.callee.caller.session.hangUp()
    this.pass(100)
  }

  pass(ms: number): void {
    this.callee.pair.time.advance(ms)
  }

  /** CSeq numbers of the BYEs that the peer received, without retransmissions. */
  get byes(): number[] {
    const byes = this.callee.peer.requests.filter(({ method }) => method === 'BYE')
    return [...new Set(byes.map(({ cseq }) => cseq.sequence))]
  }

  get end() {
    return this.callee.caller.end
  }
}

describe('a BYE of ours (RFC 3261 section 15.1.1, RFC 5057 section 5.1)', () => {
  it.each([200, 202, 481])('a %i to the BYE confirms the end of the call', status => {
    const { end } = new HungUpCall([status])
    expect(end).toMatchObject({ cause: 'bye', by: 'local', confirmed: true, byeStatus: status })
  })

  it.each([404, 408, 410, 416, 480, 482, 483, 484, 485, 502, 604, 403])(
    'a %i to the BYE ends the call unconfirmed, and the BYE is not repeated',
    status => {
      const call = new HungUpCall([status])
      expect(call.end).toMatchObject({ cause: 'bye', by: 'local', confirmed: false, byeStatus: status })
      call.pass(60_000)
      expect(call.byes).toHaveLength(1)
    },
  )

  it('a BYE without a response ends the call unconfirmed after 64*T1', () => {
    const call = new HungUpCall([])
    call.pass(31_000)
    expect(call.end).toBeUndefined()
    call.pass(1000)
    expect(call.end).toMatchObject({ confirmed: false, byeStatus: undefined })
  })

  it.each([401, 407, 500, 503])(
    'a BYE that is answered %i is sent again with new CSeq numbers, and ends the call unconfirmed after 64*T1',
    status => {
      const call = new HungUpCall([status])
      expect(call.end).toBeUndefined()
      call.pass(31_500)
      expect(call.end).toBeUndefined()
      expect(call.byes.length).toBeGreaterThan(5)
      expect(call.byes).toEqual([...call.byes].sort((a, b) => a - b))
      call.pass(500)
      expect(call.end).toMatchObject({ cause: 'bye', confirmed: false, byeStatus: status })
      const { length } = call.byes
      call.pass(60_000)
      expect(call.byes).toHaveLength(length)
      expect(call.callee.pair.a.ua.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 0, sends: 0 })
    },
  )

  it('a BYE that is first answered 500 and then 200 is confirmed', () => {
    const call = new HungUpCall([500, 503, 200])
    call.pass(2000)
    expect(call.end).toMatchObject({ confirmed: true, byeStatus: 200 })
    expect(call.byes).toHaveLength(3)
  })

  it('the Retry-After of a refusal delays the next BYE', () => {
    const call = new HungUpCall([500, 200], [['Retry-After', '10']])
    call.pass(9500)
    expect(call.byes).toHaveLength(1)
    call.pass(1000)
    expect(call.end).toMatchObject({ confirmed: true })
  })

  it('a BYE of the peer meanwhile confirms the end, and ours is not repeated', () => {
    const call = new HungUpCall([500])
    expect(call.callee.send('BYE')).toBe(200)
    expect(call.end).toMatchObject({ cause: 'bye', by: 'local', confirmed: true })
    const { length } = call.byes
    call.pass(60_000)
    expect(call.byes).toHaveLength(length)
  })

  it('a second BYE for the dialog of another process has a higher CSeq number', async () => {
    const { callee } = new HungUpCall([481])
    const { pair, peer, caller } = callee
    const { dialog } = caller.session
    peer.onMessage = (message, flow) => {
      if (message.kind === 'request') peer.reply({ request: message, flow }, 404)
    }
    for (const _ of [1, 2]) {
      void pair.a.ua.bye(dialog!)
      pair.time.advance(100)
    }
    const [first, second] = peer.requests.slice(-2).map(({ cseq }) => cseq.sequence)
    expect(second).toBe(first! + 1)
  })
})
