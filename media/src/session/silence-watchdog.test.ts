import { describe, expect, it } from 'vitest'
import { RawSource } from './testing/raw-source.ts'
import { VirtualCall } from './testing/virtual-call.ts'

type Call = Awaited<ReturnType<typeof VirtualCall.start>>

/** What b noticed of a's silence. */
function noticed(call: Call): string[] {
  return call.b.events.flatMap(event => {
    if (event.type === 'silent-remote') return [`silent for ${Math.round(event.forMs / 1000)} s`]
    if (event.type === 'remote-back') return [`back after ${Math.round(event.afterMs / 1000)} s`]
    return []
  })
}

/** Nothing gets through any more. */
const lost = (call: Call) => call.network.setConditions({ loss: 1 })

describe.each([null, 'AES_CM_128_HMAC_SHA1_80', 'AEAD_AES_256_GCM'] as const)('silence on the wire (%s)', suite => {
  it('silence of the peer is reported once after 20 s, and its end once', async () => {
    const call = await VirtualCall.start({ suite })
    call.run(60_000)
    expect(noticed(call)).toEqual([])
    lost(call)
    call.run(19_500)
    expect(noticed(call)).toEqual([])
    call.run(60_000)
    expect(noticed(call)).toEqual(['silent for 20 s'])
    call.network.setConditions({})
    call.run(1000)
    expect(noticed(call)).toEqual(['silent for 20 s', 'back after 80 s'])
    lost(call)
    call.run(21_000)
    expect(noticed(call)).toEqual(['silent for 20 s', 'back after 80 s', 'silent for 20 s'])
  })

  it('a peer that never sends is reported as silent', async () => {
    const call = await VirtualCall.start({ suite, conditions: { loss: 1 } })
    call.run(21_000)
    expect(noticed(call)).toEqual(['silent for 20 s'])
  })
})

describe('silence on the wire', () => {
  it('silence does not count while either side holds or the peer has no address, and restarts afterwards', async () => {
    for (const direction of ['inactive', 'sendonly'] as const) {
      const call = await VirtualCall.start()
      lost(call)
      call.apply({ a: { direction: 'inactive' }, b: { direction } })
      call.run(120_000)
      expect(noticed(call)).toEqual([])
      call.apply({})
      call.run(19_000)
      expect(noticed(call)).toEqual([])
      call.run(2000)
      expect(noticed(call)).toEqual(['silent for 20 s'])
    }
    const call = await VirtualCall.start()
    lost(call)
    call.apply({ b: { remote: null } })
    call.run(60_000)
    expect(noticed(call)).toEqual([])
  })

  it('a peer that sends only RTCP reports is not silent', async () => {
    const call = await VirtualCall.start()
    // a hears b, sends no RTP, and goes on with its RTCP.
    call.apply({ a: { direction: 'recvonly' } })
    call.run(120_000)
    expect(noticed(call)).toEqual([])
  })

  it('packets of a third party do not end the silence of the peer', async () => {
    const call = await VirtualCall.start()
    await call.a.session.close()
    const socket = call.network.bind(0xcb007142, 9, () => {})
    for (let second = 0; second < 25; second++) {
      socket.send(call.random.bytes(182).fill(0x80, 0, 1), 182, 0xc0000202, call.b.session.local.port)
      call.run(1000)
    }
    expect(noticed(call)).toEqual(['silent for 20 s'])
  })

  it('any RTP of the peer is a sign of life: another port, SSRC and payload type', async () => {
    const call = await VirtualCall.start({ suite: null })
    call.run(1000)
    await call.a.session.close()
    const source = new RawSource(call.network, call.b.session, { address: '192.0.2.1', port: 50_000, ssrc: 5 })
    for (let second = 0; second < 60; second += 5) {
      source.audio(new Int16Array(160), 96)
      call.run(5000)
    }
    expect(noticed(call)).toEqual([])
    call.run(21_000)
    expect(noticed(call)).toEqual(['silent for 20 s'])
  })

  it.each([
    ['ends its talk spurts with comfort noise', (source: RawSource) => source.comfortNoise()],
    [
      'leaves out its pauses',
      (source: RawSource) => {
        source.pass(8000)
        source.audio(new Int16Array(160))
      },
    ],
  ])('a peer that %s (DTX) may be silent for two minutes', async (_, pause) => {
    const call = await VirtualCall.start({ suite: null })
    call.run(1000)
    await call.a.session.close()
    const source = new RawSource(call.network, call.b.session, { address: '192.0.2.1', port: 50_000, ssrc: 5 })
    call.run(1000)
    for (let i = 0; i < 50; i++) {
      source.audio(new Int16Array(160).fill(1000))
      call.run(20)
    }
    call.run(1000)
    pause(source)
    call.run(110_000)
    expect(noticed(call)).toEqual([])
    call.run(11_000)
    expect(noticed(call)).toEqual(['silent for 120 s'])
  })

  it('a limit of 0 switches the watchdog off', async () => {
    const call = await VirtualCall.start({ session: { silentRemoteAfterMs: 0 } })
    lost(call)
    call.run(600_000)
    expect(noticed(call)).toEqual([])
  })

  it('the session sets the limit of silence', async () => {
    const call = await VirtualCall.start({ session: { silentRemoteAfterMs: 5000 } })
    lost(call)
    call.run(6000)
    expect(noticed(call)).toEqual(['silent for 5 s'])
  })
})
