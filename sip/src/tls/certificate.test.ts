import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { SeededRandom } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { issueCertificate } from './certificate.ts'
import { element, integer, objectIdentifier, time } from './der.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('DER', () => {
  it('lengths, integers, object identifiers and times are encoded as X.690 requires', () => {
    expect(hex(element(0x04, new Uint8Array(127))).slice(0, 4)).toBe('047f')
    expect(hex(element(0x04, new Uint8Array(128))).slice(0, 6)).toBe('048180')
    expect(hex(element(0x04, new Uint8Array(300))).slice(0, 8)).toBe('0482012c')
    expect(hex(integer(Uint8Array.of(0)))).toBe('020100')
    expect(hex(integer(Uint8Array.of(0, 0, 127)))).toBe('02017f')
    expect(hex(integer(Uint8Array.of(128)))).toBe('02020080')
    expect(hex(objectIdentifier('1.2.840.113549.1.1.11'))).toBe('06092a864886f70d01010b')
    expect(Buffer.from(time(Date.UTC(2049, 11, 31, 23, 59, 59)).subarray(2)).toString()).toBe('491231235959Z')
    expect(Buffer.from(time(Date.UTC(2050, 0, 1)).subarray(2)).toString()).toBe('20500101000000Z')
  })
})

describe('certificates', () => {
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const issue = (names: readonly string[], addresses: readonly string[], seed = 1) =>
    issueCertificate({
      subject: 'Prüfling',
      publicKey: key.publicKey,
      issuer: { name: 'Autorität', ...key },
      notBefore: Date.UTC(2020, 1, 29, 12),
      notAfter: Date.UTC(2060, 0, 1),
      use: { names, addresses },
      random: new SeededRandom(seed),
    })

  it('a certificate contains the requested names, addresses and validity', () => {
    const certificate = new X509Certificate(issue(['a.example', 'b.example'], ['192.0.2.1', '2001:db8::1']))
    expect(certificate.verify(key.publicKey)).toBe(true)
    expect(certificate.checkPrivateKey(key.privateKey)).toBe(true)
    expect(certificate).toMatchObject({
      ca: false,
      subject: 'CN=Prüfling',
      issuer: 'CN=Autorität',
      validFrom: 'Feb 29 12:00:00 2020 GMT',
      validTo: 'Jan  1 00:00:00 2060 GMT',
      subjectAltName: 'DNS:a.example, DNS:b.example, IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1',
    })
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'])
    expect(certificate.checkHost('b.example')).toBe('b.example')
    expect(certificate.checkHost('c.example')).toBeUndefined()
    expect(certificate.checkIP('2001:db8::1')).toBe('2001:db8::1')
  })

  it('serial numbers of issued certificates are positive and unique', () => {
    const seeds = fc.uniqueArray(fc.integer({ min: 1, max: 2 ** 31 }), { minLength: 2, maxLength: 4 })
    const check = (chosen: number[]) => {
      const serials = chosen.map(seed => new X509Certificate(issue(['a.example'], [], seed)).serialNumber)
      expect(new Set(serials).size).toBe(chosen.length)
      for (const serial of serials) expect(serial).toMatch(/^[4-7][0-9A-F]{31}$/)
    }
    fc.assert(fc.property(seeds, check), { numRuns: 10 })
  })

  it('invalid host names and addresses are refused', () => {
    expect(() => issue(['a example'], [])).toThrow(expect.objectContaining({ code: 'bad_name' }))
    expect(() => issue(['ünicode.example'], [])).toThrow(expect.objectContaining({ code: 'bad_name' }))
    expect(() => issue([], ['192.0.2'])).toThrow(expect.objectContaining({ code: 'bad_name' }))
  })
})
