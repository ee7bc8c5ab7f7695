import { describe, expect, it } from 'vitest'
import { Pair, sdp } from './testing/pair.ts'
import { requestText, ScriptedPeer } from './testing/scripted-peer.ts'

const clean = { sessions: 0, dialogs: 0, transactions: 0, sends: 0 }

describe('floods', () => {
  it.each(['udp', 'tcp'] as const)(
    '10^4 INVITEs over %s: beyond the limit they get 503 with Retry-After, and live calls continue',
    transport => {
      const pair = new Pair({ transport, b: { limits: { sessions: 100, retryAfterS: 7 } } })
      const { caller, callee } = pair.established()
      const attacker = new ScriptedPeer(pair.network, '10.0.0.66', 'flood.test')
      const via = `SIP/2.0/${transport.toUpperCase()} 10.0.0.66`
      for (let i = 0; i < 10_000; i++) {
        const invite = requestText({
          method: 'INVITE',
          uri: 'sip:bob@b.test',
          callId: `flood-${i}`,
          branch: `z9hG4bKflood${i}`,
          via,
        })
        attacker.sendText(invite, { address: '10.0.0.2', transport })
        if (i % 100 === 0) pair.time.advance(1)
      }
      pair.time.advance(100)
      expect(pair.b.ua.footprint).toMatchObject({ sessions: 100, dialogs: 100 })
      expect(pair.b.ua.footprint.transactions).toBeLessThanOrEqual(101)
      const refused = attacker.responses.filter(({ status }) => status === 503)
      expect(refused).toHaveLength(10_000 - 99)
      expect(refused.every(({ headers }) => headers.get('Retry-After') === '7')).toBe(true)
      caller.session.reoffer(sdp('hold'))
      pair.time.advance(100)
      callee.session.acceptOffer(sdp('held'))
      pair.time.advance(100)
      expect(caller.body('reoffer-answered')).toBe('held')
      for (const { session } of pair.b.calls) session.hangUp()
      pair.time.advance(100_000)
      expect([pair.a.ua.footprint, pair.b.ua.footprint]).toEqual([clean, clean])
    },
  )

  it('one flow cannot occupy all server transactions', () => {
    const limits = { serverTransactions: 1000, serverTransactionsPerFlow: 50 }
    const pair = new Pair({ b: { limits } })
    const attacker = new ScriptedPeer(pair.network, '10.0.0.66', 'flood.test')
    for (let i = 0; i < 200; i++) {
      const invite = requestText({
        method: 'INVITE',
        uri: 'sip:bob@b.test',
        callId: `f-${i}`,
        branch: `z9hG4bKf${i}`,
        host: '10.0.0.66',
      })
      attacker.sendText(invite, { address: '10.0.0.2', transport: 'udp' })
    }
    pair.time.advance(100)
    expect(attacker.responses.filter(({ status }) => status === 503)).toHaveLength(150)
    pair.established()
  })

  it('10^4 requests that the guard drops cause no response and no state', () => {
    const pair = new Pair({ guard: () => ({ action: 'drop' }) })
    const scanner = new ScriptedPeer(pair.network, '10.0.0.66', 'scanner.test')
    for (let i = 0; i < 10_000; i++) {
      const method = ['INVITE', 'OPTIONS', 'REGISTER', 'BYE', 'CANCEL'][i % 5]!
      const toTag = i % 3 === 0 ? { toTag: `guess-${i}` } : {}
      const text = requestText({ method, callId: `scan-${i}`, branch: `z9hG4bKscan${i}`, host: '10.0.0.66', ...toTag })
      scanner.sendText(text, { address: '10.0.0.1', transport: 'udp' })
    }
    pair.time.advance(60_000)
    expect(scanner.heard).toEqual([])
    expect(pair.network.passed.filter(({ from }) => from.address !== '10.0.0.66')).toEqual([])
    expect(pair.a.ua.footprint).toEqual(clean)
  })
})
