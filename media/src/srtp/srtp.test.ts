import { createCipheriv, createHmac } from 'node:crypto'
import { type Random, randomBelow, SeededRandom } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tryForgeries } from '../../fuzz/srtp-forgeries.ts'
import { writeBye, writeReceiverReport } from '../rtp/rtcp.ts'
import { writeRtpHeader } from '../rtp/rtp-packet.ts'
import type { SrtpKey, SrtpSuite } from '../session/media-session.ts'
import { SrtpReceiver } from './srtp-receiver.ts'
import {
  SRTP_CLEAR_RTCP,
  SRTP_MALFORMED,
  SRTP_REPLAYED,
  SRTP_TOO_MANY_STREAMS,
  SRTP_UNAUTHENTICATED,
} from './srtp-result.ts'
import { SrtpSender } from './srtp-sender.ts'
import { keyAndSaltBytes, srtpSuiteSizes } from './srtp-suite.ts'
import { MAX_STREAMS } from './stream-table.ts'

const SSRC = 0xcafebabe
const SUITES: readonly SrtpSuite[] = [
  'AES_CM_128_HMAC_SHA1_80',
  'AES_CM_128_HMAC_SHA1_32',
  'AEAD_AES_128_GCM',
  'AEAD_AES_256_GCM',
]

function keyOf(seed: number, suite: SrtpSuite = SUITES[0]!): SrtpKey {
  return { suite, keyAndSalt: new SeededRandom(seed).bytes(keyAndSaltBytes(suite)) }
}

/** RTP packet of `index` with a payload that tells which one it is. */
function plain(index: number, ssrc = SSRC, payloadBytes = 40): Uint8Array {
  const packet = new Uint8Array(12 + payloadBytes)
  writeRtpHeader(packet, 0, false, index & 0xffff, index * 160, ssrc)
  for (let i = 0; i < payloadBytes; i++) packet[12 + i] = index >>> (i % 24)
  return packet
}

function protect(sender: SrtpSender, packet: Uint8Array): Uint8Array {
  const room = new Uint8Array(packet.length + 16)
  room.set(packet)
  const length = sender.protect(room, packet.length)
  expect(length).toBeGreaterThan(0)
  return room.slice(0, length)
}

/** The RTP packet inside, or why there is none. */
function unprotect(receiver: SrtpReceiver, packet: Uint8Array): Uint8Array | number {
  const copy = packet.slice()
  const length = receiver.unprotect(copy, copy.length)
  return length < 0 ? length : copy.subarray(0, length)
}

/** RFC 3711 section 4.3 with node:crypto's own counter mode. */
function derived(key: SrtpKey, label: number, length: number): Buffer {
  const { masterKey } = srtpSuiteSizes(key.suite)
  const iv = Buffer.alloc(16)
  iv.set(key.keyAndSalt.subarray(masterKey))
  iv[7]! ^= label
  const algorithm = masterKey === 32 ? 'aes-256-ctr' : 'aes-128-ctr'
  return createCipheriv(algorithm, key.keyAndSalt.subarray(0, masterKey), iv).update(Buffer.alloc(length))
}

/** RFC 3711 and RFC 7714 word by word with node:crypto's own modes and HMAC, for packets of a 12-byte header. */
function reference(key: SrtpKey, packet: Uint8Array, index: number): Uint8Array {
  if (srtpSuiteSizes(key.suite).aead) return gcmReference(key, packet, index)
  const blinding = Buffer.alloc(16)
  Buffer.from(packet.subarray(8, 12)).copy(blinding, 4)
  blinding.writeUIntBE(index, 8, 6)
  const salt = derived(key, 2, 14)
  const iv = blinding.map((byte, i) => byte ^ (salt[i] ?? 0))
  const payload = createCipheriv('aes-128-ctr', derived(key, 0, 16), iv).update(packet.subarray(12))
  const rollover = Buffer.alloc(4)
  rollover.writeUInt32BE(Math.floor(index / 65536))
  const body = Buffer.concat([packet.subarray(0, 12), payload])
  const tag = createHmac('sha1', derived(key, 1, 20))
    .update(body)
    .update(rollover)
    .digest()
  return Uint8Array.from([...body, ...tag.subarray(0, key.suite.endsWith('32') ? 4 : 10)])
}

function gcmReference(key: SrtpKey, packet: Uint8Array, index: number): Uint8Array {
  const { masterKey } = srtpSuiteSizes(key.suite)
  const iv = Buffer.alloc(12)
  Buffer.from(packet.subarray(8, 12)).copy(iv, 2)
  iv.writeUIntBE(index, 6, 6)
  const salt = derived(key, 2, 12)
  const algorithm = masterKey === 32 ? 'aes-256-gcm' : 'aes-128-gcm'
  const cipher = createCipheriv(
    algorithm,
    derived(key, 0, masterKey),
    iv.map((byte, i) => byte ^ salt[i]!),
  )
  const header = packet.subarray(0, 12)
  const payload = cipher.setAAD(header).update(packet.subarray(12))
  cipher.final()
  return Uint8Array.from([...header, ...payload, ...cipher.getAuthTag()])
}

interface Network {
  /** Chance in 1000 that a burst of loss of up to `burst` packets begins. */
  readonly loss: number
  readonly burst: number
  /** Most packets that one may be overtaken by. */
  readonly reorder: number
  readonly duplicates: number
}

/** Indices in the order in which they arrive, some twice. */
function arrivals(start: number, count: number, network: Network, random: Random): number[] {
  const sent: { at: number; index: number }[] = []
  let lost = 0
  for (let i = 0; i < count; i++) {
    if (lost === 0 && randomBelow(random, 1000) < network.loss) lost = 1 + randomBelow(random, network.burst)
    if (lost > 0) {
      lost--
      continue
    }
    const times = randomBelow(random, 1000) < network.duplicates ? 2 : 1
    for (let copy = 0; copy < times; copy++) {
      sent.push({ at: i + randomBelow(random, network.reorder + 1), index: start + i })
    }
  }
  return sent.sort((a, b) => a.at - b.at || a.index - b.index).map(packet => packet.index)
}

describe('a stream over a bad network', () => {
  const starts = fc.oneof(fc.integer({ min: 0, max: 65535 }), fc.integer({ min: 64000, max: 65535 }), fc.constant(0))
  const networks = fc.record({
    loss: fc.integer({ min: 0, max: 50 }),
    burst: fc.integer({ min: 1, max: 400 }),
    reorder: fc.integer({ min: 0, max: 100 }),
    duplicates: fc.integer({ min: 0, max: 200 }),
  })

  it('every packet that arrives is delivered once and unchanged, from any first sequence number through wraps', () => {
    const property = fc.property(
      starts,
      networks,
      fc.nat(),
      fc.constantFrom(...SUITES),
      (start, network, seed, suite) => {
        const key = keyOf(seed, suite)
        const sender = new SrtpSender(key)
        const receiver = new SrtpReceiver(key)
        const wire = Array.from({ length: 2000 }, (_, i) => protect(sender, plain(start + i)))
        for (let i = 0; i < wire.length; i += 111) expect(wire[i]).toEqual(reference(key, plain(start + i), start + i))
        const seen = new Set<number>()
        for (const index of arrivals(start, wire.length, network, new SeededRandom(seed))) {
          const result = unprotect(receiver, wire[index - start]!)
          if (seen.has(index)) expect(result).toBe(SRTP_REPLAYED)
          else expect(result, `packet ${index} of a stream from ${start}`).toEqual(plain(index))
          seen.add(index)
        }
      },
    )
    fc.assert(property, { numRuns: 40 })
  })

  it('two hours of packets survive six wraps with bursts of loss, reordering and duplicates', () => {
    const key = keyOf(7)
    const sender = new SrtpSender(key)
    const receiver = new SrtpReceiver(key)
    const start = 65530
    const count = 6 * 65536
    const network = { loss: 1, burst: 700, reorder: 20, duplicates: 5 }
    const room = new Uint8Array(80)
    const wire = Array.from({ length: count }, (_, i) => {
      const packet = plain(start + i, SSRC, 4)
      room.set(packet)
      return room.slice(0, sender.protect(room, packet.length))
    })
    const seen = new Uint8Array(count)
    let wrong = 0
    for (const index of arrivals(start, count, network, new SeededRandom(3))) {
      const result = unprotect(receiver, wire[index - start]!)
      const right =
        seen[index - start] === 1
          ? result === SRTP_REPLAYED
          : typeof result !== 'number' && Buffer.compare(result, plain(index, SSRC, 4)) === 0
      if (!right) wrong++
      seen[index - start] = 1
    }
    expect(wrong).toBe(0)
    expect(receiver.rollover).toBe(6)
    expect(sender.rollover).toBe(6)
  })

  it('a late packet from before a wrap is accepted, one older than the replay window is refused', () => {
    const key = keyOf(1)
    const sender = new SrtpSender(key)
    const receiver = new SrtpReceiver(key)
    const wire = Array.from({ length: 200 }, (_, i) => protect(sender, plain(65500 + i)))
    unprotect(receiver, wire[0]!)
    expect(unprotect(receiver, wire[150]!)).toEqual(plain(65650))
    expect(unprotect(receiver, wire[23]!)).toEqual(plain(65523))
    expect(unprotect(receiver, wire[22]!)).toBe(SRTP_REPLAYED)
    expect(unprotect(receiver, wire[23]!)).toBe(SRTP_REPLAYED)
  })

  it('a receiver that loses the first packets before a wrap joins after it, and accepts late ones from before', () => {
    const key = keyOf(2)
    const sender = new SrtpSender(key)
    const receiver = new SrtpReceiver(key)
    const wire = Array.from({ length: 20 }, (_, i) => protect(sender, plain(65530 + i)))
    for (const i of [9, 3, 10, 5]) expect(unprotect(receiver, wire[i]!)).toEqual(plain(65530 + i))
    expect(receiver.rollover).toBe(1)
  })

  it('the rollover counter is right after ten minutes of hold across a wrap', () => {
    const key = keyOf(3)
    const sender = new SrtpSender(key)
    const receiver = new SrtpReceiver(key)
    unprotect(receiver, protect(sender, plain(50_000)))
    for (let index = 50_001; index < 80_000; index++) protect(sender, plain(index))
    expect(unprotect(receiver, protect(sender, plain(80_000)))).toEqual(plain(80_000))
  })

  it('a sender that jumps far ahead in its first cycle is followed', () => {
    const key = keyOf(4)
    const receiver = new SrtpReceiver(key)
    expect(unprotect(receiver, reference(key, plain(10), 10))).toEqual(plain(10))
    expect(unprotect(receiver, reference(key, plain(60_000), 60_000))).toEqual(plain(60_000))
  })
})

describe('SRTP headers', () => {
  it('CSRCs and header extension are not encrypted but authenticated', () => {
    const key = keyOf(5)
    const header = [0x91, 0, 0, 9, 0, 0, 0, 0, 0xca, 0xfe, 0xba, 0xbe, 1, 2, 3, 4, 0xbe, 0xde, 0, 1, 0x10, 0xff, 0, 0]
    const packet = Uint8Array.from([...header, 5, 6, 7])
    const wire = protect(new SrtpSender(key), packet)
    expect([...wire.subarray(0, header.length)]).toEqual(header)
    expect(wire[header.length]).not.toBe(5)
    expect(unprotect(new SrtpReceiver(key), wire)).toEqual(packet)
    wire[13] = wire[13]! ^ 1
    expect(unprotect(new SrtpReceiver(key), wire)).toBe(SRTP_UNAUTHENTICATED)
  })

  it('a packet that is not RTP, or leaves no room for the tag, is refused on both sides', () => {
    const sender = new SrtpSender(keyOf(5))
    const receiver = new SrtpReceiver(keyOf(5))
    expect(sender.protect(plain(1), 52)).toBe(SRTP_MALFORMED)
    expect(sender.protect(new Uint8Array(60), 40)).toBe(SRTP_MALFORMED)
    expect(receiver.unprotect(plain(1), 21)).toBe(SRTP_MALFORMED)
    expect(receiver.unprotect(plain(1), 53)).toBe(SRTP_MALFORMED)
    expect(receiver.unprotectRtcp(plain(1), 52)).toBe(SRTP_MALFORMED)
  })

  it('the same sequence number is never encrypted twice', () => {
    const sender = new SrtpSender(keyOf(6))
    protect(sender, plain(700))
    const again = new Uint8Array(80)
    again.set(plain(700))
    expect(sender.protect(again, 52)).toBe(SRTP_REPLAYED)
    expect(again.subarray(0, 52)).toEqual(plain(700))
  })
})

describe('SRTP sources', () => {
  it('a new SSRC has its own rollover counter, and the old one continues', () => {
    const key = keyOf(8)
    const sender = new SrtpSender(key)
    const receiver = new SrtpReceiver(key)
    for (const index of [65535, 65536]) unprotect(receiver, protect(sender, plain(index)))
    expect(unprotect(receiver, protect(sender, plain(9, 1)))).toEqual(plain(9, 1))
    expect(receiver.rollover).toBe(0)
    expect(unprotect(receiver, protect(sender, plain(65537)))).toEqual(plain(65537))
    expect(receiver.rollover).toBe(1)
    expect(receiver.streams).toBe(2)
  })

  it('the number of sources is bounded, further ones are refused, and no known source can be replayed', () => {
    const key = keyOf(9)
    const receiver = new SrtpReceiver(key)
    const wire = Array.from({ length: MAX_STREAMS + 1 }, (_, i) => reference(key, plain(5, i), 5))
    for (let i = 0; i < MAX_STREAMS; i++) expect(unprotect(receiver, wire[i]!)).toEqual(plain(5, i))
    expect(unprotect(receiver, wire[MAX_STREAMS]!)).toBe(SRTP_TOO_MANY_STREAMS)
    for (let i = 0; i < MAX_STREAMS; i++) expect(unprotect(receiver, wire[i]!)).toBe(SRTP_REPLAYED)
  })

  it('forged packets with random SSRCs create no stream', () => {
    const receiver = new SrtpReceiver(keyOf(10))
    for (let ssrc = 0; ssrc < 200; ssrc++) {
      expect(unprotect(receiver, reference(keyOf(11), plain(5, ssrc), 5))).toBe(SRTP_UNAUTHENTICATED)
    }
    expect(receiver.streams).toBe(0)
  })

  it('a key of the wrong length is refused with srtp_key_invalid', () => {
    const short = { suite: SUITES[0]!, keyAndSalt: new Uint8Array(29) }
    expect(() => new SrtpReceiver(short)).toThrow(expect.objectContaining({ code: 'srtp_key_invalid' }))
    expect(() => new SrtpSender(short)).toThrow(expect.objectContaining({ code: 'srtp_key_invalid' }))
  })
})

describe('SRTCP', () => {
  function report(ssrc = SSRC): Uint8Array {
    const packet = new Uint8Array(40)
    writeBye(packet, writeReceiverReport(packet, 0, ssrc, null), ssrc)
    return packet
  }

  it.each(SUITES)('SRTCP with %s is encrypted with the long tag and accepted once, in any order', suite => {
    const protectedBytes = 16 + 4 + Math.max(10, srtpSuiteSizes(suite).tag)
    const key = keyOf(12, suite)
    const sender = new SrtpSender(key)
    const receiver = new SrtpReceiver(key)
    const wire = [0, 1, 2].map(() => {
      const packet = report()
      expect(sender.protectRtcp(packet, 16)).toBe(protectedBytes)
      return packet.subarray(0, protectedBytes)
    })
    expect(wire[0]!.subarray(8, 16)).not.toEqual(report().subarray(8, 16))
    for (const i of [1, 0, 2]) {
      const packet = wire[i]!.slice()
      expect(receiver.unprotectRtcp(packet, protectedBytes)).toBe(16)
      expect(packet.subarray(0, 16)).toEqual(report().subarray(0, 16))
      expect(receiver.unprotectRtcp(wire[i]!.slice(), protectedBytes)).toBe(SRTP_REPLAYED)
    }
    expect(unprotect(receiver, protect(sender, plain(0)))).toEqual(plain(0))
  })

  it('clear RTCP on a secure session is refused and recognised as such: a BYE, and an APP of 16 bytes', () => {
    const receiver = new SrtpReceiver(keyOf(12))
    expect(receiver.unprotectRtcp(report(), 16)).toBe(SRTP_CLEAR_RTCP)
    const app = Uint8Array.from([0x80, 204, 0, 3, 0, 0, 0, 1, ...Buffer.from('PING'), 0, 0, 0, 0])
    expect(receiver.unprotectRtcp(app, 16)).toBe(SRTP_CLEAR_RTCP)
    expect(receiver.unprotectRtcp(app, 15)).toBe(SRTP_MALFORMED)
    expect(receiver.streams).toBe(0)
  })
})

describe('forged SRTP packets', () => {
  it.each(SUITES)('with %s none of 100,000 forgeries is accepted or changes state', suite => {
    expect(tryForgeries(100_000, 1, suite)).toEqual({ attempts: 100_000, accepted: 0, disturbed: 0 })
  })

  const key = { suite: SUITES[0]!, keyAndSalt: new SeededRandom(1).bytes(30) }

  it('the forgeries detect a receiver that compares only one byte of the tag', () => {
    const receiver = new SrtpReceiver(key)
    const careless = {
      unprotect: (packet: Uint8Array, length: number): number => {
        const result = receiver.unprotect(packet, length)
        return result === SRTP_UNAUTHENTICATED && packet[length - 1] === 0 ? length - 10 : result
      },
      unprotectRtcp: (packet: Uint8Array, length: number): number => receiver.unprotectRtcp(packet, length),
    }
    expect(tryForgeries(10_000, 1, key.suite, careless).accepted).toBeGreaterThan(0)
  })

  it('the forgeries detect a receiver that stores state of unauthenticated packets', () => {
    const receiver = new SrtpReceiver(key)
    const burnt = new Set<number>()
    const hasty = {
      unprotect: (packet: Uint8Array, length: number): number => {
        const sequence = (packet[2]! << 8) | packet[3]!
        if (burnt.has(sequence)) return SRTP_REPLAYED
        const result = receiver.unprotect(packet, length)
        if (result === SRTP_UNAUTHENTICATED) burnt.add(sequence)
        return result
      },
      unprotectRtcp: (packet: Uint8Array, length: number): number => receiver.unprotectRtcp(packet, length),
    }
    expect(tryForgeries(10_000, 1, key.suite, hasty).disturbed).toBeGreaterThan(0)
  })
})
