import { describe, expect, it } from 'vitest'
import { formatCrypto, parseCrypto, usableKey } from './sdes.ts'

describe('a=crypto lines of RFC 4568', () => {
  it('lifetime, MKI and session parameters of RFC 4568 sections 4.1 and 9.2 are parsed', () => {
    const first = '1 AES_CM_128_HMAC_SHA1_80 inline:PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR|2^20|1:32'
    expect(parseCrypto(first)).toEqual({
      tag: 1,
      suite: 'AES_CM_128_HMAC_SHA1_80',
      keyAndSalt: new Uint8Array(Buffer.from('PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR', 'base64')),
      lifetimePackets: 2n ** 20n,
      mki: { value: 1n, length: 32 },
      sessionParameters: [],
    })
    const second =
      '2 AES_CM_128_HMAC_SHA1_32 inline:NzB4d1BINUAvLEw6UzF3WSJ+PSdFcGdUJShpX1Zj|2^20 KDR=1 UNENCRYPTED_SRTCP'
    expect(parseCrypto(second)).toMatchObject({
      tag: 2,
      mki: null,
      sessionParameters: ['KDR=1', 'UNENCRYPTED_SRTCP'],
    })
    for (const line of [first, second]) expect(formatCrypto(parseCrypto(line)!)).toBe(line)
  })

  it('a crypto line with several keys (section 6.1) is not usable', () => {
    const several =
      '2 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz|2^20|1:4;inline:OWVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz|2^20|2:4'
    expect(parseCrypto(several)).toBeNull()
    expect(parseCrypto(several.replaceAll(/\|\d:4/g, ''))).toBeNull()
  })

  it('a crypto line with an MKI is usable, unless the value does not fit its length (section 6.1)', () => {
    const line = (mki: string) =>
      parseCrypto(`1 AES_CM_128_HMAC_SHA1_80 inline:PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR|2^31|${mki}`)!
    expect(usableKey(line('258:4'))?.mki).toEqual(Uint8Array.of(0, 0, 1, 2))
    expect(usableKey(line('255:1'))?.mki).toEqual(Uint8Array.of(255))
    expect(usableKey(line('256:1'))).toBeNull()
  })

  it('SRTP keys are read with and without base64 padding', () => {
    const bare = '1 AEAD_AES_256_GCM inline:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    expect(parseCrypto(bare)).toEqual(parseCrypto(`${bare}=`))
    expect(parseCrypto(bare)!.keyAndSalt.length).toBe(44)
  })

  it('keys with their salt have the length of their suite (RFC 6188, RFC 7714 section 12), and no other is usable', () => {
    const line = (suite: string, bytes: number) =>
      parseCrypto(`1 ${suite} inline:${Buffer.alloc(bytes, 7).toString('base64')}`)!
    for (const [suite, length] of [
      ['AEAD_AES_128_GCM', 28],
      ['AEAD_AES_256_GCM', 44],
      ['AES_CM_128_HMAC_SHA1_80', 30],
      ['AES_256_CM_HMAC_SHA1_80', 46],
      ['AES_256_CM_HMAC_SHA1_32', 46],
    ] as const) {
      for (const bytes of [28, 30, 44, 46]) {
        const expected = bytes === length ? { suite, keyAndSalt: new Uint8Array(length).fill(7) } : null
        expect(usableKey(line(suite, bytes))).toEqual(expected)
      }
    }
    expect(usableKey(line('AEAD_AES_128_GCM_8', 28))).toBeNull()
  })

  it.each([
    '',
    '1 AES_CM_128_HMAC_SHA1_80',
    '1 AES_CM_128_HMAC_SHA1_80 outline:AAAA',
    '01 AES_CM_128_HMAC_SHA1_80 inline:AAAA',
    '1234567890 AES_CM_128_HMAC_SHA1_80 inline:AAAA',
    '1 AES_CM_128_HMAC_SHA1_80 inline:AAA*',
    '1 AES_CM_128_HMAC_SHA1_80 inline:AAAAA',
    '1 AES_CM_128_HMAC_SHA1_80 inline:AA=',
    '1 AES_CM_128_HMAC_SHA1_80 inline:',
    '1 AES_CM_128_HMAC_SHA1_80 inline:AAAA|2^49',
    '1 AES_CM_128_HMAC_SHA1_80 inline:AAAA|0',
    '1 AES_CM_128_HMAC_SHA1_80 inline:AAAA|1:4|2^20',
    '1 AES_CM_128_HMAC_SHA1_80 inline:AAAA|1:0',
    '1 AES_CM_128_HMAC_SHA1_80 inline:AAAA|1:129',
    `1 AES_CM_128_HMAC_SHA1_80 inline:${'A'.repeat(200)}`,
  ])('the crypto line %j is refused', line => {
    expect(parseCrypto(line)).toBeNull()
  })
})
