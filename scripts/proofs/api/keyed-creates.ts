import { setTimeout as pause } from 'node:timers/promises'
import { ParleyClient } from '@parley/client'
import type { ErrorEnvelope } from '@parley/contract'
import { errorEnvelope } from '@parley/contract/testing'

const KINDS = ['agent', 'key', 'agent', 'trunk', 'agent', 'number'] as const
export type Kind = (typeof KINDS)[number]

/** A planted fault: the client loses its first answer and uses another key for the retry. */
type PlantedClient = 'nothing' | 'fresh keys for retries'

/** One attempt of a request. */
export interface Attempt {
  /** `performance.now()` when it was sent. */
  readonly beganAt: number
  /** Status of the answer; null: none, and the request may have arrived; 0: the request was not sent. */
  readonly status: number | null
  readonly text: string
  readonly error: ErrorEnvelope['error'] | null
  readonly hasRetryAfter: boolean
}

/** A create request with its idempotency key and all responses to it. */
export interface KeyedCreate {
  readonly kind: Kind
  /** Unique name of the resource; for a number its phone number. */
  readonly mark: string
  readonly idempotencyKey: string
  readonly attempts: Attempt[]
  /** Error with which the client gave up; null: it did not. */
  refused: string | null
}

export interface CreateOptions {
  readonly url: string
  readonly key: string
  /** The trunk of created numbers, and the password secret of created trunks. */
  readonly trunkId: string
  readonly secretId: string
  readonly planted: PlantedClient
}

const SIP_PASSWORD = 'correct horse battery staple'
const RETRIES = 500
const MAX_WAIT_MS = 300

/** Creates the trunk and the secret that the created resources refer to. */
export async function prepareCreates(url: string, key: string): Promise<{ trunkId: string; secretId: string }> {
  const client = new ParleyClient({ baseUrl: url, key })
  const secretId = 'proof-secret'
  const secret = { kind: 'sip_auth', value: SIP_PASSWORD } as const
  await client.secrets.put({ params: { secret_id: secretId }, body: secret })
  const trunkId = 'proof-carrier'
  await client.trunks.create({ body: trunkBody(trunkId, secretId) })
  return { trunkId, secretId }
}

const trunkBody = (trunk_id: string, secretId: string) => ({
  trunk_id,
  name: trunk_id,
  provider: 'generic_sip' as const,
  termination_uri: 'sbc.example.com',
  auth_username: 'parley',
  auth_secret: { id: secretId, version: '1' },
  inbound: true,
})

export function keyedCreate(seed: number, index: number): KeyedCreate {
  const kind = KINDS[index % KINDS.length]!
  const mark = kind === 'number' ? `+1202555${String(10_000 + index)}` : `proof-${kind}-${index}`
  return { kind, mark, idempotencyKey: `proof-${seed}-${index}`, attempts: [], refused: null }
}

/** Sends the request with the client's own retries and records every attempt. Never rejects. */
export async function carryOut(create: KeyedCreate, options: CreateOptions): Promise<void> {
  const client = new ParleyClient({
    baseUrl: options.url,
    key: options.key,
    retries: RETRIES,
    wait: ms => pause(Math.min(ms, MAX_WAIT_MS)),
    fetch: (input, init) => attempt(create, input, init, options.planted),
  })
  try {
    await send(client, create, options)
  } catch (error) {
    create.refused = String(error)
  }
}

function send(
  client: ParleyClient,
  { kind, mark, idempotencyKey: idempotency_key }: KeyedCreate,
  options: CreateOptions,
) {
  const { trunkId: trunk_id, secretId } = options
  switch (kind) {
    case 'agent':
      return client.agents.create({ idempotency_key, body: { template: 'phone_outbound', name: mark } })
    case 'key':
      return client.keys.create({ idempotency_key, body: { name: mark, role: 'viewer' } })
    case 'trunk':
      return client.trunks.create({ idempotency_key, body: trunkBody(mark, secretId) })
    case 'number':
      return client.numbers.import({ idempotency_key, body: { phone_number: mark, trunk_id } })
  }
}

async function attempt(
  { attempts }: KeyedCreate,
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
  planted: PlantedClient,
): Promise<Response> {
  const headers = new Headers(init?.headers)
  if (planted === 'fresh keys for retries' && attempts.length > 0)
    headers.set('idempotency-key', `${headers.get('idempotency-key')}-${attempts.length}`)
  const beganAt = performance.now()
  try {
    const response = await fetch(input, { ...init, headers })
    const text = await response.text()
    const { status } = response
    if (planted !== 'nothing' && attempts.length === 0) throw new Error('planted fault: the answer is lost')
    const error = status < 400 ? null : envelopeIn(text)
    attempts.push({ beganAt, status, text, error, hasRetryAfter: response.headers.has('retry-after') })
    return new Response(text, { status, headers: response.headers })
  } catch (error) {
    const isUnsent = error instanceof Error && (error.cause as { code?: string } | undefined)?.code === 'ECONNREFUSED'
    attempts.push({ beganAt, status: isUnsent ? 0 : null, text: '', error: null, hasRetryAfter: false })
    throw error
  }
}

function envelopeIn(text: string): ErrorEnvelope['error'] | null {
  try {
    return errorEnvelope.parse(JSON.parse(text)).error
  } catch {
    return null
  }
}
