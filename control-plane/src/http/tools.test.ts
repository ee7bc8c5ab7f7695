import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyHandlers } from '../handlers/keys.ts'
import { type PipelineApi, pipelineApi } from '../testing/pipeline-api.ts'

/** A rate so low that no token is refilled during a test. */
const SLOW = { perSecond: 0.001, burst: 1000 }
let api: PipelineApi

beforeAll(async () => {
  api = await pipelineApi(
    {
      ...keyHandlers,
      'environments.list': async () => ({ status: 200, body: { items: [], selected: 'production' } }),
      'tenant_settings.get': async () => {
        throw new Error('inner words')
      },
    },
    { publicUrl: 'https://parley.example/base', limits: { rates: { key: SLOW, costly: SLOW, address: SLOW } } },
  )
})
afterAll(() => api?.close())

async function connected(key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const requestInit = { headers: { Authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', api.url), { requestInit }))
  return client
}

const textOf = (result: Awaited<ReturnType<Client['callTool']>>) => (result.content as { text: string }[])[0]!.text

describe('MCP tools', () => {
  it('a client sees the tools that its role may call', async () => {
    const namesFor = async (key: string) => {
      const client = await connected(key)
      const { tools } = await client.listTools()
      await client.close()
      return tools.map(({ name }) => name)
    }
    expect(await namesFor(api.keys.viewer)).toEqual(['environments_list', 'tenant_settings_get'])
    expect(await namesFor(api.keys.admin)).toContain('keys_create')
  })

  it('a tool call performs its operation once and returns the same answer as HTTP', async () => {
    const client = await connected(api.keys.admin)
    const call = {
      name: 'keys_create',
      arguments: { body: { name: 'tool', role: 'viewer' }, idempotency_key: 'tool-1' },
    }
    const made = await client.callTool(call)
    expect(made.isError).toBeUndefined()
    expect(JSON.parse(textOf(made))).toEqual(made.structuredContent)
    expect((await client.callTool(call)).structuredContent).toEqual(made.structuredContent)
    const overHttp = await api.request('POST', '/api/v1/keys', {
      idempotencyKey: 'tool-1',
      body: { role: 'viewer', name: 'tool' },
    })
    expect([overHttp.status, overHttp.body]).toEqual([200, made.structuredContent])
    expect((await api.audited('keys.create')).map(({ outcome }) => outcome)).toEqual(['allowed'])
    await client.close()
  })

  it('refusals and errors are returned as the error envelope', async () => {
    const client = await connected(api.keys.viewer)
    // After listing the tools, the client validates each structured result by the tool's output schema.
    await client.listTools()
    const call = (name: string, args = {}) => client.callTool({ name, arguments: args })
    const coded = async (name: string, args = {}) => {
      const result = await call(name, args)
      expect(result.isError).toBe(true)
      return JSON.parse(textOf(result)).error
    }
    expect(await coded('keys_list')).toMatchObject({ code: 'forbidden', details: { reason: 'role' } })
    expect(await coded('environments_list', { query: { limit: 1 } })).toMatchObject({
      code: 'invalid_request',
      details: { issues: [{ path: '/query', message: 'arguments: not a parameter of this tool' }] },
    })
    const fault = await coded('tenant_settings_get')
    expect([fault.code, JSON.stringify(fault).includes('inner')]).toEqual(['internal', false])
    await expect(call('no_such_tool')).rejects.toThrow(/no tool has this name/)
    expect((await call('tenant_settings_get')).structuredContent).toBeUndefined()
    expect((await api.audited('keys.list')).map(({ outcome }) => outcome)).toEqual(['denied'])
    await client.close()
  })

  it('a client without a key is refused', async () => {
    await expect(connected('parley_live_nobody-has-this')).rejects.toThrow()
    const answer = await api.request('POST', '/mcp', { key: null, body: {} })
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer'])
  })
})

describe('faults of a tool call', () => {
  it('a missing idempotency key is named as the tool names it', async () => {
    const client = await connected(api.keys.admin)
    const result = await client.callTool({ name: 'keys_create', arguments: { body: { name: 'x', role: 'viewer' } } })
    expect(result.isError).toBe(true)
    expect(JSON.parse(textOf(result)).error.details.issues).toEqual([
      { path: '', message: 'idempotency_key: is missing' },
    ])
    await client.close()
  })

  it.each([
    ['an unknown tool', { name: 'no_such_tool', arguments: {} }],
    ['no name', { arguments: {} }],
    ['arguments that are no object', { name: 'environments_list', arguments: 5 }],
  ])('%s is the JSON-RPC error -32602', async (_, params) => {
    const headers = { accept: 'application/json, text/event-stream' }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
    const answer = await api.request('POST', '/mcp', { body, headers })
    expect(answer.body).toMatchObject({ id: 1, error: { code: -32602 } })
  })

  it.each([
    ['an unknown argument', 'environments_list', { query: { limit: 1 } }],
    ['a body of the wrong type', 'keys_create', { body: 5, idempotency_key: 'typed' }],
    [
      'an idempotency key of the wrong type',
      'keys_create',
      { body: { name: 'x', role: 'viewer' }, idempotency_key: 5 },
    ],
  ])('%s is a result with isError and the envelope', async (_, name, args) => {
    const headers = { accept: 'application/json, text/event-stream' }
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    const { result } = (await api.request('POST', '/mcp', { body, headers })).body
    expect(result.isError).toBe(true)
    expect(JSON.parse(result.content[0].text).error.code).toBe('invalid_request')
  })
})

describe('MCP messages', () => {
  const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const send = (body: unknown, headers: Record<string, string> = {}) =>
    api.request('POST', '/mcp', { body, headers: { accept: 'application/json, text/event-stream', ...headers } })

  it('each message counts against the rate limit like a request', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'environments_list' } }
    const remaining = async (body: unknown) =>
      Number(/"default";r=(\d+)/.exec((await send(body)).headers.ratelimit!)![1])
    const before = await remaining(LIST)
    expect([await remaining(call), await remaining(LIST), await remaining({ ...LIST, method: 'tools/call' })]).toEqual([
      before - 1,
      before - 2,
      before - 3,
    ])
  })

  it.each([
    ['https://evil.example', 403],
    ['null', 403],
    ['http://localhost:3000', 200],
    ['http://127.0.0.1:9', 200],
    ['http://localhost.evil.example', 403],
    ['https://parley.example', 200],
  ])('a message from a page of origin %s is answered %i', async (origin, status) => {
    expect((await send(LIST, { origin })).status).toBe(status)
  })

  it('a message that is not JSON-RPC is refused', async () => {
    for (const body of ['no json', [LIST, LIST], { ...LIST, jsonrpc: '1.0' }, null, 'null', { method: 'tools/call' }])
      expect((await send(body)).status).toBe(400)
  })

  it('methods other than POST are answered 405, as MCP demands', async () => {
    for (const method of ['GET', 'DELETE']) {
      const answer = await api.request(method, '/mcp')
      expect([answer.status, answer.headers.allow]).toEqual([405, 'POST'])
    }
  })

  it('a message is logged in one line, and its tool call in another', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'environments_list' } }
    await send(call, { 'x-request-id': 'tool-line' })
    const lines = api
      .logged()
      .split('\n')
      .filter(line => line.includes('tool-line'))
    expect(lines.map(line => JSON.parse(line)).map(({ via, operation }) => [via, operation])).toEqual([
      ['tool', 'environments.list'],
      ['http', 'mcp'],
    ])
  })
})
