import { describe, expect, it } from 'vitest'
import { parseIpv4 } from '../packet-io/ipv4.ts'
import { packSourceRules } from './followed-sources.ts'
import { VirtualCall } from './testing/virtual-call.ts'

describe('statistics of a call', () => {
  it('RTCP measures the round trip of the network', async () => {
    const call = await VirtualCall.start({ conditions: { latencyMs: 60 } })
    call.run(60_000)
    for (const end of [call.a, call.b]) {
      const { roundTrip } = await end.session.statistics()
      expect(roundTrip!.meanMs).toBeCloseTo(120, 0)
      expect(roundTrip!.maxMs).toBeCloseTo(120, 0)
    }
  })

  it('what the far end reports about our packets is known: its loss and its jitter', async () => {
    const call = await VirtualCall.start({ conditions: { latencyMs: 20, jitterMs: 10, loss: 0.05 } })
    call.run(120_000)
    const { farEnd } = await call.a.session.statistics()
    const theirs = await call.b.session.statistics()
    expect(farEnd!.loss).toBeGreaterThan(0.03)
    expect(farEnd!.loss).toBeLessThan(0.07)
    expect(farEnd!.jitterMs).toBeGreaterThan(1)
    expect(farEnd!.jitterMaxMs).toBeLessThanOrEqual(theirs.jitterMaxMs + 0.2)
  })

  it('every 10 s have figures of their own, and a hold has none', async () => {
    const call = await VirtualCall.start({ suite: null })
    call.run(20_500)
    call.network.setConditions({ loss: 0.2 })
    call.run(10_000)
    call.network.setConditions({})
    call.run(10_000)
    call.apply({ a: { direction: 'inactive' }, b: { direction: 'inactive' } })
    call.run(30_000)
    const { intervals } = await call.b.session.statistics()
    expect(intervals.length).toBeGreaterThanOrEqual(4)
    expect(intervals.length).toBeLessThanOrEqual(5)
    expect(intervals.slice(0, 2).map(({ lost }) => lost)).toEqual([0, 0])
    expect(intervals[2]!.lost).toBeGreaterThan(60)
    expect(intervals[2]!.lost).toBeLessThan(140)
    expect(intervals[3]!.lost).toBeLessThan(20)
  })

  it('statistics of an end that sends nothing and hears nothing have no round trip and no reports', async () => {
    const call = await VirtualCall.start({ conditions: { loss: 1 } })
    call.run(30_000)
    expect(await call.a.session.statistics()).toMatchObject({ roundTrip: null, farEnd: null, intervals: [] })
  })
})

describe('where RTCP goes', () => {
  it.each([null, 'AES_CM_128_HMAC_SHA1_80'] as const)('multiplexed RTCP goes over the RTP ports (%s)', async suite => {
    const call = await VirtualCall.start({ suite })
    call.apply({ a: { rtcpMux: true }, b: { rtcpMux: true } })
    const ports = new Set<number>()
    call.network.onSend = (from, packet, _length, _ipv4, port) => {
      if (packet[1]! >= 192 && packet[1]! <= 223) for (const used of [from.port, port]) ports.add(used % 2)
    }
    call.run(30_000)
    expect([...ports]).toEqual([0])
    expect((await call.a.session.statistics()).farEnd).not.toBeNull()
    expect((await call.b.session.statistics()).rejected.foreign).toBe(0)
  })

  it('reports go to the address that the peer named for RTCP (RFC 3605)', async () => {
    const call = await VirtualCall.start({ suite: null })
    let received = 0
    call.network.bind(0xc0000209, 30_001, () => {
      received++
    })
    await call.a.session.close()
    call.apply({ b: { remoteRtcp: { address: '192.0.2.9', port: 30_001 } } })
    call.run(30_000)
    expect(received).toBeGreaterThanOrEqual(4)
  })
  it('reports are not sent where the port above RTP may get nothing, but RTP is', async () => {
    const call = await VirtualCall.start({ suite: null })
    const { port } = call.a.session.local
    const sent = new Map<number, number>()
    call.network.onSend = (from, _packet, _length, _ipv4, to) => {
      if (from.ipv4 === parseIpv4('192.0.2.2')) sent.set(to, (sent.get(to) ?? 0) + 1)
    }
    const peer = { ipv4: parseIpv4('192.0.2.1')!, prefixBits: 32 }
    const sourceRules = packSourceRules([{ ...peer, ports: { from: port + 1, to: port + 1 }, isFollowed: false }])
    call.apply({ b: { remoteRtcp: null, sourceRules } })
    call.run(30_000)
    expect([...sent.keys()]).toEqual([port])
    sent.clear()
    call.apply({
      b: {
        remote: { address: '192.168.1.5', port: 4000 },
        remoteReachable: false,
        learnFrom: [peer],
        sourceRules,
      },
    })
    call.run(30_000)
    expect([...sent.keys()]).toEqual([port])
  })
})
