import type { Ms, Time, Timer } from '@parley/kernel'
import { expect, it } from 'vitest'
import { Pair, sdp, sipUri } from './testing/pair.ts'
import { ScriptedCallee } from './testing/scripted-callee.ts'

const clean = { sessions: 0, dialogs: 0, transactions: 0, sends: 0 }

/** Counts the armed timers. */
class CountingTime implements Time {
  armed = 0
  of: Time | undefined

  now(): Ms {
    return this.of?.now() ?? 0
  }

  at(deadline: Ms, callback: () => void): Timer {
    if (this.of === undefined) throw new Error('no time yet')
    this.armed++
    let done = false
    const settle = () => {
      if (!done) this.armed--
      done = true
    }
    const timer = this.of.at(deadline, () => {
      settle()
      callback()
    })
    return {
      cancel: () => {
        settle()
        timer.cancel()
      },
    }
  }
}

function countedPair(transport: 'udp' | 'tls') {
  const [a, b] = [new CountingTime(), new CountingTime()]
  const pair = new Pair({ transport, a: { time: a }, b: { time: b } })
  a.of = pair.time
  b.of = pair.time
  return { pair, armed: () => [a.armed, b.armed] }
}

it.each(['udp', 'tls'] as const)(
  '1000 calls in each direction over %s, ended by either side, leave no state and no timer',
  transport => {
    const { pair, armed } = countedPair(transport)
    for (let i = 0; i < 2000; i++) {
      const { caller, callee } = pair.established(i % 2 === 0 ? 'a' : 'b')
      // Session timers run in all of them; some are refreshed, re-offered, or send digits.
      if (i % 20 < 2) pair.time.advance(901_000)
      if (i % 20 === 2) caller.session.reoffer(sdp('hold'))
      if (i % 20 === 3) caller.session.info({ contentType: 'application/dtmf', bytes: new Uint8Array([0x31]) })
      ;(i % 4 < 2 ? caller : callee).session.hangUp()
      pair.time.advance(50)
      pair.network.passed.length = 0
      pair.a.calls.length = 0
      pair.b.calls.length = 0
    }
    expect([pair.a.ua.sessionCount, pair.b.ua.sessionCount]).toEqual([0, 0])
    pair.time.advance(64_000)
    expect([pair.a.ua.footprint, pair.b.ua.footprint]).toEqual([clean, clean])
    expect(armed()).toEqual([0, 0])
    if (transport === 'tls') expect(pair.a.transport.openConnections).toBeLessThanOrEqual(2)
  },
)

it('1000 transferred calls and 1000 unanswered calls leave no state and no timer', () => {
  const { pair, armed } = countedPair('udp')
  for (let i = 0; i < 1000; i++) {
    const callee = new ScriptedCallee(pair)
    callee.reply(183, {
      headers: [
        ['Require', '100rel'],
        ['RSeq', '1'],
      ],
      body: 'answer',
    })
    callee.answer()
    callee.caller.session.refer(sipUri('desk', 'other.test', 'udp'))
    pair.time.advance(100)
    callee.peer.reply(callee.peer.last('REFER'), 202)
    pair.time.advance(100)
    if (i % 2 === 0) callee.send('BYE')
    else callee.caller.session.hangUp()
    pair.time.advance(100)
    const ringing = new ScriptedCallee(pair, { ringTimeoutMs: 5000 })
    ringing.reply(180)
    ringing.caller.session.hangUp()
    pair.network.passed.length = 0
  }
  pair.time.advance(200_000)
  expect([pair.a.ua.footprint, armed()]).toEqual([clean, [0, 0]])
})
