import { describe, expect, it } from 'vitest'
import type { SipRequest } from '../message/message.ts'
import { Pair, sipUri } from './testing/pair.ts'
import { ScriptedPeer } from './testing/scripted-peer.ts'

/** A call to a trunk with two targets, of which the first answers with these statuses. */
function callTo(statuses: readonly number[]) {
  const pair = new Pair()
  const first = new ScriptedPeer(pair.network, '10.0.0.21', 'first.test')
  const second = new ScriptedPeer(pair.network, '10.0.0.22', 'second.test')
  pair.network.name('trunk.test', [
    { address: '10.0.0.21', port: 0 },
    { address: '10.0.0.22', port: 0 },
  ])
  first.onMessage = (message, flow) => {
    if (message.kind !== 'request' || message.method !== 'INVITE') return
    for (const status of statuses) first.reply({ request: message, flow }, status)
  }
  const caller = pair.call({ uri: sipUri('x', 'trunk.test', 'udp') })
  pair.time.advance(500)
  return { pair, first, second, caller }
}

const identityOf = ({ callId, cseq, via }: SipRequest) => [callId, cseq.sequence, via[0]?.params.get('branch')]

describe('a target that answers with a failure of its own', () => {
  it.each([500, 502, 503])('a call that a server answers %i goes to the next server of its trunk', status => {
    const { pair, first, second, caller } = callTo([100, status])
    expect(first.methods()).toEqual(['INVITE', 'ACK'])
    second.reply(second.last('INVITE'), 200, { body: 'answer' })
    pair.time.advance(100)
    expect(caller.session.state).toBe('confirmed')
  })

  it('the INVITE to the next server after a 500 has its own CSeq and branch in the same Call-ID', () => {
    const { first, second } = callTo([500])
    const [callId, sequence, branch] = identityOf(first.last('INVITE').request)
    const [otherCallId, otherSequence, otherBranch] = identityOf(second.last('INVITE').request)
    expect([otherCallId, otherSequence]).toEqual([callId, Number(sequence) + 1])
    expect(otherBranch).not.toBe(branch)
  })

  it('a server that rang before its 500 has reached the callee: no other server gets the call', () => {
    const { second, caller } = callTo([180, 500])
    expect(second.heard).toEqual([])
    expect(caller.end).toMatchObject({ cause: 'rejected', status: 500 })
  })

  it.each([501, 504, 505, 580, 600])('a call that a server answers %i ends', status => {
    const { second, caller } = callTo([status])
    expect(second.heard).toEqual([])
    expect(caller.end).toMatchObject({ cause: 'rejected', status })
  })

  it('the 500 of the last server is the answer of the call', () => {
    const { pair, second, caller } = callTo([500])
    second.reply(second.last('INVITE'), 500)
    pair.time.advance(100)
    expect(caller.end).toMatchObject({ cause: 'rejected', status: 500 })
  })
})
