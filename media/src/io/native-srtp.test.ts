import { randomBelow, randomUint32, SeededRandom } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tryForgeries } from '../../fuzz/srtp-forgeries.ts'
import { writeRtpHeader } from '../rtp/rtp-packet.ts'
import { SrtpReceiver } from '../srtp/srtp-receiver.ts'
import { SrtpSender } from '../srtp/srtp-sender.ts'
import { keyAndSaltBytes, SRTP_SUITES } from '../srtp/srtp-suite.ts'
import type { SrtpTransforms } from '../srtp/srtp-transform.ts'
import { portableTransforms, rtpTransform } from '../srtp/transform-for-key.ts'
import { loadNativeAddon } from './native-packet-io.ts'
import { nativeTransforms } from './native-srtp.ts'

const addon = loadNativeAddon()
const missing = typeof addon === 'string'
const note = missing ? ` (skipped: ${addon})` : ''
const MOST_PAYLOAD = 1400
const ROOM = 16

const native = (hardware = true): SrtpTransforms => nativeTransforms(addon as Exclude<typeof addon, string>, hardware)

describe.skipIf(missing)(`SRTP in C++${note}`, () => {
  describe.each(SRTP_SUITES)('%s', suite => {
    const keyOf = (seed: number) => ({ suite, keyAndSalt: new SeededRandom(seed).bytes(keyAndSaltBytes(suite)) })

    it.each([
      { hardware: true, by: 'the processor where it can' },
      { hardware: false, by: 'OpenSSL' },
    ])(
      `${suite}: native packets by $by are byte for byte those of the portable transform, which each can open, with any header, length, SSRC and index`,
      ({ hardware }) => {
        const random = new SeededRandom(1)
        const [ours, theirs] = [rtpTransform(keyOf(1), native(hardware)), rtpTransform(keyOf(1), portableTransforms)]
        for (let round = 0; round < 500; round++) {
          const header = 12 + 4 * randomBelow(random, 20)
          const length = header + randomBelow(random, MOST_PAYLOAD)
          const ssrc = randomUint32(random)
          const index = randomUint32(random) * 2 ** randomBelow(random, 17)
          const plain = random.bytes(length + ROOM)
          const [a, b] = [plain.slice(), plain.slice()]
          const sealed = theirs.seal(b, header, length, ssrc, index)
          expect(ours.seal(a, header, length, ssrc, index)).toBe(sealed)
          expect(a).toEqual(b)
          expect(ours.authentic(a, header, sealed, ssrc, index)).toBe(true)
          expect(a).toEqual(b)
          expect(ours.open(a, header, sealed, ssrc, index)).toBe(length)
          expect(a.subarray(0, length)).toEqual(plain.subarray(0, length))
          expect(theirs.authentic(b, header, sealed, ssrc, index)).toBe(true)
        }
      },
    )

    it(`${suite}: a change of any bit or of the rollover counter is found, and the packet stays as it is`, () => {
      const transform = rtpTransform(keyOf(2), native())
      const packet = new SeededRandom(2).bytes(60 + ROOM)
      const sealed = transform.seal(packet, 12, 60, 7, 65_536)
      for (let bit = 0; bit < sealed * 8; bit++) {
        packet[bit >>> 3]! ^= 1 << (bit & 7)
        const changed = packet.slice()
        expect(transform.authentic(packet, 12, sealed, 7, 65_536), `bit ${bit}`).toBe(false)
        expect(packet).toEqual(changed)
        packet[bit >>> 3]! ^= 1 << (bit & 7)
      }
      expect(transform.authentic(packet, 12, sealed, 7, 0)).toBe(false)
      expect(transform.authentic(packet, 12, 20, 7, 65_536)).toBe(false)
      expect(transform.authentic(packet, 12, sealed, 7, 65_536)).toBe(true)
    })

    it(`${suite}: no forged, replayed or damaged packet is accepted by a native receiver, and none changes its state`, () => {
      const receiver = new SrtpReceiver(keyOf(3), null, native())
      expect(tryForgeries(4000, 3, suite, receiver)).toEqual({ attempts: 4000, accepted: 0, disturbed: 0 })
    })
  })

  it('a call may use portable and native transforms by turns: both count alike', () => {
    const key = { suite: SRTP_SUITES[0]!, keyAndSalt: new SeededRandom(4).bytes(30) }
    const senders = [new SrtpSender(key), new SrtpSender(key, native())]
    const receivers = [new SrtpReceiver(key, null, native()), new SrtpReceiver(key)]
    for (let i = 65_500; i < 65_600; i++) {
      const packets = senders.map(sender => {
        const packet = new Uint8Array(200)
        writeRtpHeader(packet, 0, false, i & 0xffff, i * 160, 9)
        expect(sender.protect(packet, 172)).toBe(182)
        return packet
      })
      expect(packets[0]).toEqual(packets[1])
      for (const receiver of receivers) expect(receiver.unprotect(packets[0]!.slice(), 182)).toBe(172)
    }
    expect(receivers.map(receiver => receiver.rollover)).toEqual([1, 1])
  })

  it('arguments of any kind lead to a result or a TypeError, never further', () => {
    const { RtpTransform } = addon as Exclude<typeof addon, string>
    const transform = new RtpTransform(new Uint8Array(16), new Uint8Array(20), new Uint8Array(14), 10, true)
    const gcm = new RtpTransform(new Uint8Array(32), new Uint8Array(0), new Uint8Array(12), 16, true)
    const odd = fc.oneof(
      fc.constantFrom(undefined, null, -1, 1e300, Number.NaN, '12', {}, new Uint16Array(8), new Uint8Array(0)),
      fc.integer({ min: 0, max: 40 }),
      fc.uint8Array({ maxLength: 60 }),
    )
    const attempt = (method: (...args: never[]) => unknown, on: unknown, args: readonly unknown[]) => {
      try {
        Reflect.apply(method, on, args)
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError)
      }
    }
    const property = fc.property(fc.array(odd, { maxLength: 6 }), args => {
      for (const on of [transform, gcm, {}, null])
        for (const method of [transform.seal, transform.authentic, transform.open]) attempt(method, on, args)
      attempt(
        (...given) => new RtpTransform(...(given as unknown as ConstructorParameters<typeof RtpTransform>)),
        null,
        args,
      )
    })
    fc.assert(property, { numRuns: 500 })
  })
})
