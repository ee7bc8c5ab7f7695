import { describe, expect, it } from 'vitest'
import type { InviteAttempt } from './invite-attempt.ts'
import { Pair, sipUri } from './testing/pair.ts'
import { ScriptedPeer } from './testing/scripted-peer.ts'

/** A call to a trunk with two targets; the first is silent, and the second gets the INVITE after 4 s. */
function failedOver() {
  const pair = new Pair()
  const first = new ScriptedPeer(pair.network, '10.0.0.21', 'first.test')
  const second = new ScriptedPeer(pair.network, '10.0.0.22', 'second.test')
  pair.network.name('trunk.test', [
    { address: '10.0.0.21', port: 0 },
    { address: '10.0.0.22', port: 0 },
  ])
  const attempts: InviteAttempt[] = []
  const caller = pair.call({
    uri: sipUri('x', 'trunk.test', 'udp'),
    beforeAttempt: async attempt => {
      attempts.push(attempt)
    },
  })
  return { pair, first, second, caller, attempts }
}

/** Lets time and promises pass. */
async function pass(pair: Pair, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 50) {
    pair.time.advance(Math.min(left, 50))
    for (let i = 0; i < 8; i++) await Promise.resolve()
  }
}

describe('a target that sends no response', () => {
  it('the next target gets the call after 4 s, with a branch and a Call-ID of its own', async () => {
    const { pair, first, second, caller } = failedOver()
    await pass(pair, 3800)
    expect([first.methods().length > 0, second.methods()]).toEqual([true, []])
    await pass(pair, 400)
    const [one, two] = [first.last('INVITE').request, second.last('INVITE').request]
    expect(two.callId).not.toBe(one.callId)
    expect(two.via[0]?.params.get('branch')).not.toBe(one.via[0]?.params.get('branch'))
    second.reply(second.last('INVITE'), 200, { body: 'answer' })
    await pass(pair, 100)
    expect([caller.session.state, caller.session.callId]).toEqual(['confirmed', two.callId])
  })

  it('a 200 of the first target in the fifth second is acknowledged and ended by BYE, and never becomes the call', async () => {
    const { pair, first, second, caller } = failedOver()
    await pass(pair, 4500)
    first.reply(first.last('INVITE'), 200, { body: 'late answer' })
    await pass(pair, 100)
    const { callId } = first.last('INVITE').request
    expect(first.methods().slice(-2)).toEqual(['ACK', 'BYE'])
    expect(first.last('BYE').request).toMatchObject({ callId })
    first.reply(first.last('INVITE'), 200, { body: 'late answer' })
    first.reply(first.last('BYE'), 200)
    second.reply(second.last('INVITE'), 200, { body: 'answer' })
    await pass(pair, 100)
    expect(caller.body('answered')).toBe('answer')
    expect(first.methods().filter(method => method === 'BYE')).toHaveLength(1)
    expect(caller.session.state).toBe('confirmed')
  })

  it('a provisional response of the first target that comes late is answered by CANCEL, once', async () => {
    const { pair, first, second, caller } = failedOver()
    await pass(pair, 4500)
    for (const status of [100, 180, 183]) first.reply(first.last('INVITE'), status)
    await pass(pair, 100)
    expect(first.methods().filter(method => method === 'CANCEL')).toHaveLength(1)
    expect(caller.types).toEqual([])
    second.reply(second.last('INVITE'), 486)
    await pass(pair, 100)
    expect(caller.end).toMatchObject({ cause: 'rejected', status: 486 })
  })

  it('a target that sent 100 keeps the call however long it takes', async () => {
    const { pair, first, second } = failedOver()
    await pass(pair, 3000)
    first.reply(first.last('INVITE'), 100)
    await pass(pair, 60_000)
    expect(second.heard).toEqual([])
  })

  it('the stored attempt names the earlier ones, and another process cancels all of them', async () => {
    const { pair, first, second, attempts } = failedOver()
    await pass(pair, 4500)
    expect(attempts.map(({ nextHop, earlier }) => [nextHop.address, earlier?.map(one => one.nextHop.address)])).toEqual(
      [
        ['10.0.0.21', undefined],
        ['10.0.0.22', ['10.0.0.21']],
      ],
    )
    const stored = JSON.parse(JSON.stringify(attempts.at(-1))) as InviteAttempt
    const cancelled = pair.b.ua.cancel(stored)
    pair.time.advance(100)
    for (const peer of [first, second]) {
      expect(peer.last('CANCEL').request.callId).toBe(peer.last('INVITE').request.callId)
      peer.reply(peer.last('CANCEL'), 200)
    }
    pair.time.advance(100)
    expect(await cancelled).toMatchObject({ confirmed: true, status: 200 })
  })

  it('a call whose targets were all silent leaves no session, dialog, transaction or pending send behind', async () => {
    const { pair, caller } = failedOver()
    await pass(pair, 40_000)
    expect(caller.end).toMatchObject({ cause: 'timeout', status: 408, confirmed: false })
    await pass(pair, 120_000)
    expect(pair.a.ua.footprint).toEqual({ sessions: 0, dialogs: 0, transactions: 0, sends: 0 })
  })
})
