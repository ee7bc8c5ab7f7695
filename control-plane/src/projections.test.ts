import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { operationIdOf, SPECIFIED_OPERATIONS } from '@parley/contract/testing'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWholeApi, type WholeApi } from './testing/whole-api.ts'

let api: WholeApi
let document: Described
let tools: Awaited<ReturnType<typeof listed>>

interface Described {
  readonly openapi: string
  readonly paths: Record<string, Record<string, { operationId: string; parameters?: { name: string }[] } & Extra>>
  readonly components: { readonly examples: Readonly<Record<string, { readonly value: { readonly error: object } }>> }
}
interface Extra {
  readonly 'x-role': string
  readonly 'x-idempotency': string
  readonly 'x-tool'?: string
  readonly responses: Record<string, unknown>
}

async function connect(key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const requestInit = { headers: { Authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', api.url), { requestInit }))
  return client
}

/** The tools that a client with this key sees; unlike `listTools`, it does not compile all their schemas. */
async function listed(key: string) {
  const client = await connect(key)
  const { tools } = await client.request({ method: 'tools/list' }, ListToolsResultSchema)
  await client.close()
  return tools
}

beforeAll(async () => {
  api = await openWholeApi()
  document = (await (await fetch(new URL('/openapi.json', api.url))).json()) as Described
  tools = await listed(api.keys.admin)
}, 600_000)
afterAll(() => api?.close())

const ROLE_OF_SCOPE: Readonly<Record<string, string>> = { 'tenant:read': 'viewer', 'tenant:write': 'member' }

describe.each(SPECIFIED_OPERATIONS)('$method $path', ({ method, path, tool, role, idempotency, statuses }) => {
  const least = ROLE_OF_SCOPE[role] ?? role

  it('a request without a key is refused as the example of the OpenAPI document shows', async () => {
    const url = new URL(path.replaceAll(/\{[a-z_]+\}/g, '0'), api.url)
    const answer = await fetch(url, { method })
    expect(answer.status).toBe(401)
    const { error } = document.components.examples.unauthenticated!.value
    expect(await answer.json()).toEqual({ error: { ...error, message: expect.any(String) } })
  })

  it('the OpenAPI document states its role, idempotency and answers', () => {
    const described = document.paths[path]?.[method.toLowerCase()]
    expect(described?.operationId).toBe(operationIdOf(tool))
    expect([described?.['x-role'], described?.['x-idempotency'], described?.['x-tool']]).toEqual([
      least,
      idempotency,
      tool,
    ])
    const header = described?.parameters?.some(({ name }) => name === 'Idempotency-Key') ?? false
    expect(header).toBe(idempotency === 'required_header')
    const succeeding = Object.keys(described?.responses ?? {}).filter(status => status.startsWith('2'))
    expect(succeeding.sort()).toEqual(statuses.split(',').sort())
  })

  it('the operation is an MCP tool with the same arguments', () => {
    const found = tools.find(({ name }) => name === tool)
    const properties = Object.keys(found?.inputSchema.properties ?? {})
    expect(properties.includes('idempotency_key')).toBe(idempotency === 'required_header')
    expect(properties.includes('params')).toBe(path.includes('{'))
    expect(found?.annotations?.readOnlyHint ?? false).toBe(
      method === 'GET' || /validate|inspect|search|estimate/.test(path),
    )
  })
})

describe('HTTP, OpenAPI and MCP', () => {
  it('HTTP, OpenAPI and MCP list the same operations', () => {
    const specified = SPECIFIED_OPERATIONS.map(({ tool }) => tool).sort()
    const described = Object.values(document.paths).flatMap(item => Object.values(item))
    expect(described.flatMap(one => one['x-tool'] ?? []).sort()).toEqual(specified)
    expect(described.filter(one => one['x-tool'] === undefined).map(one => one.operationId)).toEqual([
      'runs.events',
      'auth.session',
      'auth.current',
      'auth.login',
      'auth.logout',
    ])
    expect(tools.map(({ name }) => name).sort()).toEqual(specified)
  })

  it('the OpenAPI document is valid', async () => {
    expect(document.openapi).toBe('3.1.0')
    const { valid, errors } = await new Validator().validate({ ...document })
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined })
  })

  it('validation of the OpenAPI document finds a planted fault', async () => {
    const broken = { ...document, paths: { 'no-slash': { get: { responses: 7 } } } }
    expect((await new Validator().validate(broken)).valid).toBe(false)
  })
})

it('the OpenAPI document describes event streams as resumable server-sent events', () => {
  const described = document.paths['/api/v1/runs/{run_id}/events']?.get
  expect(described).toMatchObject({
    operationId: 'runs.events',
    'x-role': 'viewer',
    responses: { 200: { content: { 'text/event-stream': {} } } },
  })
  expect(described?.parameters?.map(({ name }) => name)).toEqual(['run_id', 'Last-Event-ID'])
})

describe('operations as MCP tools', () => {
  it('a role sees the tools that it may call', async () => {
    const names = (await listed(api.keys.viewer)).map(({ name }) => name).sort()
    const allowed = SPECIFIED_OPERATIONS.filter(({ role }) => (ROLE_OF_SCOPE[role] ?? role) === 'viewer')
    expect(names).toEqual(allowed.map(({ tool }) => tool).sort())
  })

  it('a tool performs its operation and returns its refusals', { timeout: 600_000 }, async () => {
    const client = await connect(api.keys.admin)
    // The client compiles every tool's schemas, and holds each answer against them.
    await client.listTools()
    const agent_id = api.world.fresh('agent')
    const created = await client.callTool({
      name: 'agents_create',
      arguments: { body: { template: 'blank', name: 'Ada', agent_id }, idempotency_key: api.world.fresh('tool-key') },
    })
    expect(created.structuredContent).toMatchObject({ ref: { id: agent_id }, name: 'Ada', head: null })
    expect(JSON.parse((created.content as { text: string }[])[0]!.text)).toEqual(created.structuredContent)
    const read = await api.world.call('agents.get', { params: { agent_id } })
    expect(read).toEqual(created.structuredContent)
    const missing = await client.callTool({ name: 'agents_get', arguments: { params: { agent_id: 'nobody' } } })
    expect(missing.isError).toBe(true)
    expect(JSON.parse((missing.content as { text: string }[])[0]!.text)).toMatchObject({ error: { code: 'not_found' } })
    await client.close()
  })
})
