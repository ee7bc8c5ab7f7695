import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { writeReceiverReport } from '../rtp/rtcp.ts'
import { writeRtpHeader } from '../rtp/rtp-packet.ts'
import { SrtpReceiver } from './srtp-receiver.ts'
import { SRTP_REPLAYED, SRTP_UNAUTHENTICATED } from './srtp-result.ts'
import { SrtpSender } from './srtp-sender.ts'
import { keyAndSaltBytes, SRTP_SUITES, srtpSuiteSizes } from './srtp-suite.ts'

const MKI = Uint8Array.of(0, 0, 0, 7)

describe.each(SRTP_SUITES)('packets with a master key identifier, %s', suite => {
  const random = new SeededRandom(4)
  const key = { suite, keyAndSalt: random.bytes(keyAndSaltBytes(suite)) }
  const { aead, tag } = srtpSuiteSizes(suite)

  /** The packet as a peer with an identifier sends it: before the tag, or at the end under the AEAD suites. */
  function identified(packet: Uint8Array, length: number, tagBytes: number): Uint8Array {
    const at = aead ? length : length - tagBytes
    return Uint8Array.from([...packet.subarray(0, at), ...MKI, ...packet.subarray(at, length)])
  }

  function rtp(sender: SrtpSender, sequence: number): Uint8Array {
    const packet = new Uint8Array(220)
    writeRtpHeader(packet, 0, false, sequence, sequence * 160, 7)
    packet.fill(sequence, 12, 172)
    return packet.subarray(0, sender.protect(packet, 172))
  }

  it('a packet is accepted with the identifier, and also where the peer leaves it out', () => {
    const sender = new SrtpSender(key)
    const receiver = new SrtpReceiver({ ...key, mki: MKI })
    const first = rtp(sender, 1)
    const packet = identified(first, first.length, tag)
    const replayed = packet.slice()
    expect(receiver.unprotect(packet, packet.length)).toBe(172)
    expect(packet[100]).toBe(1)
    expect(receiver.unprotect(replayed, replayed.length)).toBe(SRTP_REPLAYED)
    const bare = rtp(sender, 2)
    expect(receiver.unprotect(bare, bare.length)).toBe(172)
  })

  it('a forged packet with the identifier is refused and left unchanged', () => {
    const receiver = new SrtpReceiver({ ...key, mki: MKI })
    const genuine = rtp(new SrtpSender(key), 1)
    const packet = identified(genuine, genuine.length, tag)
    packet[50]! ^= 1
    const before = packet.slice()
    expect(receiver.unprotect(packet, packet.length)).toBe(SRTP_UNAUTHENTICATED)
    expect(packet).toEqual(before)
  })

  it('SRTCP is accepted with the identifier', () => {
    const sender = new SrtpSender(key)
    const packet = new Uint8Array(100)
    const length = sender.protectRtcp(packet, writeReceiverReport(packet, 0, 7, null))
    const report = identified(packet, length, 10)
    expect(new SrtpReceiver({ ...key, mki: MKI }).unprotectRtcp(report, report.length)).toBe(8)
  })
})
