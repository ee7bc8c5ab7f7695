import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ensureLocalCertificate } from '@parley/sip'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FakeCarrier, type FakeCarrierOptions, readCarrierLedger } from './fake-carrier.ts'

const SIPP_SCENARIO = new URL('fixtures/uac-digest-hold.xml', import.meta.url).pathname
const PROCESS = new URL('../carrier-process.ts', import.meta.url).pathname

async function open(options: FakeCarrierOptions): Promise<FakeCarrier> {
  const carrier = await FakeCarrier.open(options)
  onTestFinished(() => carrier.close())
  return carrier
}

async function folder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'carrier-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return directory
}

interface Running {
  readonly child: ChildProcess
  readonly ready: { readonly udp: number; readonly tcp: number }
  line(): Promise<Record<string, unknown>>
}

async function start(config: object): Promise<Running> {
  const path = join(await folder(), 'config.json')
  await writeFile(path, JSON.stringify(config))
  const child = spawn(process.execPath, [PROCESS, '--config', path], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  const line = async () => JSON.parse((await lines.next()).value as string) as Record<string, unknown>
  const ready = (await line()) as unknown as Running['ready'] & { ready: boolean }
  expect(ready.ready).toBe(true)
  return { child, ready, line }
}

describe('a carrier over real sockets', () => {
  it('a call over TLS with SRTP and digest is answered and its media received', async () => {
    const tls = await ensureLocalCertificate(await folder())
    const media = { kind: 'srtp', play: 'tone' } as const
    const digest = { realm: 'carrier.test', username: 'engine', password: 'secret' }
    const numbers = [{ number: '+1555', behaviour: { do: 'answer', hangUpAfterMs: 1000 } }] as const
    const carrier = await open({ tls, transports: { tls: 0 }, media, digest, numbers: [...numbers] })
    const caller = await open({ tls, transports: { tls: 0 }, media: { ...media, ports: { from: 50_000, to: 50_100 } } })
    const call = await caller.carrier.call({ uri: carrier.uri('+1555', 'tls'), from: '+1', credentials: digest })
    await call.ended
    const kinds = () => carrier.carrier.ledger.entries.map(({ kind }) => kind)
    await expect.poll(kinds).toContain('media-last-packet')
    // Audio may overtake the ACK, which has a socket of its own.
    expect(kinds().filter(kind => !kind.startsWith('media-'))).toEqual([
      'challenged',
      'invite',
      'ringing',
      'answered',
      'acknowledged',
      'bye-sent',
      'ended',
    ])
    expect(kinds().filter(kind => kind.startsWith('media-'))).toEqual(['media-first-packet', 'media-last-packet'])
    expect(kinds().indexOf('media-first-packet')).toBeLessThan(kinds().indexOf('bye-sent'))
    expect(caller.carrier.ledger.entries.map(({ kind }) => kind)).toContain('media-first-packet')
  })

  it.each(['udp', 'tls'] as const)(
    'a transfer over %s succeeds and reports the outcome of the call to the target',
    async over => {
      const tls = await ensureLocalCertificate(await folder())
      const transports = { udp: 0, tls: 0 }
      const numbers = [
        { number: '+1555', behaviour: { do: 'answer' } },
        { number: '+1777', behaviour: { do: 'answer', afterMs: 300 } },
      ] as const
      const carrier = await open({ tls, transports, media: null, transfers: 'take', numbers: [...numbers] })
      const caller = await open({ tls, transports, media: null })
      const call = await caller.carrier.call({
        uri: carrier.uri('+1555', over),
        from: '+1',
        refer: { to: carrier.uri('+1777', over), afterMs: 100 },
      })
      await call.ended
      await expect.poll(() => carrier.carrier.liveCalls).toBe(0)
      const [transfer, ...more] = carrier.carrier.ledger.query().transfers()
      expect(transfer).toMatchObject({ target: '+1777', referStatus: 202, finalStatus: 200 })
      expect(more).toEqual([])
      expect(carrier.carrier.ledger.query().withoutEnd()).toEqual([])
    },
  )

  it('SIPp authenticates, sends OPTIONS, holds the call and hangs up', async ({ skip }) => {
    try {
      execFileSync('sipp', ['-v'], { stdio: 'ignore', timeout: 5000 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') skip('no sipp on this machine')
    }
    const digest = { realm: 'carrier.test', username: 'engine', password: 'secret', matchUri: false }
    const carrier = await open({ transports: { udp: 0 }, digest })
    const target = `127.0.0.1:${carrier.port('udp')}`
    const options = ['-sf', SIPP_SCENARIO, target, '-s', '+1555', '-i', '127.0.0.1', '-m', '20', '-r', '20']
    const sipp = spawn('sipp', [...options, '-timeout', '50s', '-timeout_error', '-nostdin'], {
      cwd: await folder(),
      stdio: 'ignore',
    })
    onTestFinished(() => void sipp.kill('SIGKILL'))
    const [code] = await once(sipp, 'exit')
    expect(code).toBe(0)
    const calls = carrier.carrier.ledger.query().calls()
    expect(calls).toHaveLength(20)
    expect(calls.every(({ opening, endedAt }) => opening.authenticated && endedAt !== null)).toBe(true)
  })
})

describe('a ledger file on a full disk', () => {
  it.skipIf(!existsSync('/dev/full'))('stops no call, and is told of when the carrier closes', async () => {
    const carrier = await FakeCarrier.open({ transports: { udp: 0 }, media: null, ledgerFile: '/dev/full' })
    const caller = await open({ transports: { udp: 0 }, media: null })
    await (await caller.carrier.call({ uri: carrier.uri('+1'), from: '+2', hangUpAfterMs: 1 })).ended
    expect(carrier.carrier.ledger.query().calls()).toHaveLength(1)
    await expect(carrier.close()).rejects.toMatchObject({ code: 'ENOSPC' })
  })
})

describe('a carrier process', () => {
  it('a carrier process prints its addresses, writes its ledger during calls, places calls on command and ends on SIGTERM', async () => {
    const ledgerFile = join(await folder(), 'ledger.jsonl')
    const far = await open({ transports: { udp: 0 }, media: null })
    const { child, ready, line } = await start({ transports: { udp: 0, tcp: 0 }, media: null, ledgerFile })
    await (
      await far.carrier.call({ uri: `sip:+1555@127.0.0.1:${ready.tcp};transport=tcp`, from: '+1', hangUpAfterMs: 1 })
    ).ended
    child.stdin!.write(
      `${JSON.stringify({ do: 'call', uri: far.uri('token'), from: '+2', called: '+3', count: 3, perSecond: 100 })}\n`,
    )
    child.stdin!.write('nonsense\n')
    // In either order: the calls take 20 ms, and the second command may come later than that.
    const answers = [await line(), await line()]
    expect(answers).toContainEqual({ done: 'call', placed: 3, failed: 0 })
    expect(answers).toContainEqual(expect.objectContaining({ error: expect.anything() }))
    await expect.poll(() => far.carrier.ledger.query().calls().length).toBe(3)
    await expect.poll(async () => (await readCarrierLedger(ledgerFile)).liveAt(1e12, () => true).length).toBe(3)
    child.kill('SIGTERM')
    expect((await once(child, 'exit'))[0]).toBe(0)
    const ledger = await readCarrierLedger(ledgerFile)
    expect(ledger.calls(() => true)).toHaveLength(4)
    expect(ledger.liveAt(1e12, () => true)).toHaveLength(0)
  })

  it('a killed carrier process leaves a readable ledger', async () => {
    const ledgerFile = join(await folder(), 'ledger.jsonl')
    const far = await open({ transports: { udp: 0 }, media: null })
    const { child, ready } = await start({ transports: { udp: 0, tcp: 0 }, media: null, ledgerFile })
    await far.carrier.call({ uri: `sip:+1555@127.0.0.1:${ready.tcp};transport=tcp`, from: '+1' })
    await expect.poll(async () => (await readFile(ledgerFile, 'utf8')).includes('"answered"')).toBe(true)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await writeFile(ledgerFile, '{"at_ms": 1, "ki', { flag: 'a' })
    expect((await readCarrierLedger(ledgerFile)).liveAt(1e12)).toHaveLength(1)
  })

  it('a carrier process survives bytes that are not SIP and still answers calls', async () => {
    const { ready } = await start({ transports: { udp: 0, tcp: 0 }, media: null })
    const hostile = [
      '\0\0\0\0',
      'INVITE sip:x SIP/2.0\r\n\r\n',
      `INVITE sip:+1@h SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bK\r\nX-A: ${'a'.repeat(30_000)}\r\n\r\n`,
      'BYE sip:x@h SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKa\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>;tag=2\r\nCall-ID: 1\r\nCSeq: 1 BYE\r\n\r\n',
      'SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKa\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>;tag=2\r\nCall-ID: 1\r\nCSeq: 1 INVITE\r\n\r\n',
    ]
    const socket = createSocket('udp4')
    for (const bytes of hostile) {
      await new Promise(resolve => socket.send(bytes, ready.udp, '127.0.0.1', resolve))
      const stream = connect(ready.tcp, '127.0.0.1')
      stream.on('error', () => {})
      stream.end(bytes)
      stream.resume()
      await once(stream, 'close')
    }
    socket.close()
    const far = await open({ transports: { udp: 0 }, media: null })
    const uri = `sip:+1555@127.0.0.1:${ready.udp};transport=udp`
    await (await far.carrier.call({ uri, from: '+1', hangUpAfterMs: 1 })).ended
    expect(far.carrier.ledger.query().calls(() => true)[0]?.answeredAt).not.toBeNull()
  })

  it('a carrier process does not start with an invalid configuration', async () => {
    const path = join(await folder(), 'config.json')
    await writeFile(path, '{"transports": {"sctp": 1}}')
    const child = spawn(process.execPath, [PROCESS, '--config', path], { stdio: 'ignore' })
    expect((await once(child, 'exit'))[0]).toBe(2)
  })
})
