import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { pipelineApi } from '../testing/pipeline-api.ts'

const PATH = '/web/parley-web.js'

it('pages of any origin load the module for web calls from the API, and again only after it changed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'parley-web-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const webScript = join(directory, 'parley-web.js')
  await writeFile(webScript, 'export const call = 1')
  const api = await pipelineApi({}, { webScript })
  onTestFinished(() => api.close())
  const { status, text, headers } = await api.request('GET', PATH, { key: null })
  expect([status, text]).toEqual([200, 'export const call = 1'])
  expect(headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
  })
  const again = await api.request('GET', PATH, { key: null, headers: { 'if-none-match': headers.etag! } })
  expect([again.status, again.text]).toEqual([304, ''])
})
