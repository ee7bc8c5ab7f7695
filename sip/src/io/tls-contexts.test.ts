import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ensureLocalCertificate } from './local-authority.ts'
import { ClientContexts } from './tls-contexts.ts'

/** The suite that a TLS 1.2 server with Node's own list agrees on with us, for a trunk whose suites are `ciphers`. */
async function agreed(ciphers: string | undefined): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'parley-ciphers.'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const identity = await ensureLocalCertificate(home, { names: ['localhost'], addresses: ['127.0.0.1'] })
  const server = createServer({ cert: identity.cert, key: identity.key, maxVersion: 'TLSv1.2' })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const ciphersByName = new Map(ciphers === undefined ? [] : [['localhost', ciphers]])
  const contexts = new ClientContexts({ ...identity, ciphersByName })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const socket: TLSSocket = connect({
    host: '127.0.0.1',
    port,
    servername: 'localhost',
    secureContext: contexts.for('LOCALHOST'),
  })
  onTestFinished(() => void socket.destroy())
  await new Promise<void>((resolve, reject) => socket.once('secureConnect', () => resolve()).once('error', reject))
  expect(socket.authorized).toBe(true)
  return socket.getCipher().name
}

describe('cipher suites towards a trunk', () => {
  it('cipher suites towards a trunk are Node’s own by default', async () => {
    expect(await agreed(undefined)).toMatch(/^ECDHE-RSA-AES/)
  })

  it('cipher suites towards a trunk are those of the trunk where it has any: a carrier that knows only static RSA', async () => {
    expect(await agreed('AES128-SHA')).toBe('AES128-SHA')
  })

  it('that do not exist are told at once', async () => {
    await expect(agreed('NO-SUCH-SUITE')).rejects.toMatchObject({ code: 'bad_certificate' })
  })
})
