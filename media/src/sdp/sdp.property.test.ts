import { readdirSync, readFileSync } from 'node:fs'
import { SeededRandom } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fuzzSdp } from '../../fuzz/sdp.fuzz.ts'
import type { LocalMedia } from './local-media.ts'
import { acceptAnswer, createOffer, planAnswer } from './offer-answer.ts'
import { parseSdp } from './parse.ts'
import { serialiseSdp } from './serialise.ts'
import type { MediaDescription, SessionDescription } from './session-description.ts'

const fixtures = new URL('./fixtures/', import.meta.url)
const samples = readdirSync(fixtures).map(name => readFileSync(new URL(name, fixtures)))

const chars = (alphabet: string, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength })
const token = chars('abcXYZ019-._+!*', 12)
const digits = fc.nat({ max: 2 ** 31 }).map(String)
const address = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain())
const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .map(s => `x${s.replace(/\p{C}|\p{Z}/gu, '')}y`)
const direction = fc.constantFrom('sendrecv', 'sendonly', 'recvonly', 'inactive', null)
const ms = fc.option(fc.integer({ min: 1, max: 200 }))

const codecs = fc.uniqueArray(
  fc.record({
    payloadType: fc.integer({ min: 0, max: 127 }),
    name: fc.constantFrom('PCMU', 'PCMA', 'TELEPHONE-EVENT', 'OPUS', 'X-OTHER'),
    clockRate: fc.constantFrom(8000, 16_000, 48_000),
    channels: fc.integer({ min: 1, max: 2 }),
    fmtp: fc.option(text),
  }),
  { minLength: 1, maxLength: 6, selector: codec => codec.payloadType },
)

const crypto = fc.array(
  fc.record({
    tag: fc.nat({ max: 999_999_999 }),
    suite: fc.constantFrom('AES_CM_128_HMAC_SHA1_80', 'AES_CM_128_HMAC_SHA1_32', 'AEAD_AES_256_GCM'),
    keyAndSalt: fc.uint8Array({ minLength: 1, maxLength: 46 }),
    lifetimePackets: fc.option(fc.bigInt({ min: 1n, max: 2n ** 48n }).filter(n => n < 10n ** 15n)),
    mki: fc.option(
      fc.record({ value: fc.bigInt({ min: 0n, max: 10n ** 38n }), length: fc.integer({ min: 1, max: 128 }) }),
    ),
    sessionParameters: fc.array(token, { maxLength: 3 }),
  }),
  { maxLength: 4 },
)

const media: fc.Arbitrary<MediaDescription> = fc
  .record({
    kind: fc.constantFrom('audio', 'video', 'image'),
    port: fc.nat({ max: 65_535 }),
    protocol: fc.constantFrom('RTP/AVP', 'RTP/SAVP', 'RTP/SAVPF', 'UDP/TLS/RTP/SAVPF'),
    connection: fc.option(address),
    direction,
    codecs,
    ptimeMs: ms,
    maxptimeMs: ms,
    crypto,
    rtcpMux: fc.boolean(),
    rtcp: fc.option(fc.record({ port: fc.nat({ max: 65_535 }), address: fc.option(address) })),
  })
  .map(line => ({
    ...line,
    formats: line.codecs.map(codec => String(codec.payloadType)),
    hasCrypto: line.crypto.length > 0,
  }))

const description: fc.Arbitrary<SessionDescription> = fc.record({
  origin: fc.record({ username: text, sessionId: digits, version: digits, address }),
  sessionName: text,
  timing: fc.constantFrom('0 0', '3034423619 3042462419'),
  connection: fc.option(address),
  direction,
  media: fc.array(media, { maxLength: 5 }),
})

describe('session descriptions', () => {
  it('a session description is read back as written', () => {
    fc.assert(
      fc.property(description, written => {
        expect(parseSdp(serialiseSdp(written))).toEqual({ ok: true, description: written })
      }),
    )
  })

  it('the SDP parser keeps its invariants on any bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), fuzzSdp))
  })

  it('the SDP parser keeps its invariants on damaged bodies of real peers', () => {
    const damage = fc.record({
      sample: fc.constantFrom(...samples),
      cuts: fc.array(fc.record({ at: fc.nat(), drop: fc.nat({ max: 40 }), insert: fc.uint8Array({ maxLength: 8 }) }), {
        maxLength: 6,
      }),
      splice: fc.record({ from: fc.constantFrom(...samples), at: fc.nat(), length: fc.nat({ max: 200 }) }),
    })
    const property = fc.property(damage, ({ sample, cuts, splice }) => {
      let bytes = Buffer.from(sample)
      const start = splice.at % splice.from.length
      const pieces = [...cuts, { at: splice.at, drop: 0, insert: splice.from.subarray(start, start + splice.length) }]
      for (const { at, drop, insert } of pieces) {
        const position = at % (bytes.length + 1)
        bytes = Buffer.concat([bytes.subarray(0, position), insert, bytes.subarray(position + drop)])
      }
      fuzzSdp(bytes)
    })
    fc.assert(property, { numRuns: 1000 })
  })
})

describe('offer/answer between two of our own sides', () => {
  const side = (sessionId: string) =>
    fc.record({
      address: fc.constantFrom('192.0.2.1', '198.51.100.2'),
      port: fc.integer({ min: 1024, max: 65_535 }),
      sessionId: fc.constant(sessionId),
      codecs: fc.constantFrom(
        ['PCMU', 'PCMA'] as const,
        ['PCMA', 'PCMU'] as const,
        ['PCMA'] as const,
        ['PCMU'] as const,
      ),
      ptimeMs: fc.constantFrom(10, 20, 30, 60),
      dtmfPayloadType: fc.integer({ min: 96, max: 127 }),
      direction: fc.constantFrom('sendrecv', 'sendonly', 'recvonly', 'inactive'),
      random: fc.nat().map(seed => new SeededRandom(seed + Number(sessionId) * 2 ** 31)),
    })

  it('both sides agree: keys cross, directions mirror, codec and payload types match', () => {
    const property = fc.property(side('0'), side('1'), fc.boolean(), (offerer, answerer, secure) => {
      const security: LocalMedia['security'] = secure ? 'srtp-required' : 'rtp-only'
      const { offer, pending } = createOffer({ ...offerer, security })
      const planned = planAnswer({ ...answerer, security }, offer)
      const common = offerer.codecs.some(name => (answerer.codecs as readonly string[]).includes(name))
      expect(planned.ok).toBe(common)
      if (!planned.ok) return
      const accepted = acceptAnswer(pending, planned.answer)
      if (!accepted.ok) throw new Error(accepted.detail)
      const [theirs, ours] = [planned.parameters, accepted.parameters]
      expect(ours.remote).toEqual({ address: answerer.address, port: answerer.port })
      expect(theirs.remote).toEqual({ address: offerer.address, port: offerer.port })
      const mirrored = {
        sendrecv: 'sendrecv',
        sendonly: 'recvonly',
        recvonly: 'sendonly',
        inactive: 'inactive',
      } as const
      expect(ours.direction).toBe(mirrored[theirs.direction])
      expect([ours.codec, ours.payloadType, ours.dtmfPayloadType]).toEqual([
        theirs.codec,
        theirs.payloadType,
        theirs.dtmfPayloadType,
      ])
      expect(ours.srtp?.send).toEqual(theirs.srtp?.receive)
      expect(ours.srtp?.receive).toEqual(theirs.srtp?.send)
      expect(ours.srtp !== null).toBe(secure)
    })
    fc.assert(property)
  })
})
