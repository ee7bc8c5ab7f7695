import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { HmacSha1 } from './hmac-sha1.ts'
import { Sha1State } from './sha1.ts'

const ascii = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'ascii'))
const repeated = (byte: number, count: number): Uint8Array => new Uint8Array(count).fill(byte)
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

function sha1(message: Uint8Array): string {
  const state = new Sha1State()
  const digest = new Uint8Array(20)
  state.finish(message, message.length, 0)
  state.write(digest)
  return toHex(digest)
}

function hmac(key: Uint8Array, message: Uint8Array): string {
  const mac = new HmacSha1(key)
  mac.compute(message, message.length)
  return toHex(mac.digest)
}

describe('SHA-1 (FIPS 180-4)', () => {
  it.each([
    [ascii(''), 'da39a3ee5e6b4b0d3255bfef95601890afd80709'],
    [ascii('abc'), 'a9993e364706816aba3e25717850c26c9cd0d89d'],
    [ascii('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq'), '84983e441c3bd26ebaae4aa1f95129e5e54670f1'],
    [repeated(0x61, 1_000_000), '34aa973cd4c4daa4f61eeb2bdbad27316534016f'],
  ])('SHA-1 gives the digest of test vector %#', (message, digest) => {
    expect(sha1(message)).toBe(digest)
  })
})

describe('HMAC-SHA1 (RFC 2202)', () => {
  it.each([
    [repeated(0x0b, 20), ascii('Hi There'), 'b617318655057264e28bc0b6fb378c8ef146be00'],
    [ascii('Jefe'), ascii('what do ya want for nothing?'), 'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79'],
    [repeated(0xaa, 20), repeated(0xdd, 50), '125d7342b9ac11cd91a39af48aa17b4f63f175d3'],
    [
      repeated(0xaa, 80),
      ascii('Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data'),
      'e8e99d0f45237d786d6bbaa7965c7808bbff1a91',
    ],
  ])('HMAC-SHA1 gives the digest of test vector %#', (key, message, digest) => {
    expect(hmac(key, message)).toBe(digest)
  })

  it('one HMAC-SHA1 object agrees with OpenSSL at every length around the block boundaries', () => {
    const key = createHash('sha1').update('key').digest()
    const mac = new HmacSha1(key)
    const message = Uint8Array.from({ length: 1500 }, (_, i) => (i * 167) >>> 3)
    for (const length of [...Array.from({ length: 200 }, (_, i) => i), 511, 512, 1499]) {
      mac.compute(message, length)
      const expected = createHmac('sha1', key).update(message.subarray(0, length)).digest('hex')
      expect(toHex(mac.digest), `${length} bytes`).toBe(expected)
    }
  })
})
