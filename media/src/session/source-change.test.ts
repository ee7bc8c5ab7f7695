import { describe, expect, it } from 'vitest'
import { parseIpv4 } from '../packet-io/ipv4.ts'
import { packSourceRules } from './followed-sources.ts'
import { markedAudio } from './testing/marked-audio.ts'
import { RawSource } from './testing/raw-source.ts'
import { VirtualCall } from './testing/virtual-call.ts'

type Call = Awaited<ReturnType<typeof VirtualCall.start>>

/** A call on plain RTP in which b has heard a for 2 s; then a falls silent. */
async function afterSilence(): Promise<Call> {
  const call = await VirtualCall.start({ suite: null })
  call.run(2000)
  await call.a.session.close()
  return call
}

/** Packets of 20 ms with b's next marked audio, for as long. */
function send(call: Call, source: RawSource, ms: number): void {
  for (let left = ms; left > 0; left -= 20) {
    source.audio(markedAudio(call.a.sentSamples, 160, 1))
    call.a.sentSamples += 160
    call.run(20)
  }
}

describe('plain RTP from another source of the same address (RFC 3550 section 8)', () => {
  it.each([
    ['another port and SSRC', 20_000],
    ['another SSRC', 10_000],
  ])('a gateway that continues with %s is heard and answered after 200 ms, and the call lives', async (_, port) => {
    const call = await afterSilence()
    const source = new RawSource(call.network, call.b.session, { address: '192.0.2.1', port, ssrc: 77 })
    send(call, source, 30_000)
    const { rejected, packetsReceived, mediaConflicts } = await call.b.session.statistics()
    expect(rejected.foreign).toBeLessThanOrEqual(11)
    expect(packetsReceived).toBeGreaterThan(1480)
    expect(mediaConflicts).toBe(0)
    expect(source.received).toBeGreaterThan(1400)
    expect(call.b.events.filter(event => event.type === 'silent-remote')).toEqual([])
  })

  it('an intruder of the same address that starts in a pause is dropped when the peer goes on, and is counted', async () => {
    const call = await VirtualCall.start({ suite: null })
    call.run(2000)
    const peer = new RawSource(call.network, call.b.session, { address: '192.0.2.1', port: 20_000, ssrc: 77 })
    await call.a.session.close()
    send(call, peer, 2000)
    const intruder = new RawSource(call.network, call.b.session, { address: '192.0.2.1', port: 30_000, ssrc: 99 })
    for (let i = 0; i < 30; i++) {
      intruder.audio(new Int16Array(160).fill(8000))
      call.run(20)
    }
    expect(intruder.received).toBeGreaterThan(0)
    const before = intruder.received
    for (let i = 0; i < 100; i++) {
      peer.audio(new Int16Array(160).fill(1000))
      intruder.audio(new Int16Array(160).fill(8000))
      call.run(20)
    }
    expect((await call.b.session.statistics()).mediaConflicts).toBe(1)
    // At most the packets that were under way.
    expect(intruder.received - before).toBeLessThanOrEqual(4)
  })
})

describe('a peer behind a NAT', () => {
  const behindNat = {
    remote: { address: '192.168.1.5', port: 4000 },
    remoteReachable: false,
    learnFrom: [{ ipv4: parseIpv4('192.0.2.1')!, prefixBits: 32 }],
  }

  it.each([null, 'AES_CM_128_HMAC_SHA1_80'] as const)(
    'a peer behind a NAT is heard and answered from its first packet on, RTCP included, and its private address gets nothing (%s)',
    async suite => {
      const call = await VirtualCall.start({ suite })
      call.apply({ b: behindNat })
      const destinations = new Set<number>()
      call.network.onSend = (from, _packet, _length, ipv4, port) => {
        if (from.ipv4 === parseIpv4('192.0.2.2')) destinations.add(ipv4 === parseIpv4('192.0.2.1') ? port : -1)
      }
      call.a.talking = true
      call.b.talking = true
      call.run(10_000)
      for (const end of [call.a, call.b]) expect(end.listener.brokenAt).toBe(-1)
      expect(call.a.listener.heard).toBeGreaterThan(70_000)
      expect(call.b.listener.heard).toBeGreaterThan(70_000)
      const { port } = call.a.session.local
      expect([...destinations].sort()).toEqual([port, port + 1])
    },
  )

  it('a peer behind a NAT is not learnt from another address, and nothing is sent before it was heard', async () => {
    const call = await VirtualCall.start({ suite: null })
    await call.a.session.close()
    call.apply({ b: behindNat })
    let sent = 0
    call.network.onSend = from => {
      if (from.ipv4 === parseIpv4('192.0.2.2')) sent++
    }
    const stranger = new RawSource(call.network, call.b.session, { address: '198.51.100.7', port: 4000, ssrc: 5 })
    for (let i = 0; i < 100; i++) {
      stranger.audio(new Int16Array(160).fill(1000))
      call.run(20)
    }
    expect(sent).toBe(0)
    expect((await call.b.session.statistics()).rejected.foreign).toBe(100)
  })
})

describe('verified packets from a source that nothing may be sent to', () => {
  it('verified packets from a source that nothing may be sent to are heard, but neither audio nor reports go there, and their sources are counted', async () => {
    const call = await VirtualCall.start()
    const [peer, elsewhere] = [parseIpv4('192.0.2.1')!, parseIpv4('198.51.100.1')!]
    call.apply({
      b: {
        remote: { address: '198.51.100.1', port: 4000 },
        sourceRules: packSourceRules([{ ipv4: peer, prefixBits: 32, isFollowed: false }]),
      },
    })
    const destinations = new Set<number>()
    call.network.onSend = (from, _packet, _length, ipv4) => {
      if (from.ipv4 === parseIpv4('192.0.2.2')) destinations.add(ipv4)
    }
    call.a.talking = true
    call.run(10_000)
    expect(call.b.listener.brokenAt).toBe(-1)
    expect(call.b.listener.heard).toBeGreaterThan(70_000)
    expect([...destinations]).toEqual([elsewhere])
    expect((await call.b.session.statistics()).sourcesRefused).toBe(2)
  })
})

describe('long packets', () => {
  it.each([70, 100, 120])('packets of %d ms are heard without a gap', async ms => {
    const call = await afterSilence()
    const source = new RawSource(call.network, call.b.session, { address: '192.0.2.1', port: 20_000, ssrc: 77 })
    call.run(300)
    const samples = ms * 8
    // The first two of the new source are not heard: it is on probation.
    for (let i = -2; i < 50; i++) {
      source.audio(i < 0 ? new Int16Array(samples).fill(500) : markedAudio(i * samples, samples, 1))
      call.run(ms)
    }
    call.run(200)
    // Behind the last packet, its end is repeated for 60 ms.
    expect(call.b.listener).toMatchObject({ heard: 50 * samples, gaps: 0 })
    expect((await call.b.session.statistics()).rejected.malformed).toBe(0)
  })

  it('packets of more than 120 ms are refused and counted', async () => {
    const call = await afterSilence()
    const source = new RawSource(call.network, call.b.session, { address: '192.0.2.1', port: 20_000, ssrc: 77 })
    for (let i = 0; i < 10; i++) source.audio(new Int16Array(1000).fill(500))
    call.run(100)
    expect((await call.b.session.statistics()).rejected.malformed).toBe(10)
  })
})
