import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { RtpHeader, readRtpHeader } from '../rtp/rtp-packet.ts'
import type { MediaParameters } from './media-session.ts'
import { MediaSessionCore } from './media-session-core.ts'
import { SessionRings } from './session-rings.ts'

const PLAIN: MediaParameters = {
  remote: { address: '192.0.2.9', port: 4000 },
  direction: 'sendrecv',
  codec: 'PCMU',
  payloadType: 0,
  ptimeMs: 20,
  dtmfPayloadType: 101,
  srtp: null,
}

/** A core on plain RTP and the headers of what it sends, slot by slot. */
function sender(seed = 1) {
  const rings = new SessionRings()
  const core = new MediaSessionCore({
    openedAtMs: 1000,
    openedAtUnixMs: 0,
    rings,
    recorder: null,
    random: new SeededRandom(seed),
    emit: () => {},
  })
  const packet = new Uint8Array(1536)
  const send = (slotMs: number): RtpHeader | null => {
    const length = core.tick(slotMs, packet)
    const header = new RtpHeader()
    return length > 0 && readRtpHeader(packet, length, header) ? header : null
  }
  return { core, rings, send }
}

describe('what a session sends', () => {
  it('a stream starts with a marker at random sequence and timestamp, and counts both through their wraps', () => {
    const starts = new Set<string>()
    for (let seed = 1; seed <= 20; seed++) {
      const { core, send } = sender(seed)
      core.apply(1000, PLAIN)
      const first = send(1000)!
      expect(first.marker).toBe(true)
      starts.add(`${first.ssrc} ${first.sequence} ${first.timestamp}`)
    }
    expect(starts.size).toBe(20)

    const { core, send } = sender()
    core.apply(1000, PLAIN)
    let last = send(1000)!
    const { ssrc } = last
    for (let slot = 1; slot < 70_000; slot++) {
      const header = send(1000 + slot * 20)!
      const grown = (header.sequence - last.sequence) & 0xffff
      if (grown !== 1 || (header.timestamp - last.timestamp) >>> 0 !== 160 || header.ssrc !== ssrc || header.marker) {
        expect(header).toEqual({ ...last, sequence: last.sequence + 1, timestamp: last.timestamp + 160 })
      }
      last = header
    }
  })

  it('the first sequence number is below 2^15 (RFC 4568 section 6.4)', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const { core, send } = sender(seed)
      core.apply(1000, PLAIN)
      expect(send(1000)!.sequence).toBeLessThan(0x8000)
    }
  })

  it('a missed slot is skipped: the next packet has the next sequence number and its true timestamp', () => {
    const { core, rings, send } = sender()
    core.apply(1000, PLAIN)
    rings.writeOutbound(new Int16Array(1600).fill(1000), 0)
    const before = send(1000)!
    const after = send(1120)!
    expect((after.sequence - before.sequence) & 0xffff).toBe(1)
    expect((after.timestamp - before.timestamp) >>> 0).toBe(960)
    expect(core.statistics()).toMatchObject({ missedSlots: 5, packetsSent: 2 })
    // Audio waits for the slots that came: nothing was dropped.
    expect(rings.outboundTaken()).toBe(320)
  })

  it('SSRC, sequence and clock continue through a hold, and the first packet after it has the marker', () => {
    const { core, send } = sender()
    core.apply(1000, PLAIN)
    const before = send(1000)!
    core.apply(1010, { ...PLAIN, direction: 'inactive' })
    expect(send(1020)).toBeNull()
    core.apply(2000, { ...PLAIN, direction: 'recvonly' })
    expect(send(2020)).toBeNull()
    core.apply(3000, { ...PLAIN, remote: null })
    expect(send(3020)).toBeNull()
    core.apply(4000, { ...PLAIN, direction: 'sendonly' })
    const after = send(4020)!
    expect(after).toMatchObject({ ssrc: before.ssrc, marker: true })
    expect((after.sequence - before.sequence) & 0xffff).toBe(1)
    expect((after.timestamp - before.timestamp) >>> 0).toBe(3020 * 8)
    expect(core.statistics().missedSlots).toBe(0)
  })

  it('no audio is sent twice when the send slot moves', () => {
    const { core, send } = sender()
    core.apply(1000, PLAIN)
    const before = send(1000)!
    expect(send(1012.5)).toBeNull()
    const after = send(1032.5)!
    expect((after.timestamp - before.timestamp) >>> 0).toBe(260)
  })
})
