import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openDatabase } from './database.ts'
import { attachEmbeddedPostgres, type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts'
import { migrate } from './migrate.ts'
import { readPostmasterFile } from './postgres-server.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function newHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'parley-home-'))
  ends.push(() => rm(home, { recursive: true, force: true }))
  return home
}

async function started(home: string, onNotice?: (text: string) => void): Promise<EmbeddedPostgres> {
  const embedded = await startEmbeddedPostgres({ home, ...(onNotice && { onNotice }) })
  ends.push(() => embedded.stop())
  return embedded
}

async function ask(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

const recordOf = async (home: string) => JSON.parse(await readFile(join(home, 'postgres.json'), 'utf8'))

/** Another Parley that keeps the server of this home, ready when it says so. */
async function otherParley(home: string): Promise<ChildProcess> {
  const module = fileURLToPath(new URL('./embedded-postgres.ts', import.meta.url))
  const script = `import { startEmbeddedPostgres } from ${JSON.stringify(module)}
    const embedded = await startEmbeddedPostgres({ home: ${JSON.stringify(home)} })
    console.log('ready')
    process.stdin.on('data', async word => {
      if (String(word) === 'exit') process.exit(130)
      await embedded.stop()
      process.exit(0)
    })`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  ends.push(() => ended(child, 'SIGKILL'))
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve)
    child.once('exit', code => reject(new Error(`it ended with ${code}`)))
  })
  return child
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise(resolve => child.once('exit', resolve))
  child.kill(signal)
  await gone
}

describe('the embedded server', () => {
  it('the embedded server is created once, listens on this machine only, requires its password, and keeps its rows and port', async () => {
    const home = await newHome()
    const first = await started(home)
    expect(first.how).toBe('started')
    expect((await stat(join(home, 'postgres.json'))).mode & 0o777).toBe(0o600)
    const facts = await ask(
      first.ownerUrl,
      `select name, setting from pg_settings where name in ('listen_addresses', 'max_connections', 'password_encryption', 'fsync', 'unix_socket_directories') order by 1`,
    )
    expect(Object.fromEntries(facts.map(fact => [fact.name, fact.setting]))).toEqual({
      fsync: 'on',
      listen_addresses: '127.0.0.1',
      max_connections: '300',
      password_encryption: 'scram-sha-256',
      unix_socket_directories: join(home, 'postgres', 'data'),
    })
    const stranger = new URL(first.ownerUrl)
    stranger.password = 'guessed'
    await expect(ask(stranger.href, 'select 1')).rejects.toMatchObject({ code: '28P01' })
    await ask(first.ownerUrl, 'create table kept as select 7 as n')
    await first.stop()
    await expect(attachEmbeddedPostgres(home)).rejects.toMatchObject({ code: 'database_unavailable' })
    const again = await started(home)
    expect(again.ownerUrl).toBe(first.ownerUrl)
    expect(await ask(await attachEmbeddedPostgres(home), 'select n from kept')).toEqual([{ n: 7 }])
  })

  it('the embedded server is reached by a socket in its private data directory, and by TCP where no socket fits', async () => {
    const home = await newHome()
    const server = await started(home)
    const { data, port } = await recordOf(home)
    expect((await stat(data)).mode & 0o077).toBe(0)
    const by = (url: string) => ask(url, 'select inet_server_port() as port')
    expect(await by(server.ownerUrl)).toEqual([{ port: null }])
    const tcp = new URL(server.ownerUrl)
    tcp.search = ''
    expect(await by(tcp.href)).toEqual([{ port }])
    const parent = await newHome()
    // Its data would be elsewhere if the server's account could not pass.
    await chmod(parent, 0o711)
    const deep = join(parent, 'a'.repeat(90))
    expect(await by((await started(deep)).ownerUrl)).toEqual([{ port: expect.any(Number) }])
  })

  it('the embedded server restarts after a crash, and a connection pool recovers', async () => {
    const home = await newHome()
    const notices: string[] = []
    const embedded = await started(home, text => notices.push(text))
    await migrate(embedded.ownerUrl)
    const database = await openDatabase({ ownerUrl: embedded.ownerUrl })
    ends.push(() => database.close())
    const { pid } = await recordOf(home)
    process.kill(pid, 'SIGKILL')
    await vi.waitFor(() => expect(notices.at(-1)).toMatch('is running again'))
    await database.ping()
    expect((await recordOf(home)).pid).not.toBe(pid)
    await embedded.stop()
    expect(await readPostmasterFile((await recordOf(home)).data)).toBeNull()
    await expect(database.ping()).rejects.toMatchObject({ code: 'database_unavailable' })
  })

  it('a new process adopts the embedded server of a killed process, but not that of a live one', async () => {
    const home = await newHome()
    const other = await otherParley(home)
    const before = await recordOf(home)
    const attached = await started(home)
    expect(attached.how).toBe('attached')
    await attached.stop()
    await ask(attached.ownerUrl, 'select 1')
    await ended(other, 'SIGKILL')
    const adopted = await started(home)
    expect(adopted.how).toBe('adopted')
    expect(await recordOf(home)).toMatchObject({ pid: before.pid, keeper: { pid: process.pid } })
    await adopted.stop()
    await expect(ask(adopted.ownerUrl, 'select 1')).rejects.toThrow()
  })

  it.each(['started', 'adopted'] as const)(
    'a process that exits without closing leaves no server behind (%s)',
    async how => {
      const home = await newHome()
      if (how === 'adopted') await ended(await otherParley(home), 'SIGKILL')
      const other = await otherParley(home)
      const { pid } = await recordOf(home)
      const exited = new Promise(resolve => other.once('exit', resolve))
      other.stdin!.end('exit')
      await exited
      await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow())
      const again = await started(home)
      expect(again.how).toBe('started')
    },
  )

  it('the embedded server is not mistaken for that of another home, nor for an unrelated process with the pid of a stale lock', async () => {
    const [one, two] = [await newHome(), await newHome()]
    const first = await started(one)
    const second = await started(two)
    expect(second.ownerUrl).not.toBe(first.ownerUrl)
    await second.stop()
    const record = await recordOf(two)
    const neighbour = await recordOf(one)
    // As if the port had gone to the neighbour, with the same password even, and the pid to this very test.
    await writeFile(
      join(two, 'postgres.json'),
      JSON.stringify({ ...record, port: neighbour.port, password: record.password, pid: neighbour.pid }),
    )
    await writeFile(join(record.data, 'postmaster.pid'), `${process.pid}\n${record.data}\n0\n${neighbour.port}\n`)
    const again = await started(two)
    expect(again.how).toBe('started')
    expect(new URL(again.ownerUrl).port).not.toBe(new URL(first.ownerUrl).port)
    await again.stop()
    await ask(first.ownerUrl, 'select 1')
  })

  it('two processes that start at the same time start one embedded server', async () => {
    const home = await newHome()
    const both = await Promise.all([otherParley(home), otherParley(home)])
    await ask(await attachEmbeddedPostgres(home), 'select 1')
    for (const parley of both) {
      const gone = new Promise(resolve => parley.once('exit', resolve))
      parley.stdin?.write('stop')
      await gone
    }
    await expect(attachEmbeddedPostgres(home)).rejects.toMatchObject({ code: 'database_unavailable' })
  })

  it('the embedded server explains a lost password or wrong file permissions', async () => {
    const home = await newHome()
    const embedded = await started(home)
    await embedded.stop()
    const text = await readFile(join(home, 'postgres.json'), 'utf8')
    const { data } = JSON.parse(text)
    await chmod(data, 0o777)
    await expect(startEmbeddedPostgres({ home })).rejects.toMatchObject({ code: 'wrong_permissions' })
    await chmod(data, 0o700)
    await rm(join(home, 'postgres.json'))
    await expect(startEmbeddedPostgres({ home })).rejects.toMatchObject({
      code: 'postgres_failed',
      message: expect.stringContaining('postgres.json'),
    })
    await writeFile(join(home, 'postgres.json'), text)
    await started(home)
  })
})
