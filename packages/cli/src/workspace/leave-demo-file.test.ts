import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readDemoFile } from './demo-file.ts'
import { leaveDemoFile } from './leave-demo-file.ts'

const nothing = { console: null, sip: null, agent_id: null, number: null, phone: null }

/** An API that lets the key "known" in, and nobody else. */
async function apiThatKnows(key: string): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) =>
    response.writeHead(request.headers.authorization === `Bearer ${key}` ? 200 : 401).end('{}'),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  onTestFinished(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

it('demo.json names the first process of the home as long as that process responds', async () => {
  const home = await mkdtemp(join(tmpdir(), 'parley-home-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  const first = await apiThatKnows('known')
  const stranger = await apiThatKnows('other')
  const later = { ...nothing, api: 'http://127.0.0.1:9', key: 'known' }

  expect(await leaveDemoFile(home, { ...nothing, api: first.url, key: 'known' })).toBe(first.url)
  expect(await leaveDemoFile(home, later)).toBe(first.url)
  expect((await readDemoFile(home))?.api).toBe(first.url)
  // It is gone.
  first.close()
  expect(await leaveDemoFile(home, later)).toBe(later.api)
  expect((await readDemoFile(home))?.api).toBe(later.api)
  // Somebody else's API is where it was.
  await leaveDemoFile(home, { ...nothing, api: stranger.url, key: 'known' })
  expect(await leaveDemoFile(home, later)).toBe(later.api)
})
