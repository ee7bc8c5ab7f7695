import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openExampleServer } from './home-example-server.ts'
import { readSeedRecord, writeSeedRecord } from './seed-record.ts'

async function freshHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'parley-home-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  return home
}

async function opened(home: string) {
  const server = await openExampleServer(home)
  onTestFinished(() => server.close())
  return server
}

const patients = async (origin: string) => (await fetch(`${origin}/clinic/patients?key=1042`)).status

it('a second process of a home uses the example server of the first', async () => {
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

it('if another program has the port of the example server, a free port is used', async () => {
  const [home, other] = [await freshHome(), await freshHome()]
  const otherServer = await opened(other)
  const otherProgram = createServer((_, response) => response.writeHead(400).end('{}'))
  await new Promise<void>(resolve => otherProgram.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void otherProgram.close())
  for (const port of [Number(new URL(otherServer.origin).port), (otherProgram.address() as AddressInfo).port]) {
    await writeSeedRecord(home, { ...(await readSeedRecord(home)), port })
    const own = await openExampleServer(home)
    expect(Number(new URL(own.origin).port)).not.toBe(port)
    expect(await patients(own.origin)).toBe(200)
    expect((await readSeedRecord(home)).port).toBe(Number(new URL(own.origin).port))
    await own.close()
  }
})

it('twenty callers who choose the same time at the same moment all get an appointment', async () => {
  const { origin } = await opened(await freshHome())
  const answer = async (path: string) =>
    (await (await fetch(`${origin}/clinic${path}`)).json()) as Record<string, string>
  const { offered } = await answer('/days')
  const { day, offered: times } = await answer(`/times?key=2&offered=${offered}`)
  const { slot } = await answer(`/slot?key=1&day=${day}&offered=${times}`)
  const body = JSON.stringify({ slot, patient: '1042' })
  const book = async () => (await fetch(`${origin}/clinic/bookings`, { method: 'POST', body })).status
  expect(await Promise.all(Array.from({ length: 20 }, book))).toEqual(Array(20).fill(201))
})
