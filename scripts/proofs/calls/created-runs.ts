import { Agent, request } from 'node:http'
import type { CallHarness } from './call-harness.ts'

/** The answer to a request for a run. */
export interface Created {
  readonly status: number
  readonly run_id: string | null
  /** Reason of a refusal, and the limit with its used amount. */
  readonly reason: string | null
  readonly limit: string | null
  readonly used: string | null
}

let sequence = 0

/** Requests `count` outbound calls, each to another number, with `writers` requests at a time on persistent connections. */
export async function createMany(
  harness: CallHarness,
  agent_id: string,
  writers: number,
  count: number,
): Promise<Created[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: writers })
  const created: Created[] = []
  let remaining = count
  const write = async () => {
    while (remaining-- > 0) {
      const to = `+1415556${String(sequence++ % 10_000).padStart(4, '0')}`
      created.push(await create(harness, agent, { agent_id, channel: 'phone', mode: 'outbound', to }))
    }
  }
  try {
    await Promise.all(Array.from({ length: writers }, write))
    return created
  } finally {
    agent.destroy()
  }
}

function create(harness: CallHarness, agent: Agent, body: object): Promise<Created> {
  const text = JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${harness.key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'idempotency-key': `proof-${sequence}-${Math.random()}`,
  }
  return new Promise((resolve, reject) => {
    const sent = request(`${harness.url}/api/v1/runs`, { method: 'POST', agent, headers }, response => {
      let answer = ''
      response.on('data', chunk => {
        answer += chunk
      })
      response.on('end', () => resolve(read(response.statusCode ?? 0, answer)))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(text)
  })
}

function read(status: number, answer: string): Created {
  const { run_id = null, error } = JSON.parse(answer) as {
    run_id?: string
    error?: { code: string; details?: Readonly<Record<string, unknown>> }
  }
  const { reason, limit, used } = error?.details ?? {}
  const text = (value: unknown) => (value === undefined || value === null ? null : String(value))
  return { status, run_id, reason: text(reason) ?? error?.code ?? null, limit: text(limit), used: text(used) }
}
