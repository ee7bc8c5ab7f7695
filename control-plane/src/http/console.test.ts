import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'

let directory: string
let api: PipelineApi

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parley-console-'))
  await mkdir(join(directory, 'assets'))
  await writeFile(join(directory, 'index.html'), '<meta property="csp-nonce" nonce="{{nonce}}">')
  await writeFile(join(directory, 'assets', 'index-1.js'), 'hello()')
  await writeFile(join(directory, 'assets', 'index-1.js.gz'), gzipSync('hello()'))
  await writeFile(join(directory, 'assets', 'notes.txt'), 'not served')
  api = await pipelineApi({}, { consoleDirectory: directory })
})
afterAll(async () => {
  await api?.close()
  await rm(directory, { recursive: true, force: true })
})

it('every path of the console answers its page without a key, never from a cache, under a policy without inline scripts', async () => {
  for (const path of ['/console', '/console/', '/console/runs/1', '/console/agents/a%2Fb/chat?x=1']) {
    const { status, text, headers } = await api.request('GET', path, { key: null })
    expect([path, status, headers['cache-control']]).toEqual([path, 200, 'no-store'])
    const policy = headers['content-security-policy']!
    expect(policy).toContain("default-src 'none'; script-src 'self'; ")
    expect(policy).not.toMatch(/unsafe-|\*/)
    expect(policy).toContain(`'nonce-${/nonce="([\w-]{22})"/.exec(text)![1]}'`)
    expect(headers['x-content-type-options']).toBe('nosniff')
  }
})

it('each page has a nonce of its own', async () => {
  const texts = await Promise.all([1, 2].map(() => api.request('GET', '/console', { key: null })))
  expect(texts[0]!.text).not.toBe(texts[1]!.text)
})

it('a file of the console may be cached for ever, and comes compressed where the browser accepts that', async () => {
  const plain = await api.request('GET', '/console/assets/index-1.js', { headers: { 'accept-encoding': 'identity' } })
  expect([plain.status, plain.text]).toEqual([200, 'hello()'])
  expect(plain.headers).toMatchObject({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': 'text/javascript; charset=utf-8',
    vary: 'accept-encoding',
  })
  const zipped = await api.request('GET', '/console/assets/index-1.js', { headers: { 'accept-encoding': 'gzip' } })
  expect([zipped.text, zipped.headers['content-encoding']]).toEqual(['hello()', 'gzip'])
})

it('files that are not part of the console are not served', async () => {
  for (const name of ['notes.txt', 'index-2.js', '..%2Findex.html', '%2e%2e%2findex.html'])
    expect([name, (await api.request('GET', `/console/assets/${name}`)).status]).toEqual([name, 404])
})
