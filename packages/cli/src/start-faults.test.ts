import { createSocket } from 'node:dgram'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SeededRandom, systemTime } from '@parley/kernel'
import { SocketTransport } from '@parley/sip'
import { StoreError } from '@parley/store'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SettingsError } from './environment.ts'
import { httpListenFault, makeHome, sipListenFault, withSettingName } from './start-faults.ts'

const HOST = '127.0.0.1'
const resolver = { resolve: async () => [] }

/** A port of UDP and one of TCP that are taken until the test is over. */
async function takenPorts(): Promise<{ udp: number; tcp: number }> {
  const socket = createSocket('udp4')
  await new Promise<void>(resolve => socket.bind(0, HOST, resolve))
  const server = createServer()
  await listening(server, 0)
  onTestFinished(() => {
    socket.close()
    server.close()
  })
  return { udp: socket.address().port, tcp: (server.address() as { port: number }).port }
}

function listening(server: Server, port: number, host = HOST): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
}

const thrownBy = (work: Promise<unknown>) => work.then(null, (error: unknown) => error)

describe('an address that the process cannot listen on', () => {
  const open = (ports: { udpPort?: number; tcpPort?: number }, bind = HOST) =>
    thrownBy(SocketTransport.open({ bind, ...ports, resolver, time: systemTime, random: new SeededRandom(1) }))

  it('a taken SIP port is reported with the setting to change', async () => {
    const { udp, tcp } = await takenPorts()
    const sip = { sipBind: HOST, sipPort: udp, sipTlsPort: tcp }
    expect(sipListenFault(await open({ udpPort: udp }), sip)).toMatchObject({
      code: 'port_taken',
      message: `another program listens on ${HOST}:${udp}: stop it, or set PARLEY_SIP_PORT to another port (0: any free one)`,
    })
    expect(sipListenFault(await open({ tcpPort: tcp }), sip)).toMatchObject({
      message: `another program listens on ${HOST}:${tcp}: stop it, or set PARLEY_SIP_TLS_PORT to another port (0: any free one)`,
    })
  })

  it('a taken HTTP port is reported with the setting to change', async () => {
    const { tcp: port } = await takenPorts()
    const cause = await thrownBy(listening(createServer(), port))
    expect(httpListenFault(cause, { bind: HOST, port })).toMatchObject({
      message: `another program listens on ${HOST}:${port}: stop it, or set PARLEY_HTTP_PORT to another port (0: any free one)`,
    })
  })

  it('an address that the machine does not have is reported with its setting', async () => {
    // For documentation (RFC 5737): no machine has it.
    const bind = '203.0.113.7'
    const fault = sipListenFault(await open({ udpPort: 0 }, bind), { sipBind: bind, sipPort: 0, sipTlsPort: 5061 })
    expect(fault).toMatchObject({ message: `PARLEY_SIP_BIND: this machine has no address ${bind}` })
    const cause = await thrownBy(listening(createServer(), 0, bind))
    expect(httpListenFault(cause, { bind, port: 0 })).toMatchObject({
      message: `PARLEY_HTTP_BIND: this machine has no address ${bind}`,
    })
  })

  it('other errors are passed on unchanged', () => {
    const other = new StoreError('disk_full')
    expect(sipListenFault(other, { sipBind: HOST, sipPort: 1, sipTlsPort: 2 })).toBe(other)
    expect(httpListenFault(other, { bind: HOST, port: 1 })).toBe(other)
  })
})

describe('PARLEY_HOME', () => {
  it('the home directory is created with its parents and is accessible to its owner only', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'parley-homes-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    const home = join(directory, 'a', 'b')
    await makeHome(home)
    await makeHome(home)
    expect((await stat(home)).mode & 0o777).toBe(0o700)
    const file = join(directory, 'file')
    await writeFile(file, '')
    for (const [path, code] of [
      [file, 'EEXIST'],
      [join(file, 'x'), 'ENOTDIR'],
    ] as const) {
      const fault = await thrownBy(makeHome(path))
      expect(fault).toBeInstanceOf(SettingsError)
      expect((fault as Error).message).toBe(
        `PARLEY_HOME: this user cannot create or write the directory ${path} (${code})`,
      )
    }
  })

  it.runIf(process.platform === 'linux')('a home under /proc is refused with the name of the setting', async () => {
    await expect(makeHome('/proc/parley/home')).rejects.toThrow(
      'PARLEY_HOME: this user cannot create or write the directory /proc/parley/home',
    )
  })
})

it('an error about the database or master key begins with the name of the setting if it is set', () => {
  const error = new StoreError('database_unavailable', 'the server does not answer')
  const url = 'postgres://u:p@h/d'
  const named = withSettingName('DATABASE_URL', url, error)
  expect(named).toBeInstanceOf(SettingsError)
  expect(named).toMatchObject({ message: 'DATABASE_URL: the server does not answer', cause: error })
  expect(withSettingName('DATABASE_URL', null, error)).toBe(error)
  expect(withSettingName('PARLEY_MASTER_KEY', 'key', error)).toBe(error)
})
