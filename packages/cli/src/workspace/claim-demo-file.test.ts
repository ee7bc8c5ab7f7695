import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { claimDemoFile } from './claim-demo-file.ts'
import { readDemoFile } from './demo-file.ts'

const empty = { console: null, sip: null, agent_id: null, number: null, phone: null }

/** An API that accepts `key` only. */
async function apiThatAccepts(key: string): Promise<{ url: string; close(): void }> {
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
  const first = await apiThatAccepts('known')
  const otherApi = await apiThatAccepts('other')
  const later = { ...empty, api: 'http://127.0.0.1:9', key: 'known' }

  expect(await claimDemoFile(home, { ...empty, api: first.url, key: 'known' })).toBe(first.url)
  expect(await claimDemoFile(home, later)).toBe(first.url)
  expect((await readDemoFile(home))?.api).toBe(first.url)
  // The first process has ended.
  first.close()
  expect(await claimDemoFile(home, later)).toBe(later.api)
  expect((await readDemoFile(home))?.api).toBe(later.api)
  // Another API has its address.
  await claimDemoFile(home, { ...empty, api: otherApi.url, key: 'known' })
  expect(await claimDemoFile(home, later)).toBe(later.api)
})
