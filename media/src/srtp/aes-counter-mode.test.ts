import { createCipheriv } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AesCounterMode } from './aes-counter-mode.ts'

const KEY = Uint8Array.from({ length: 16 }, (_, i) => 7 * i + 1)
const SALT = Uint8Array.from({ length: 14 }, (_, i) => 11 * i + 3)

/** RFC 3711 section 4.1.1 written down directly, one cipher per packet. */
function reference(bytes: Uint8Array, ssrc: number, index: number): Uint8Array {
  const iv = Buffer.concat([SALT, Buffer.alloc(2)])
  iv.writeUInt32BE((iv.readUInt32BE(4) ^ ssrc) >>> 0, 4)
  const low = Buffer.alloc(6)
  low.writeUIntBE(index, 0, 6)
  for (let i = 0; i < 6; i++) iv[8 + i] = iv[8 + i]! ^ low[i]!
  return createCipheriv('aes-128-ctr', KEY, iv).update(bytes)
}

describe('AES in counter mode', () => {
  it('each packet is encrypted independently, in any order of sources, indexes and lengths', () => {
    const packet = fc.record({
      ssrc: fc.constantFrom(1, 2, 0xfedcba98),
      // Neighbours, and the places where the index carries.
      index: fc.oneof(
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 0xfff0, max: 0x10010 }),
        fc.constant(2 ** 48 - 1),
      ),
      length: fc.constantFrom(0, 1, 16, 160, 170, 192, 193, 480, 1500),
      offset: fc.constantFrom(0, 12),
    })
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 60 }), packets => {
        const cipher = new AesCounterMode(KEY, SALT)
        for (const { ssrc, index, length, offset } of packets) {
          const clear = Uint8Array.from({ length: offset + length + 3 }, (_, i) => 5 * i + index)
          const sealed = clear.slice()
          cipher.apply(sealed, offset, offset + length, ssrc, index)
          expect(Buffer.from(sealed.subarray(offset, offset + length))).toEqual(
            Buffer.from(reference(clear.subarray(offset, offset + length), ssrc, index)),
          )
          expect(sealed.subarray(0, offset)).toEqual(clear.subarray(0, offset))
          expect(sealed.subarray(offset + length)).toEqual(clear.subarray(offset + length))
        }
      }),
    )
  })
})
