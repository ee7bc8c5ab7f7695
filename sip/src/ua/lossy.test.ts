import { randomBelow, SeededRandom } from '@parley/kernel'
import { expect, it } from 'vitest'
import { Pair, sdp, sipUri } from './testing/pair.ts'

const clean = { sessions: 0, dialogs: 0, transactions: 0, sends: 0 }

/** One call with 30 % of all datagrams lost and random commands at random times. */
function lossyCall(seed: number) {
  const random = new SeededRandom(seed)
  const pair = new Pair({ seed, loss: 0.3 })
  const does = (percent: number) => randomBelow(random, 100) < percent
  const later = (work: () => void) =>
    pair.time.at(pair.time.now() + randomBelow(random, 4000), () => {
      try {
        work()
      } catch (error) {
        // A command may come too late ("wrong_state"); any other error fails the test.
        expect(error).toMatchObject({ code: 'wrong_state' })
      }
    })
  pair.b.onCall = session => {
    if (does(70)) later(() => session.progress(180))
    if (does(30)) later(() => session.progress(183, sdp('answer')))
    if (does(80)) later(() => session.answer(sdp('answer')))
    else if (does(50)) later(() => session.reject(486))
    if (does(40)) later(() => session.hangUp())
    return (event, session) => {
      if (event.type === 'offer') session.acceptOffer(sdp('accepted'))
      if (event.type === 'acknowledged' && does(50)) later(() => session.reoffer(sdp('hold')))
      if (event.type === 'acknowledged' && does(50)) later(() => session.hangUp())
    }
  }
  const headers: [string, string][] = does(50) ? [['Require', '100rel']] : []
  const sessionTimer = { expiresS: 90 }
  const caller = pair.call({ ringTimeoutMs: 30_000, headers, sessionTimer }, (event, session) => {
    if (event.type === 'offer') session.acceptOffer(sdp('accepted'))
    if (event.type !== 'answered') return
    if (does(50)) later(() => session.reoffer(sdp('hold')))
    if (does(50)) later(() => session.info({ contentType: 'application/dtmf', bytes: new TextEncoder().encode('5') }))
    if (does(20)) later(() => session.refer(sipUri('x', 'c.test', 'udp')))
    if (does(50)) later(() => session.hangUp())
  })
  if (does(20)) later(() => caller.session.hangUp())
  // A call that still lasts after two minutes is hung up; then all timers may expire.
  pair.time.advance(120_000)
  caller.session.hangUp()
  pair.time.advance(200_000)
  for (const { session } of pair.b.calls) session.hangUp()
  pair.time.advance(200_000)
  return { pair, caller }
}

it('1000 calls over a network that loses 30 % of datagrams end on both sides and leave no state', () => {
  const causes = new Map<string, number>()
  let passed = 0
  for (let seed = 1; seed <= 1000; seed++) {
    const { pair, caller } = lossyCall(seed)
    for (const heard of [caller, ...pair.b.calls]) {
      expect(
        heard.types.filter(type => type === 'ended'),
        `seed ${seed}`,
      ).toHaveLength(1)
      expect(heard.types.at(-1), `seed ${seed}`).toBe('ended')
    }
    expect([pair.a.ua.footprint, pair.b.ua.footprint], `seed ${seed}`).toEqual([clean, clean])
    expect([...pair.a.logs, ...pair.b.logs], `seed ${seed}`).toEqual([])
    const cause = caller.end?.cause ?? ''
    causes.set(cause, (causes.get(cause) ?? 0) + 1)
    passed += pair.network.passed.length
  }
  // The random mix must have reached every kind of end.
  expect([...causes.keys()].sort()).toEqual(['bye', 'cancelled', 'protocol', 'rejected', 'timeout'])
  expect(passed).toBeGreaterThan(10_000)
})
