import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { exampleServerOf } from './example-server-of.ts'
import { readSeedRecord, writeSeedRecord } from './seed-record.ts'

async function freshHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'parley-home-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  return home
}

async function opened(home: string) {
  const server = await exampleServerOf(home)
  onTestFinished(() => server.close())
  return server
}

const patients = async (origin: string) => (await fetch(`${origin}/clinic/patients?key=1042`)).status

it('a second process of a home uses the server of the first, which stays what the examples are published with', async () => {
  const home = await freshHome()
  const first = await opened(home)
  const { port } = await readSeedRecord(home)
  const second = await opened(home)
  expect(second.origin).toBe(first.origin)
  await second.close()
  expect(await patients(first.origin)).toBe(200)
  expect((await readSeedRecord(home)).port).toBe(port)
  await first.close()
  expect((await opened(home)).origin).toBe(first.origin)
})

it('the server of another home, or a stranger, on the port it had is left alone', async () => {
  const [home, other] = [await freshHome(), await freshHome()]
  const theirs = await opened(other)
  const stranger = createServer((_, response) => response.writeHead(400).end('{}'))
  await new Promise<void>(resolve => stranger.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void stranger.close())
  for (const port of [Number(new URL(theirs.origin).port), (stranger.address() as AddressInfo).port]) {
    await writeSeedRecord(home, { ...(await readSeedRecord(home)), port })
    const own = await exampleServerOf(home)
    expect(Number(new URL(own.origin).port)).not.toBe(port)
    expect(await patients(own.origin)).toBe(200)
    expect((await readSeedRecord(home)).port).toBe(Number(new URL(own.origin).port))
    await own.close()
  }
})
