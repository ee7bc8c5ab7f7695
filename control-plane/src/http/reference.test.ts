import { authOperations, operations, streams } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'

let api: PipelineApi

beforeAll(async () => {
  api = await pipelineApi({})
})
afterAll(() => api?.close())

describe('GET /openapi.json', () => {
  it('the document lists every operation, needs no key, and answers 304 when unchanged', async () => {
    const first = await api.request('GET', '/openapi.json', { key: null })
    const ids = Object.values(first.body.paths).flatMap(item =>
      Object.values(item as Record<string, { operationId: string }>).map(({ operationId }) => operationId),
    )
    expect(ids.sort()).toEqual(
      [...operations, ...streams, ...Object.values(authOperations)].map(({ id }) => id as string).sort(),
    )
    const again = await api.request('GET', '/openapi.json', { headers: { 'if-none-match': first.headers.etag! } })
    expect([again.status, again.text]).toEqual([304, ''])
  })
})

describe('GET /docs', () => {
  it('the reference page loads nothing from other hosts', async () => {
    const page = await api.request('GET', '/docs/', { key: null })
    expect(page.status).toBe(200)
    expect(page.text).not.toMatch(/https?:\/\//)
    const policy = page.headers['content-security-policy']!
    expect(policy).toMatch(/default-src 'none'; script-src 'self' 'sha256-[A-Za-z0-9+/=]{44}'/)
    expect(policy).not.toMatch(/https?:|script-src[^;]*unsafe/)
    const script = await api.request('GET', '/docs/js/scalar.js', { key: null })
    expect([script.status, script.text.length > 1_000_000]).toEqual([200, true])
    expect((await api.request('GET', '/docs')).headers.location).toBe('/docs/')
  })
})
