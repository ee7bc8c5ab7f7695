// The short form of the proof is in interop/web-call.test.ts: a web call beside a phone call, and the killed process of peer connections.
// Here the proof gets measures with planted faults.
import { describe, expect, it } from 'vitest'
import { faultsOf, faultsOfKill } from './web-calls/verdict.ts'

const measured = { connected: 100, fewest_packets: 900, most_missing: 3, fewest_turns: 2 }
const ended = {
  outcomes: ['failed/error', 'failed/error'],
  kinds: ['caller_hung_up'],
  interrupted: 0,
  early: [] as string[],
}

describe('the proof of many web calls', () => {
  it('the proof of many web calls passes calls that are all whole', () => {
    expect(faultsOf(measured, { count: 100, seconds: 20 })).toEqual([])
  })

  it.each([
    ['a call that is not connected', { connected: 99 }, '99 of 100 web calls are connected'],
    ['a call without sound', { fewest_packets: 0 }, 'a web call received no packets'],
    ['a call that lost a tenth of its packets', { most_missing: 100 }, 'a web call lost 100 packets'],
    ['an agent that does not answer', { fewest_turns: 0 }, 'a web call has no turn of its caller'],
  ])('the proof of many web calls reports %s', (_, planted, fault) => {
    expect(faultsOf({ ...measured, ...planted }, { count: 100, seconds: 20 })).toEqual([fault])
  })

  it('the proof of many web calls passes a kill after which web calls have failed and phone calls went on', () => {
    expect(faultsOfKill(ended, { web: 2, phone: 1 })).toEqual([])
  })

  it.each([
    [
      'a web call that is said to be completed',
      { outcomes: ['failed/error', 'completed/caller_hung_up'] },
      /^1 of 2 web/,
    ],
    ['a web call that has not ended', { outcomes: ['failed/error', 'running/null'] }, /^1 of 2 web calls failed/],
    ['a phone call that failed as well', { kinds: ['error'] }, /^0 of 1 phone calls went on to their end: error$/],
    ['web calls that were over before it', { early: ['lost', 'lost'] }, /^2 web calls ended before the kill: lost$/],
    ['a phone call that was silent for a second', { interrupted: 1 }, /^1 phone calls had a second without/],
  ])('the proof of many web calls reports %s after the kill', (_, planted, fault) => {
    expect(faultsOfKill({ ...ended, ...planted }, { web: 2, phone: 1 })).toEqual([expect.stringMatching(fault)])
  })
})
