import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { OutboundHttp } from '@parley/egress'
import { actionSchema } from '@parley/flow/testing'
import { SeededRandom, systemTime } from '@parley/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { InMemoryEffectLedger } from '../in-memory-effect-ledger.ts'
import type { McpCall } from '../ports.ts'
import { call } from './actions.fixture.ts'
import { runMcpCall } from './mcp-actions.ts'

const headers: (string | undefined)[] = []
let calls = 0

/** An MCP server as the official SDK builds it, with a session per request. */
function mcpServer() {
  const server = new McpServer({ name: 'calendar', version: '1' })
  server.registerTool('slots', { inputSchema: { day: z.string() } }, ({ day }) => {
    calls++
    return { content: [{ type: 'text', text: JSON.stringify({ slots: [`${day} 10:00`] }) }] }
  })
  server.registerTool('full', {}, () => ({ isError: true, content: [{ type: 'text', text: 'no slot' }] }))
  return server
}

const http = createServer(async (request, response) => {
  headers.push(request.headers.authorization)
  const server = mcpServer()
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: request.url === '/json' })
  response.on('close', () => void server.close())
  await server.connect(transport as Parameters<McpServer['connect']>[0])
  await transport.handleRequest(request, response)
})
let port = 0
beforeAll(async () => {
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve))
  port = (http.address() as AddressInfo).port
})
afterAll(() => void http.close())

async function callTool(tool: string, { path = '/mcp', allowed = true, server = {} } = {}) {
  const egress = new OutboundHttp({ allow: allowed ? [{ host: '127.0.0.1', port }] : [], time: systemTime })
  const ledger = new InMemoryEffectLedger({ random: new SeededRandom(7), wallClock: Date.now })
  const action = actionSchema.parse({
    kind: 'mcp',
    action_id: 'find',
    name: 'find',
    mcp_id: 'calendar',
    mcp_tool_name: tool,
    timeout_ms: 5000,
  })
  const url = `http://127.0.0.1:${port}${path}`
  const mcp = { id: 'calendar', name: '', url, headers: {}, query_params: {}, timeout_ms: 5000, auth: null, ...server }
  const outcome = await runMcpCall(
    { egress, ledger, secrets: { get: async () => 's3cret' }, time: systemTime, wallClock: Date.now },
    {
      action: { ...action, server: mcp } as McpCall,
      arguments: { day: 'Friday' },
      node_id: 'find',
      ordinal: 0,
      call,
      variables: {},
      render: text => text,
      onPhase: () => {},
    },
    new AbortController().signal,
  )
  await egress.close()
  return { outcome, row: ledger.records[0] }
}

describe('a call of a tool of an MCP server', () => {
  it.each(['/mcp', '/json'])('the answer of the tool is the result, whether it is streamed or not (%s)', async path => {
    const { outcome, row } = await callTool('slots', { path })
    expect(outcome).toMatchObject({ outcome: 'succeeded', body: { slots: ['Friday 10:00'] } })
    expect(row).toMatchObject({ effect_kind: 'http', state: 'succeeded', receipts: [{ kind: 'http', status: 200 }] })
  })

  it('a tool that reports an error fails, and an unknown tool fails', async () => {
    expect((await callTool('full')).outcome).toMatchObject({
      outcome: 'failed',
      error_code: 'tool_failed',
      body: 'no slot',
    })
    expect((await callTool('none')).outcome.outcome).toBe('failed')
  })

  it("the server's secret authenticates every request", async () => {
    headers.length = 0
    const auth = { scheme: 'bearer', secret: { id: 'key', version: '1' }, header: 'X-Api-Key' }
    expect((await callTool('slots', { server: { auth } })).outcome.outcome).toBe('succeeded')
    expect(new Set(headers)).toEqual(new Set(['Bearer s3cret']))
  })

  it('an address that agents may not reach is refused before anything is sent', async () => {
    const before = calls
    const { outcome, row } = await callTool('slots', { allowed: false })
    expect(outcome).toMatchObject({ outcome: 'failed', error_code: 'address_not_allowed' })
    expect(row).toMatchObject({ state: 'failed' })
    expect(calls).toBe(before)
  })
})
