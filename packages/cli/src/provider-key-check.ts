import type { Platform } from '@parley/control-plane'
import type { OutboundHttp } from '@parley/egress'
import { type KeyCheck, VENDORS } from '@parley/providers'
import type { Settings } from './environment.ts'

type KeyVerdict = Awaited<ReturnType<Platform['checkProviderKey']>>

const MAX_MODELS = 200
const MAX_BODY_BYTES = 1_048_576

interface KeyCheckOptions {
  readonly settings: Pick<Settings, 'vendorServers'>
  /** Reaches endpoints that environments name. */
  readonly egress: Pick<OutboundHttp, 'send'>
  /** Default 10 000. */
  readonly timeoutMs?: number
}

/** Asks providers whether they accept a key, by a request that changes nothing there. */
export function providerKeyCheck({
  settings,
  egress,
  timeoutMs = 10_000,
}: KeyCheckOptions): Platform['checkProviderKey'] {
  return async ({ provider, key, endpoint }) => {
    const check = VENDORS.find(({ name }) => name === provider)?.keyCheck
    const named = settings.vendorServers[provider]?.baseUrl ?? null
    const base = endpoint ?? (named === null ? check?.baseUrl : httpUrlOf(named))
    if (check === undefined || base === undefined || base === null)
      return { outcome: 'unreachable', reason: 'it has no server that checks keys' }
    const request = { url: `${base.replace(/\/+$/, '')}${check.path}`, headers: check.headers(key), timeoutMs }
    const answer = endpoint === null ? await askDirectly(request) : await askByEgress(egress, request)
    return 'outcome' in answer ? answer : verdictOf(answer, check)
  }
}

interface KeyRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

interface KeyAnswer {
  readonly status: number
  readonly body: string
}

/** A server of the vendor, or one that staff named. */
async function askDirectly({ url, headers, timeoutMs }: KeyRequest): Promise<KeyAnswer | KeyVerdict> {
  try {
    const response = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
    return { status: response.status, body: await startOf(response) }
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    return { outcome: 'unreachable', reason: isLate ? `no answer within ${timeoutMs} ms` : 'no connection' }
  }
}

async function startOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) break
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function askByEgress(egress: KeyCheckOptions['egress'], request: KeyRequest): Promise<KeyAnswer | KeyVerdict> {
  const result = await egress.send({ ...request, method: 'GET' }, new AbortController().signal)
  switch (result.type) {
    case 'answered':
      return { status: result.status, body: Buffer.from(result.body).toString('utf8') }
    case 'refused':
      return { outcome: 'address_not_allowed' }
    default:
      return { outcome: 'unreachable', reason: result.reason === 'timeout' ? 'no answer in time' : 'no connection' }
  }
}

function verdictOf({ status, body }: KeyAnswer, { isAcceptedRefusal }: KeyCheck): KeyVerdict {
  if (status >= 200 && status < 300) return { outcome: 'accepted', models: modelsIn(body) }
  if (status === 401 && isAcceptedRefusal?.(body) === true) return { outcome: 'accepted', models: [] }
  if (status === 408 || status === 429 || status < 400 || status >= 500)
    return { outcome: 'unreachable', reason: `HTTP ${status}` }
  return { outcome: 'rejected', status }
}

/** The ids in the `data` of an OpenAI-compatible list of models. */
function modelsIn(body: string): string[] {
  try {
    const parsed: unknown = JSON.parse(body)
    const data = typeof parsed === 'object' && parsed !== null && 'data' in parsed ? parsed.data : null
    const ids = Array.isArray(data) ? data.map(model => model?.id) : []
    return ids.filter(id => typeof id === 'string' && id.length > 0 && id.length <= 256).slice(0, MAX_MODELS)
  } catch {
    return []
  }
}

/** The server for HTTP requests behind a base URL for sockets. */
function httpUrlOf(baseUrl: string): string {
  return baseUrl.replace(/^ws/, 'http').replace('://streaming.', '://api.')
}
