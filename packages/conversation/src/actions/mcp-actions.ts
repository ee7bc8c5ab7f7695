import type { Egress } from '@parley/egress'
import type { Ms } from '@parley/kernel'
import type { Receipt } from '../ledger.ts'
import type { ActionOutcome, ActionRequest, McpCall } from '../ports.ts'
import { answeredInTime } from './answered-in-time.ts'
import { authenticationHeader } from './authentication.ts'
import type { HttpActionsOptions } from './http-action-call.ts'
import { type FetchLog, fetchThrough } from './mcp-fetch.ts'
import { RecordedEffect } from './recorded-effect.ts'

const IMPLEMENTATION = { name: 'parley', version: '0.1.0' }

/** Maximum length of a tool's answer as JSON. */
const MAX_ANSWER = 262_144

type McpOptions = Pick<HttpActionsOptions, 'egress' | 'ledger' | 'secrets' | 'time' | 'wallClock' | 'portTimeoutMs'>

/**
 * Calls one tool of an MCP server (streamable HTTP, by the official client), in a session of its own and through the egress of agents. It is
 * one ledger effect and is never repeated. An answer with `isError` fails (`tool_failed`); a missing answer to the call is uncertain. Error codes
 * of calls that were not made: `secret_missing`, `policy_unavailable`, `address_not_allowed`, `not_connected`.
 */
export async function runMcpCall(
  options: McpOptions,
  request: ActionRequest<McpCall>,
  signal: AbortSignal,
): Promise<ActionOutcome> {
  const { action } = request
  const effect = new RecordedEffect(options, request)
  const refused = await effect.begin('http')
  if (refused !== null) return refused
  if (signal.aborted) return effect.settle('failed', 'run_not_active')
  const headers = await headersOf(options, request)
  if (typeof headers === 'string') return effect.settle('failed', headers)
  const log: FetchLog = { isCallSent: false, refusal: null, receipts: [] }
  const call = callTool(options.egress, request, headers, log, action.timeout_ms ?? action.server.timeout_ms)
  const settle = (outcome: ActionOutcome['outcome'], code: string | null, body: unknown = null) =>
    effect.settle(outcome, code, body, log.receipts.slice(-1) as readonly Receipt[])
  try {
    const answer = await call
    return answer.isError === true
      ? settle('failed', 'tool_failed', bodyOf(answer))
      : settle('succeeded', null, bodyOf(answer))
  } catch {
    if (log.refusal !== null) return settle('failed', log.refusal)
    return log.isCallSent ? settle('uncertain', 'no_answer') : settle('failed', 'not_connected')
  }
}

interface ToolAnswer {
  readonly isError?: boolean | undefined
  readonly structuredContent?: unknown
  readonly content?: unknown
}

async function callTool(
  egress: Egress,
  { action, arguments: args, render }: ActionRequest<McpCall>,
  headers: Readonly<Record<string, string>>,
  log: FetchLog,
  timeoutMs: Ms,
): Promise<ToolAnswer> {
  // Loaded by the first call: few agents have MCP servers, and the client takes a twentieth of an engine's start.
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ])
  const url = new URL(action.server.url)
  for (const [name, value] of Object.entries(action.server.query_params)) url.searchParams.set(name, render(value))
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: fetchThrough(egress, timeoutMs, log),
    requestInit: { headers },
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1000,
      maxReconnectionDelay: 1000,
      reconnectionDelayGrowFactor: 1,
    },
  })
  const client = new Client(IMPLEMENTATION)
  try {
    await client.connect(transport as Parameters<typeof client.connect>[0], { timeout: timeoutMs })
    const name = action.mcp_tool_name ?? action.name
    return (await client.callTool({ name, arguments: { ...args } }, undefined, { timeout: timeoutMs })) as ToolAnswer
  } finally {
    await client.close().catch(() => {})
  }
}

/** The server's headers with its authentication; a string when the secret cannot be read. */
async function headersOf(
  { secrets, time, wallClock, portTimeoutMs = 5000 }: McpOptions,
  { action: { server }, render }: ActionRequest<McpCall>,
): Promise<Record<string, string> | 'secret_missing' | 'policy_unavailable'> {
  const headers = Object.fromEntries(
    Object.entries(server.headers).map(([name, value]) => [name.toLowerCase(), render(value)]),
  )
  const { auth } = server
  if (auth === null) return headers
  const secret = await answeredInTime(time, portTimeoutMs, () => secrets.get(auth.secret))
  if (secret === undefined) return 'policy_unavailable'
  if (secret.value === null) return 'secret_missing'
  const [name, value] = authenticationHeader(auth, secret.value, '', wallClock())
  return { ...headers, [name]: value }
}

/** What a tool answered: its structured content, else its texts, read as JSON where they are JSON. */
function bodyOf({ structuredContent, content }: ToolAnswer): unknown {
  if (structuredContent !== undefined) return bounded(structuredContent)
  const texts = (Array.isArray(content) ? content : []).flatMap((part: { type?: unknown; text?: unknown }) =>
    part.type === 'text' && typeof part.text === 'string' ? [part.text] : [],
  )
  const text = texts.join('\n').slice(0, MAX_ANSWER)
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

function bounded(value: unknown): unknown {
  const text = JSON.stringify(value)
  return text.length <= MAX_ANSWER ? value : text.slice(0, MAX_ANSWER)
}
