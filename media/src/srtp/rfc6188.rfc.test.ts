import { describe, expect, it } from 'vitest'
import type { SrtpKey } from '../session/media-session.ts'
import { deriveRtpKeys } from './key-derivation.ts'
import { SrtpReceiver } from './srtp-receiver.ts'
import { SrtpSender } from './srtp-sender.ts'

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'))
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const MASTER: SrtpKey = {
  suite: 'AES_256_CM_HMAC_SHA1_80',
  keyAndSalt: hex('f0f04914b513f2763a1b1fa130f10e2998f6f6e43e4309d1e622a0e332b9f1b6 3b04803de51ee7c96423ab5b78d2'),
}

describe('RFC 6188: AES-256 counter mode', () => {
  it('key derivation gives the session keys listed in section 7.2', () => {
    const keys = deriveRtpKeys(MASTER)
    expect(toHex(keys.encryption)).toBe('5ba1064e30ec51613cad926c5a28ef731ec7fb397f70a960653caf06554cd8c4')
    expect(toHex(keys.salt)).toBe('fa31791685ca444a9e07c6c64e93')
    expect(toHex(keys.authentication)).toBe('fd9c32d39ed5fbb5a9dc96b30818454d1313dc05')
  })

  it('packets are the same bytes as those of an independent implementation (libsrtp), both ways', () => {
    const rtp = '800f1234decafbadcafebabe abababababababababababababababab'
    const srtp = '800f1234decafbadcafebabe f1d9de17ff251ff1aa007774b0b4b40d a08d9d9a5b3a55d8873b'
    const packet = new Uint8Array(38)
    packet.set(hex(rtp))
    expect(new SrtpSender(MASTER).protect(packet, 28)).toBe(38)
    expect(toHex(packet)).toBe(toHex(hex(srtp)))
    expect(new SrtpReceiver(MASTER).unprotect(packet, 38)).toBe(28)
    expect(toHex(packet.subarray(0, 28))).toBe(toHex(hex(rtp)))
  })
})
