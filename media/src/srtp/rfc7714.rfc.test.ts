import { describe, expect, it } from 'vitest'
import { GcmRtcp, GcmRtp } from './gcm-transform.ts'
import { deriveOne, type SessionKeys } from './key-derivation.ts'

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'))
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** The vectors give session keys, not master keys. */
function sessionKeys(bits: 128 | 256): SessionKeys {
  const key = hex('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f')
  return {
    encryption: key.subarray(0, bits / 8),
    authentication: new Uint8Array(0),
    salt: hex('517569642070726f2071756f'),
  }
}

/** "Gallia est omnis divisa in partes tres" with sequence number 0xf17b, rollover counter 0, SSRC 0x5501a0b2. */
const RTP = `8040f17b8041f8d35501a0b2 47616c6c696120657374206f6d6e6973206469766973
  6120696e207061727465732074726573`
const SRTP = {
  128: `8040f17b8041f8d35501a0b2 f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d29
    4e6f42a5f47a51c7d19b36de3adf8833 899d7f27beb16a9152cf765ee4390cce`,
  256: `8040f17b8041f8d35501a0b2 32b1de78a822fe12ef9f78fa332e33aab18012389a58
    e2f3b50b2a0276ffae0f1ba63799b87b 7aa3db36dfffd6b0f9bb7878d7a76c13`,
} as const

/** A sender report of SSRC "Mars", as the subsections of section 17 use it; index 0x5d4. */
const RTCP = `81c8000d4d617273 4e5450314e545032525450200000042a0000e9304c756e61
  deadbeefdeadbeefdeadbeefdeadbeefdeadbeef`
const SRTCP = {
  128: `81c8000d4d617273 63e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5f1730d6fda
    4ce09b4686303ded0bb9275b c84aa45896cf4d2fc5abf87245d9eade 800005d4`,
  256: `81c8000d4d617273 d50ae4d1f5ce5d304ba297e47d470c282c3ece5dbffe0a50a2eaa5c1110555be
    8415f658c61de0476f1b6fad 1d1eb30c4446839f57ff6f6cb26ac3be 800005d4`,
} as const

describe.each([128, 256] as const)('RFC 7714, AEAD_AES_%i_GCM', bits => {
  it(`AEAD_AES_${bits}_GCM: SRTP of section 16 both ways; a change of any byte of header, payload or tag is detected`, () => {
    const gcm = new GcmRtp(sessionKeys(bits))
    const plain = hex(RTP)
    const wire = hex(SRTP[bits])
    const packet = new Uint8Array(wire.length)
    packet.set(plain)
    expect(gcm.seal(packet, 12, plain.length, 0x5501a0b2, 0xf17b)).toBe(wire.length)
    expect(toHex(packet)).toBe(toHex(wire))
    for (let i = 0; i < wire.length; i++) {
      packet[i]! ^= 0x10
      expect(gcm.authentic(packet, 12, wire.length, 0x5501a0b2, 0xf17b)).toBe(false)
      packet[i]! ^= 0x10
    }
    expect(gcm.authentic(packet, 12, wire.length, 0x5501a0b2, 0x1f17b)).toBe(false)
    expect(toHex(packet)).toBe(toHex(wire))
    expect(gcm.authentic(packet, 12, wire.length, 0x5501a0b2, 0xf17b)).toBe(true)
    expect(gcm.open(packet, 12, wire.length)).toBe(plain.length)
    expect(toHex(packet.subarray(0, plain.length))).toBe(toHex(plain))
  })

  it(`AEAD_AES_${bits}_GCM: SRTCP of section 17 both ways; flag and index are authenticated`, () => {
    const gcm = new GcmRtcp(sessionKeys(bits))
    const plain = hex(RTCP)
    const wire = hex(SRTCP[bits])
    const packet = new Uint8Array(wire.length)
    packet.set(plain)
    expect(gcm.seal(packet, plain.length, 0x4d617273, 0x5d4)).toBe(wire.length)
    expect(toHex(packet)).toBe(toHex(wire))
    expect(gcm.indexAt(wire.length)).toBe(wire.length - 4)
    for (const i of [0, 7, 8, 51, 52, 67, 68, 71]) {
      packet[i]! ^= 0x80
      expect(gcm.authentic(packet, wire.length, 0x4d617273, true, 0x5d4)).toBe(false)
      packet[i]! ^= 0x80
    }
    expect(gcm.authentic(packet, wire.length, 0x4d617273, false, 0x5d4)).toBe(false)
    expect(gcm.authentic(packet, wire.length, 0x4d617273, true, 0x5d4)).toBe(true)
    expect(gcm.open(packet, wire.length, 0x4d617273, true)).toBe(plain.length)
    expect(toHex(packet.subarray(0, plain.length))).toBe(toHex(plain))
  })
})

describe('RFC 6188 section 7.2: derivation under a master key of 256 bits, as RFC 7714 section 11 asks for', () => {
  it('key derivation with a master key of 256 bits gives the listed session key and salt', () => {
    const master = hex('f0f04914b513f2763a1b1fa130f10e2998f6f6e43e4309d1e622a0e332b9f1b6')
    const salt = hex('3b04803de51ee7c96423ab5b78d2')
    expect(toHex(deriveOne(master, salt, 0, 32))).toBe(
      '5ba1064e30ec51613cad926c5a28ef731ec7fb397f70a960653caf06554cd8c4',
    )
    expect(toHex(deriveOne(master, salt, 2, 14))).toBe('fa31791685ca444a9e07c6c64e93')
  })
})
