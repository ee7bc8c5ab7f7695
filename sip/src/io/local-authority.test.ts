import { X509Certificate } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ensureLocalCertificate } from './local-authority.ts'

const DAY = 86_400_000

describe('the local certificate authority', () => {
  let home: string
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'parley-authority-'))
  })
  afterEach(() => rm(home, { recursive: true, force: true }))

  it('the certificate is signed by the local authority, keys are readable by the owner only, and both are reused', async () => {
    const made = await ensureLocalCertificate(home)
    const certificate = new X509Certificate(made.cert)
    const authority = new X509Certificate(made.ca)
    expect(certificate.checkIssued(authority) && certificate.verify(authority.publicKey)).toBe(true)
    expect(authority.ca).toBe(true)
    expect(certificate.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1')
    expect(certificate.publicKey.asymmetricKeyDetails?.modulusLength).toBe(2048)
    const days = (Date.parse(certificate.validTo) - Date.now()) / DAY
    expect(Math.round(days)).toBe(825)
    expect(await readFile(made.caPath, 'utf8')).toBe(made.ca)
    for (const name of ['authority.pem', 'server.pem'])
      expect((await stat(join(home, 'tls', name))).mode & 0o777).toBe(0o600)
    expect(await ensureLocalCertificate(home)).toEqual(made)
    expect((await readdir(join(home, 'tls'))).sort()).toEqual(['authority.pem', 'ca.pem', 'server.pem'])
  })

  it('renews the certificate 30 days before its end and when names change, under the same authority', async () => {
    const now = Date.now()
    const made = await ensureLocalCertificate(home, { now })
    expect((await ensureLocalCertificate(home, { now: now + 794 * DAY })).cert).toBe(made.cert)
    const renewed = await ensureLocalCertificate(home, { now: now + 796 * DAY })
    expect(renewed.cert).not.toBe(made.cert)
    expect(renewed.ca).toBe(made.ca)
    const addresses = ['127.0.0.1', '2001:db8::1']
    const wider = await ensureLocalCertificate(home, { now: now + 796 * DAY, addresses })
    expect(new X509Certificate(wider.cert).checkIP('2001:db8::1')).toBeDefined()
    expect(await ensureLocalCertificate(home, { now: now + 796 * DAY, addresses: addresses.toReversed() })).toEqual(
      wider,
    )
  })

  it('a new authority is made when the old one would expire before a certificate', async () => {
    const now = Date.now()
    const made = await ensureLocalCertificate(home, { now })
    const later = await ensureLocalCertificate(home, { now: now + 3000 * DAY })
    expect(later.ca).not.toBe(made.ca)
    expect(new X509Certificate(later.cert).verify(new X509Certificate(later.ca).publicKey)).toBe(true)
  })

  it('broken files are replaced', async () => {
    await ensureLocalCertificate(home)
    await writeFile(join(home, 'tls', 'server.pem'), '-----BEGIN PRIVATE KEY-----\nx')
    await writeFile(join(home, 'tls', 'authority.pem'), 'garbage -----BEGIN CERTIFICATE-----')
    const made = await ensureLocalCertificate(home)
    expect(new X509Certificate(made.cert).verify(new X509Certificate(made.ca).publicKey)).toBe(true)
    expect(await ensureLocalCertificate(home)).toEqual(made)
  })

  it('processes that start at the same time share one authority', async () => {
    const made = await Promise.all(Array.from({ length: 4 }, () => ensureLocalCertificate(home)))
    expect(new Set(made.map(each => each.ca)).size).toBe(1)
    for (const each of made)
      expect(new X509Certificate(each.cert).verify(new X509Certificate(each.ca).publicKey)).toBe(true)
  })
})
