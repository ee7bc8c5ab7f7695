import { describe, expect, it } from 'vitest'
import { attackSecureCall } from './testing/attack-secure-call.ts'
import { Attacker } from './testing/attacker.ts'
import { VirtualCall } from './testing/virtual-call.ts'

describe('a third party at the RTP port', () => {
  it.each(['AES_CM_128_HMAC_SHA1_80', 'AES_CM_128_HMAC_SHA1_32', 'AEAD_AES_256_GCM'] as const)(
    '%s: forgeries, replays and noise change nothing and get no answer',
    async suite => {
      const result = await attackSecureCall({ suite, seed: 1, count: 10_000 })
      expect(result).toMatchObject({ answered: 0, audioUnchanged: true, callStatisticsUnharmed: true })
      const { unauthenticated, replayed, malformed } = result.rejected
      expect(unauthenticated).toBeGreaterThan(4000)
      expect(replayed).toBeGreaterThan(2000)
      // The rest is noise that looks like RTCP in clear.
      expect(unauthenticated + replayed + malformed).toBeGreaterThan(9900)
      expect(unauthenticated + replayed + malformed).toBeLessThanOrEqual(10_000)
    },
  )

  it('forged SRTP before the peer’s first packet is not latched', async () => {
    const call = await VirtualCall.start()
    const attacker = new Attacker(call.network, call.random)
    for (let i = 0; i < 500; i++) attacker.inject(call.b.session, i, 99)
    call.a.talking = true
    call.run(3000)
    expect(attacker.received).toBe(0)
    expect(call.b.listener.brokenAt).toBe(-1)
    expect((await call.b.session.statistics()).rejected.unauthenticated).toBe(500)
  })

  it('plain RTP from an address other than that of the SDP is refused', async () => {
    const call = await VirtualCall.start({ suite: null })
    const attacker = new Attacker(call.network, call.random)
    call.a.talking = true
    for (let step = 0; step < 20; step++) {
      for (let i = 0; i < 50; i++) attacker.inject(call.b.session, step * 50 + i, 99)
      call.run(200)
    }
    call.a.talking = false
    call.run(1000)
    expect(attacker.received).toBe(0)
    expect(call.b.listener).toMatchObject({ heard: call.a.sentSamples, brokenAt: -1, gaps: 0 })
    expect((await call.b.session.statistics()).rejected).toEqual({
      unauthenticated: 0,
      replayed: 0,
      foreign: 1000,
      malformed: 0,
    })
  })

  it('plain RTP from another port or SSRC at the peer’s address is refused after the peer’s first packet', async () => {
    const call = await VirtualCall.start({ suite: null })
    call.a.talking = true
    call.run(1000)
    const neighbour = new Attacker(call.network, call.random, '192.0.2.1', 30_000)
    for (let i = 0; i < 100; i++) neighbour.inject(call.b.session, i, 99)
    call.run(1000)
    call.a.talking = false
    call.run(1000)
    expect(neighbour.received).toBe(0)
    expect(call.b.listener).toMatchObject({ heard: call.a.sentSamples, brokenAt: -1, gaps: 0 })
    expect((await call.b.session.statistics()).rejected.foreign).toBe(100)
  })

  it('RTCP from another port of the peer’s address does not redirect our reports', async () => {
    const call = await VirtualCall.start({ suite: null })
    call.a.talking = true
    let received = 0
    const neighbour = call.network.bind(0xc0000201, 30_001, () => {
      received++
    })
    for (let step = 0; step < 300; step++) {
      // A receiver report of a source that nobody heard, from before the first RTP on.
      neighbour.send(Uint8Array.of(0x80, 201, 0, 1, 0, 0, 0, 7), 8, 0xc0000202, call.b.session.local.port + 1)
      call.run(100)
    }
    expect(received).toBe(0)
    expect((await call.b.session.statistics()).rejected.foreign).toBe(300)
  })

  it('a session accepts and sends no packets before its parameters are applied and after it is closed', async () => {
    const call = await VirtualCall.start({ suite: null })
    const third = await call.b.plane.open({ label: 'not answered yet' })
    const attacker = new Attacker(call.network, call.random)
    for (let i = 0; i < 100; i++) attacker.inject(third, i, 99)
    call.run(1000)
    expect(await third.statistics()).toMatchObject({ packetsSent: 0, packetsReceived: 0 })
    await third.close()
    for (let i = 0; i < 100; i++) attacker.inject(third, i, 99)
    call.run(1000)
    expect(attacker.received).toBe(0)
  })
})

describe('RTCP', () => {
  it('RTCP is sent both ways about every 5 s with BYE at the end; clear RTCP is dropped on a secure call', async () => {
    const call = await VirtualCall.start()
    const reports: number[] = []
    call.network.onSend = (from, _packet, _length, _ipv4, port) => {
      if (port === call.b.session.local.port + 1 && from.port === call.a.session.local.port + 1)
        reports.push(call.time.now())
    }
    call.run(60_000)
    expect(reports.length).toBeGreaterThanOrEqual(60 / 7.5)
    expect(reports.length).toBeLessThanOrEqual(60 / 2)
    const attacker = new Attacker(call.network, call.random)
    // A receiver report in clear.
    const socket = call.network.bind(0xc0000201, 40_001, () => {})
    socket.send(Uint8Array.of(0x80, 201, 0, 1, 0, 0, 0, 7), 8, 0xc0000202, call.b.session.local.port + 1)
    call.run(1000)
    expect((await call.b.session.statistics()).rejected.unauthenticated).toBe(0)
    const before = reports.length
    await call.a.session.close()
    expect(reports.length).toBe(before + 1)
    expect(attacker.received).toBe(0)
  })
})
