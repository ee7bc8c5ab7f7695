import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect as dialTcp, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer, type TLSSocket, type TlsOptions } from 'node:tls'
import { systemRandom } from '@parley/kernel'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { issueCertificate } from '../tls/certificate.ts'
import type { Target } from '../transport/transport.ts'
import { ensureLocalCertificate } from './local-authority.ts'
import { options, TransportFixture, turn } from './socket-transport.fixture.ts'

let bench: TransportFixture
let otherHome: TransportFixture
beforeEach(() => {
  bench = new TransportFixture()
  otherHome = new TransportFixture('another authority')
})
afterEach(async () => {
  await bench.close()
  await otherHome.close()
})

/** A TLS server that is not ours. */
async function foreignServer(changes: TlsOptions, onConnection: (socket: TLSSocket) => void): Promise<Target> {
  const { cert, key } = await bench.certificate()
  const server = createServer({ cert, key, ...changes }, onConnection)
  const sockets = new Set<Socket>()
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  bench.defer(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as { port: number }
  return { address: '127.0.0.1', port, transport: 'tls', serverName: 'localhost' }
}

async function failureOf(target: Target): Promise<string> {
  const client = await bench.endpoint()
  client.send(target, options('secret'))
  const [failure] = await client.until('send-failed')
  expect(client.all('sent')).toEqual([])
  return failure!.code
}

describe('verification of TLS peers', () => {
  it('a server whose certificate has another name is refused before a byte is sent', async () => {
    const server = await bench.endpoint()
    expect(await failureOf(server.target('tls', 'trunk.example'))).toBe('tls_identity')
    expect(await failureOf(server.target('tls', '127.0.0.2'))).toBe('tls_identity')
    expect(server.all('message')).toEqual([])
  })

  it('a sip: URI of the certificate proves its domain (RFC 5922), and proves no other name', async () => {
    const keys = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
    const [authority, leaf] = [keys(), keys()]
    const issuer = { name: 'Carrier authority', ...authority }
    const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 3_600_000, random: systemRandom }
    const ca = issueCertificate({
      subject: issuer.name,
      publicKey: authority.publicKey,
      issuer,
      use: 'authority',
      ...validity,
    })
    const use = {
      names: ['sbc1.carrier.example'],
      addresses: [],
      uris: ['sip:carrier.example', 'sip:user@bank.example'],
    }
    const cert = issueCertificate({ subject: 'sbc1', publicKey: leaf.publicKey, issuer, use, ...validity })
    const key = leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    const server = await bench.endpoint({ tls: { cert, key, ca } })
    const client = await bench.endpoint({ tls: { ...(await bench.certificate()), ca } })
    const names = [
      'Carrier.example',
      'sbc1.carrier.example',
      'sip.carrier.example',
      'bank.example',
      'sip:carrier.example',
    ]
    for (const name of names) client.send(server.target('tls', name), options('one'))
    const sent = await client.until('sent', 2)
    const failed = await client.until('send-failed', 3)
    expect(sent.map(({ flow }) => flow.serverName).sort()).toEqual(['Carrier.example', 'sbc1.carrier.example'])
    expect(failed.map(({ code }) => code)).toEqual(['tls_identity', 'tls_identity', 'tls_identity'])
  })

  it('an address as server name must be in the certificate and is not sent as SNI', async () => {
    const seen: (string | false | null)[] = []
    const target = await foreignServer({}, socket => {
      seen.push(socket.servername)
      socket.write(options('welcome'))
    })
    const client = await bench.endpoint()
    client.send({ ...target, serverName: '127.0.0.1' }, options('one'))
    client.send({ ...target, serverName: 'LOCALHOST' }, options('two'))
    await client.until('message', 2)
    expect(seen.map(String).sort()).toEqual(['LOCALHOST', 'false'])
  })

  it('invalid server names are refused', async () => {
    const server = await bench.endpoint()
    const client = await bench.endpoint()
    const names = [
      '',
      '.',
      '*',
      'a\u0000localhost',
      'localhost\u0000',
      'ünïcode.example',
      'xn--',
      'x'.repeat(70_000),
      '1.2.3',
    ]
    for (const name of names) client.send(server.target('tls', name), options('secret'))
    const failures = await client.until('send-failed', names.length)
    expect(new Set(failures.map(failure => failure.code))).toEqual(new Set(['tls_identity']))
    expect(server.all('message')).toEqual([])
  })

  it('a server must have a certificate of a trusted authority and speak TLS 1.2 or later', async () => {
    const stranger = await otherHome.endpoint()
    expect(await failureOf(stranger.target('tls'))).toBe('tls_failed')
    const old = await foreignServer(
      { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' },
      () => {},
    )
    expect(await failureOf(old)).toBe('tls_failed')
  })

  it('our certificate is presented on request, and no ALPN is offered', async () => {
    const { ca } = await bench.certificate()
    const peers: { name: unknown; alpn: unknown }[] = []
    const asking = { requestCert: true, rejectUnauthorized: true, ca, ALPNProtocols: ['sip'] }
    const target = await foreignServer(asking, socket => {
      peers.push({ name: socket.getPeerCertificate().subjectaltname, alpn: socket.alpnProtocol })
      socket.write(options('welcome'))
    })
    const client = await bench.endpoint()
    client.send(target, options('one'))
    await client.until('message')
    expect(peers).toEqual([{ name: 'DNS:localhost, IP Address:127.0.0.1', alpn: false }])
  })

  it('a handshake that the server never finishes or resets fails within the time limit', async () => {
    const silent = await bench.rawServer(() => {})
    const client = await bench.endpoint({ limits: { handshakeMs: 60 } })
    client.send({ ...silent, transport: 'tls' }, options('one'))
    const [failure] = await client.until('send-failed')
    expect(failure!.code).toBe('timeout')
    const resetting = await bench.rawServer(socket => socket.once('data', () => socket.resetAndDestroy()))
    expect(await failureOf({ ...resetting, transport: 'tls' })).toBe('tls_failed')
  })
})

describe('the certificate of the listener', () => {
  it('the certificate is replaced while open connections continue', async () => {
    const server = await bench.endpoint()
    const client = await bench.endpoint()
    client.send(server.target('tls'), options('one'))
    const [first] = await server.until('message')
    const next = await otherHome.certificate()
    server.transport.replaceCertificate({ ...next, ca: (await bench.certificate()).ca })
    const newcomer = await otherHome.endpoint()
    newcomer.send(server.target('tls'), options('two'))
    await server.until('message', 2)
    expect(await failureOf(server.target('tls'))).toBe('tls_failed')
    server.send(first!.flow, options('three'))
    await client.until('message')
    expect([...client.all('flow-closed'), ...server.all('flow-closed')]).toEqual([])
  })

  it('TLS 1.2 with static RSA, which some carriers use, is accepted, and older versions are not', async () => {
    const server = await bench.endpoint()
    const { ca } = await bench.certificate()
    const { port } = server.target('tls')
    const dial = (changes: object) => connect({ port, host: '127.0.0.1', servername: 'localhost', ca, ...changes })
    const carrier = dial({ maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA' })
    bench.defer(() => carrier.destroy())
    await once(carrier, 'secureConnect')
    expect(carrier.getCipher().standardName).toBe('TLS_RSA_WITH_AES_128_CBC_SHA')
    const old = dial({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' })
    await expect(once(old, 'secureConnect')).rejects.toThrow()
  })
})

describe('a certificate that cannot be used', () => {
  it('an unusable certificate is refused when opening and when replacing, and the old one stays in use', async () => {
    const ours = await bench.certificate()
    const torn = { ...ours, key: (await otherHome.certificate()).key }
    await expect(bench.endpoint({ tls: torn })).rejects.toMatchObject({ code: 'bad_certificate' })
    const server = await bench.endpoint()
    const bad = expect.objectContaining({ code: 'bad_certificate' })
    expect(() => server.transport.replaceCertificate({ ...ours, cert: 'no PEM' })).toThrow(bad)
    const client = await bench.endpoint()
    client.send(server.target('tls'), options('one'))
    await server.until('message')
  })
})

describe('the end of a TLS connection', () => {
  async function established() {
    const server = await bench.endpoint()
    const { ca } = await bench.certificate()
    const raw = await bench.rawClient(server.target('tls').port)
    raw.socket.removeAllListeners('data')
    const secured = connect({ socket: raw.socket, ca, servername: 'localhost' })
    secured.on('error', () => {})
    await once(secured, 'secureConnect')
    secured.write(options('one'))
    await server.until('message')
    return { server, raw, secured }
  }

  it('a connection that ends without close_notify counts as an ordinary end', async () => {
    const { server, raw } = await established()
    raw.socket.end()
    expect(await server.until('flow-closed')).toMatchObject([{ code: 'closed' }])
  })

  it('a reset connection is reported as reset', async () => {
    const server = await bench.endpoint()
    const { port } = server.target('tls')
    let reset = () => {}
    const between = await bench.rawServer(near => {
      const far = dialTcp(port, '127.0.0.1')
      near.pipe(far).pipe(near)
      reset = () => far.resetAndDestroy()
    })
    const client = await bench.endpoint()
    client.send({ ...between, transport: 'tls' }, options('one'))
    await server.until('message')
    // During the delivery of a message Node would report the reset as an ordinary end.
    await turn()
    reset()
    expect(await server.until('flow-closed')).toMatchObject([{ code: 'reset' }])
  })

  it('our close sends the end of the stream to the peer', async () => {
    const { server, secured } = await established()
    secured.resume()
    server.transport.submit({ type: 'close-flow', flow: server.all('message')[0]!.flow })
    await once(secured, 'end')
    await server.untilTrue(() => server.all('flow-closed').length === 1)
  })
})

describe('a certificate for more names', () => {
  it('a certificate with several names is valid for each of them', async () => {
    const home = await mkdtemp(join(tmpdir(), 'parley-names-'))
    bench.defer(() => rm(home, { recursive: true }))
    const names = ['localhost', 'engine-1.example']
    const tls = await ensureLocalCertificate(home, { names, addresses: ['127.0.0.1', '::1'] })
    const server = await bench.endpoint({ tls, bind: '::1' })
    const client = await bench.endpoint({ tls })
    for (const name of ['engine-1.example', '::1']) client.send(server.target('tls', name), options('one'))
    const sent = await client.until('sent', 2)
    expect(sent.map(input => input.flow.serverName)).toEqual(['engine-1.example', '::1'])
    expect(sent[0]!.flow.id).not.toBe(sent[1]!.flow.id)
  })
})
