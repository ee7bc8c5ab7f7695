import { describe, expect, it } from 'vitest'
import type { SrtpKey } from '../session/media-session.ts'
import { AesCounterMode } from './aes-counter-mode.ts'
import { deriveRtpKeys } from './key-derivation.ts'
import { SrtpReceiver } from './srtp-receiver.ts'
import { SrtpSender } from './srtp-sender.ts'

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'))
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

const MASTER: SrtpKey = {
  suite: 'AES_CM_128_HMAC_SHA1_80',
  keyAndSalt: hex('e1f97a0d3e018be0d64fa32c06de4139 0ec675ad498afeebb6960b3aabe6'),
}

describe('RFC 3711 B.2: AES-CM keystream', () => {
  it('the AES-CM keystream has the blocks listed in RFC 3711 B.2, from the first to the 65282nd', () => {
    const salt = hex('f0f1f2f3f4f5f6f7f8f9fafbfcfd')
    const keystream = new Uint8Array(0xff02 * 16)
    new AesCounterMode(hex('2b7e151628aed2a6abf7158809cf4f3c'), salt).apply(keystream, 0, keystream.length, 0, 0)
    const block = (counter: number): string => toHex(keystream.subarray(counter * 16, counter * 16 + 16))
    expect(block(0x0000)).toBe('e03ead0935c95e80e166b16dd92b4eb4')
    expect(block(0x0001)).toBe('d23513162b02d0f72a43a2fe4a5f97ab')
    expect(block(0x0002)).toBe('41e95b3bb0a2e8dd477901e4fca894c0')
    expect(block(0xfeff)).toBe('ec8cdf7398607cb0f2d21675ea9ea1e4')
    expect(block(0xff00)).toBe('362b7c3c6773516318a077d7fc5073ae')
    expect(block(0xff01)).toBe('6a2cc3787889374fbeb4c81b17ba6c44')
  })
})

describe('RFC 3711 B.3: key derivation', () => {
  it('key derivation gives the session keys listed in RFC 3711 B.3', () => {
    const keys = deriveRtpKeys(MASTER)
    expect(toHex(keys.encryption)).toBe('c61e7a93744f39ee10734afe3ff7a087')
    expect(toHex(keys.salt)).toBe('30cbbc08863d8c85d49db34a9ae1')
    expect(toHex(keys.authentication)).toBe('cebe321f6ff7716b6fd4ab49af256a156d38baa4')
  })
})

/** The packets that libsrtp checks itself with, under the master key of B.3. */
describe('packets of an independent implementation', () => {
  const RTP = '800f1234decafbadcafebabe abababababababababababababababab'
  const SRTP = '800f1234decafbadcafebabe 4e55dc4ce79978d88ca4d215949d2402 b78d6acc99ea179b8dbb'
  const RTCP = '81c8000bcafebabe abababababababababababababababab'
  const SRTCP = '81c8000bcafebabe 7128035be487b9bdbef89041f977a5a8 80000001 993e08cd54d6c1230798'

  it('SRTP packets are the same bytes as those of an independent implementation, both ways', () => {
    const packet = new Uint8Array(38)
    packet.set(hex(RTP))
    expect(new SrtpSender(MASTER).protect(packet, 28)).toBe(38)
    expect(toHex(packet)).toBe(toHex(hex(SRTP)))
    expect(new SrtpReceiver(MASTER).unprotect(packet, 38)).toBe(28)
    expect(toHex(packet.subarray(0, 28))).toBe(toHex(hex(RTP)))
  })

  it('SRTCP packets are the same bytes as those of an independent implementation, both ways (its first index is 1)', () => {
    const sender = new SrtpSender(MASTER)
    sender.protectRtcp(new Uint8Array([...hex(RTCP), ...new Uint8Array(14)]), 24)
    const packet = new Uint8Array(38)
    packet.set(hex(RTCP))
    expect(sender.protectRtcp(packet, 24)).toBe(38)
    expect(toHex(packet)).toBe(toHex(hex(SRTCP)))
    expect(new SrtpReceiver(MASTER).unprotectRtcp(packet, 38)).toBe(24)
    expect(toHex(packet.subarray(0, 24))).toBe(toHex(hex(RTCP)))
  })
})
