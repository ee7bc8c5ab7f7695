import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBelow, SeededRandom } from '@parley/kernel'
import {
  keyAndSaltBytes,
  loadNativeAddon,
  nativeTransforms,
  portableTransforms,
  SRTP_SUITES,
  type SrtpKey,
  SrtpReceiver,
  SrtpSender,
  type SrtpTransforms,
  writeRtpHeader,
} from '@parley/media/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Libsrtp, requiresLibsrtp } from './libsrtp.ts'

const PACKETS = 300
/** Near the end of the sequence numbers, so that the rollover counter changes. */
const FIRST_SEQUENCE = 65_400
const SSRC = 0x1234_abcd
const HEADER_BYTES = 12
const ROOM = 32

const addon = loadNativeAddon()
const TRANSFORMS: readonly (readonly [string, SrtpTransforms])[] = [
  ['portable', portableTransforms],
  ...(typeof addon === 'string' ? [] : ([['native', nativeTransforms(addon)]] as const)),
]

const libsrtp = requiresLibsrtp()

/** A packet of audio of any length from 0 to 1,199 bytes. */
function rtpPackets(random: SeededRandom): Uint8Array[] {
  return Array.from({ length: PACKETS }, (_, i) => {
    const packet = new Uint8Array(HEADER_BYTES + randomBelow(random, 1200))
    packet.set(random.bytes(packet.length))
    writeRtpHeader(packet, 0, i === 0, (FIRST_SEQUENCE + i) & 0xffff, i * 160, SSRC)
    return packet
  })
}

/** A receiver report without blocks, then an APP packet of any length and content (RFC 3550 section 6). */
function rtcpPackets(random: SeededRandom): Uint8Array[] {
  return Array.from({ length: PACKETS }, () => {
    const words = 3 + randomBelow(random, 50)
    const packet = new Uint8Array(8 + 4 * words)
    const view = new DataView(packet.buffer)
    packet.set(random.bytes(packet.length))
    packet.set([0x80, 201, 0, 1])
    view.setUint32(4, SSRC)
    packet.set([0x80, 204], 8)
    view.setUint16(10, words - 1)
    return packet
  })
}

function sealed(packet: Uint8Array, seal: (packet: Uint8Array, length: number) => number): Uint8Array {
  const bytes = new Uint8Array(packet.length + ROOM)
  bytes.set(packet)
  return bytes.slice(0, seal(bytes, packet.length))
}

function opened(packet: Uint8Array, open: (packet: Uint8Array, length: number) => number): Uint8Array | null {
  const bytes = packet.slice()
  const length = open(bytes, bytes.length)
  return length < 0 ? null : bytes.slice(0, length)
}

describe.skipIf(libsrtp.missing)(`SRTP beside libsrtp2${libsrtp.note}`, () => {
  let directory: string
  let oracle: Libsrtp

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-libsrtp-'))
    oracle = new Libsrtp(directory)
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  const cases = SRTP_SUITES.flatMap(suite => TRANSFORMS.map(([kind, transforms]) => ({ suite, kind, transforms })))

  it.each(cases)(
    'packets of $suite ($kind) are byte for byte those of libsrtp2, and each side opens those of the other',
    ({ suite, transforms }) => {
      const random = new SeededRandom(23)
      const key: SrtpKey = { suite, keyAndSalt: random.bytes(keyAndSaltBytes(suite)) }
      const packets = rtpPackets(random)
      const sender = new SrtpSender(key, transforms)
      const ours = packets.map(packet => sealed(packet, (bytes, length) => sender.protect(bytes, length)))
      const theirs = oracle.run(key, [
        ...packets.map(packet => ['protect', packet] as const),
        ...ours.map(packet => ['unprotect', packet] as const),
      ])
      expect(ours).toEqual(theirs.slice(0, PACKETS))
      expect(theirs.slice(PACKETS)).toEqual(packets)
      const receiver = new SrtpReceiver(key, null, transforms)
      expect(ours.map(packet => opened(packet, (bytes, length) => receiver.unprotect(bytes, length)))).toEqual(packets)
    },
  )

  it.each(cases)(
    'RTCP of $suite ($kind) is opened by libsrtp2, and that of libsrtp2 by us',
    ({ suite, transforms }) => {
      const random = new SeededRandom(24)
      const key: SrtpKey = { suite, keyAndSalt: random.bytes(keyAndSaltBytes(suite)) }
      const packets = rtcpPackets(random)
      const sender = new SrtpSender(key, transforms)
      const ours = packets.map(packet => sealed(packet, (bytes, length) => sender.protectRtcp(bytes, length)))
      const theirs = oracle.run(key, [
        ...ours.map(packet => ['unprotect_rtcp', packet] as const),
        ...packets.map(packet => ['protect_rtcp', packet] as const),
      ])
      expect(theirs.slice(0, PACKETS)).toEqual(packets)
      const receiver = new SrtpReceiver(key, null, transforms)
      const read = theirs
        .slice(PACKETS)
        .map(packet => opened(packet!, (bytes, length) => receiver.unprotectRtcp(bytes, length)))
      expect(read).toEqual(packets)
    },
  )

  it.each(cases)(
    'a packet of $suite ($kind) with one changed bit, or received twice, is refused by both sides',
    ({ suite, transforms }) => {
      const random = new SeededRandom(25)
      const key: SrtpKey = { suite, keyAndSalt: random.bytes(keyAndSaltBytes(suite)) }
      const sender = new SrtpSender(key, transforms)
      const [packet] = rtpPackets(random)
      const genuine = sealed(packet!, (bytes, length) => sender.protect(bytes, length))
      const changed = Array.from({ length: 200 }, () => {
        const copy = genuine.slice()
        // Not in the first byte: another version or header length makes it no packet of this shape.
        copy[1 + randomBelow(random, copy.length - 1)]! ^= 1 << randomBelow(random, 8)
        return copy
      })
      const received = [...changed, genuine, genuine]
      const receiver = new SrtpReceiver(key, null, transforms)
      const ours = received.map(bytes => opened(bytes, (copy, length) => receiver.unprotect(copy, length)))
      expect(ours).toEqual([...changed.map(() => null), packet, null])
      expect(
        oracle.run(
          key,
          received.map(bytes => ['unprotect', bytes] as const),
        ),
      ).toEqual(ours)
    },
  )
})
