import { minimumRole, type Operation, type OperationId, operations } from '@parley/contract'
import { EXAMPLES, type Example } from '@parley/contract/testing'
import { SeededRandom } from '@parley/kernel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Broken, brokenValues } from './testing/broken-values.ts'
import { SchemaValues } from './testing/json-schema-values.ts'
import { newAgent, publishedAgent, type RequestParts } from './testing/request-world.ts'
import { VALID_REQUESTS } from './testing/valid-requests.ts'
import { openWholeApi, type WholeApi } from './testing/whole-api.ts'

let api: WholeApi

beforeAll(async () => {
  api = await openWholeApi()
})
afterAll(() => api?.close())

const every = operations.map((operation): [OperationId, Operation] => [operation.id, operation])
const withKey = every.filter(([, { idempotency }]) => idempotency === 'required_header')

/** Operations that create the resource with the id in the path if it does not exist. */
const CREATES_BY_ID: readonly OperationId[] = ['secrets.put', 'provider_keys.put']

/** Operations whose path names something of the API itself, the same in all environments. */
const OF_THE_API: readonly OperationId[] = ['drafts.edit_schema']

/** Operations on the people of the organisation, whom its environments share. */
const isOfTheOrganisation = (id: OperationId) => id.startsWith('team.')

/** Status of a repeated request, if it is not 200: the update has not been applied yet, the generation is being built, the test run waits. */
const REPLAY_STATUS: { readonly [Id in OperationId]?: number } = {
  'runs.update': 202,
  'runs.replay': 202,
  'knowledge.reembed': 202,
}

/** Operations whose answer is delivered once, so that a repetition is refused; voice-preview.test.ts judges them. */
const isDeliveredOnce = (id: OperationId) =>
  every.some(([known, { deliversOnceMs }]) => known === id && deliversOnceMs !== null)

/** Operations whose requests are all the same. */
const SAME_REQUESTS: readonly OperationId[] = ['knowledge.reembed']

describe.each(every)('%s', (id, operation) => {
  it('every answer has a declared status and matches the schema of the operation', async () => {
    const parts = await VALID_REQUESTS[id](api.world)
    const example: Example = EXAMPLES[id]
    // The request is the one that the OpenAPI document shows, with ids of resources that exist.
    expect(Object.keys(parts.body ?? {}).sort()).toEqual(Object.keys(example.body ?? {}).sort())
    const answer = await api.send(id, parts)
    const { statuses } = operation
    const first = operation.idempotency === 'required_header' ? statuses.slice(0, 1) : statuses
    expect(first, JSON.stringify(answer.body)).toContain(answer.status)
    expect(operation.output.safeParse(answer.body).error).toBeUndefined()
    expect(answer.headers['x-request-id']).toMatch(/^[\x21-\x7e]{1,256}$/)
    expect(answer.headers['cache-control']).toBe('no-store')
  })

  it('a request without a key, or with an unknown key, is refused as unauthenticated', async () => {
    const parts = await VALID_REQUESTS[id](api.world)
    for (const key of [null, `parley_live_${'x'.repeat(40)}`, 'nonsense']) {
      const answer = await api.send(id, parts, { key })
      expect(answer).toMatchObject({ status: 401, body: { error: { code: 'unauthenticated', retryable: false } } })
      expect(answer.headers['www-authenticate']).toBe('Bearer')
    }
  })

  const role = minimumRole(operation)
  if (role !== 'viewer')
    it(`a key with a role below ${role} is refused`, async () => {
      const parts = await VALID_REQUESTS[id](api.world)
      for (const lower of role === 'admin' ? (['viewer', 'member'] as const) : (['viewer'] as const)) {
        const answer = await api.send(id, parts, { key: api.keys[lower] })
        expect(answer).toMatchObject({
          status: 403,
          body: { error: { code: 'forbidden', details: { reason: 'role' } } },
        })
      }
      const accepted = await api.send(id, parts, { key: api.keys[role] })
      expect(accepted.status, JSON.stringify(accepted.body)).toBeLessThan(300)
    })

  const isOfAnEnvironment = !CREATES_BY_ID.includes(id) && !OF_THE_API.includes(id) && !isOfTheOrganisation(id)
  if (operation.params !== null && isOfAnEnvironment)
    it('the id of a resource of another environment is answered 404', async () => {
      const parts = await VALID_REQUESTS[id](api.world)
      const answer = await api.send(id, parts, { key: api.keys.sandboxAdmin })
      expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    })

  it('a value out of bounds is refused with a JSON pointer to it', async () => {
    const parts = await VALID_REQUESTS[id](api.world)
    const misjudged: object[] = []
    for (const { how, path, request } of brokenRequests(operation, parts)) {
      const answer = await api.send(id, request)
      const issues = (answer.body?.error?.details?.issues ?? []) as { path: string }[]
      // A text of the longest characters exceeds the size of the body first.
      if (answer.body?.error?.details?.reason === 'body_too_large' && how.includes('too long')) continue
      if (answer.status !== 400 || !issues.some(issue => issue.path === path || path.startsWith(`${issue.path}/`)))
        misjudged.push({ how, path, status: answer.status, issues })
    }
    expect(misjudged).toEqual([])
  })
})

interface BrokenRequest extends Pick<Broken, 'path' | 'how'> {
  readonly request: RequestParts
}

function brokenRequests(operation: Operation, parts: RequestParts): BrokenRequest[] {
  const found: BrokenRequest[] = []
  for (const part of ['query', 'body'] as const) {
    const schema = operation[part]
    if (schema === null) continue
    const values = new SchemaValues(schema, new SeededRandom(1))
    for (const { value, path, how } of brokenValues(values, parts[part] ?? {})) {
      // Values in a query are text, so another type cannot be sent, and an absent query is an empty one.
      if (part === 'query' && (path === '' || how.includes(' for a '))) continue
      found.push({ path, how: `${part}: ${how}`, request: { ...parts, [part]: value } })
    }
  }
  return found
}

describe.each(withKey)('%s with an idempotency key', id => {
  const send = (parts: RequestParts, idempotencyKey: string | null) => api.send(id, parts, { idempotencyKey })

  it('a request without an idempotency key is refused', async () => {
    const answer = await send(await VALID_REQUESTS[id](api.world), null)
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } })
    expect(answer.body.error.details.issues[0].message).toContain('Idempotency-Key')
  })

  if (!isDeliveredOnce(id))
    it('a repeated request gets the first answer and changes nothing', async () => {
      const parts = await VALID_REQUESTS[id](api.world)
      const key = api.world.fresh('idempotent')
      const first = await send(parts, key)
      const again = await send(parts, key)
      expect(again).toMatchObject({ status: REPLAY_STATUS[id] ?? 200, body: first.body })
      expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body))
    })

  if (!SAME_REQUESTS.includes(id))
    it('an idempotency key is refused when another request has used it', async () => {
      const key = api.world.fresh('idempotent')
      await send(await VALID_REQUESTS[id](api.world), key)
      const other = await send(await anotherRequest(id), key)
      expect(other).toMatchObject({ status: 409, body: { error: { code: 'idempotency_conflict' } } })
    })

  if (!isDeliveredOnce(id))
    it('50 concurrent requests with one idempotency key take effect once', async () => {
      const parts = await VALID_REQUESTS[id](api.world)
      const key = api.world.fresh('idempotent')
      const answers = await Promise.all(Array.from({ length: 50 }, () => send(parts, key)))
      const done = answers.filter(({ status }) => status < 300)
      const waiting = answers.filter(({ status }) => status === 409)
      expect(done.length + waiting.length).toBe(50)
      expect(new Set(done.map(({ body }) => JSON.stringify(body))).size).toBe(1)
      for (const { body } of waiting)
        expect(body.error).toMatchObject({ code: 'conflict', retryable: true, details: { reason: 'in_progress' } })
      const last = await send(parts, key)
      expect(last).toMatchObject({ status: REPLAY_STATUS[id] ?? 200, body: done[0]!.body })
    })

  it('a refused request does not use up its idempotency key', async () => {
    const key = api.world.fresh('idempotent')
    const refused = await api.send(id, await VALID_REQUESTS[id](api.world), { idempotencyKey: key, key: null })
    expect(refused.status).toBe(401)
    expect((await send(await VALID_REQUESTS[id](api.world), key)).status).toBeLessThan(300)
  })
})

/** A valid request that differs from the previous one. */
async function anotherRequest(id: OperationId): Promise<RequestParts> {
  const parts = await VALID_REQUESTS[id](api.world)
  if (id === 'voices.preview') return { body: { ...(parts.body as object), speed: 1.5 } }
  if (id === 'knowledge.documents_create') return { body: { title: 'Other', text: 'Other' } }
  return id === 'keys.create' ? { ...parts, body: { name: 'other', role: 'viewer' } } : parts
}

describe('compare-and-set with a stale revision or version', () => {
  it.each([
    ['drafts.edit', { edits: [{ type: 'agent.name', name: 'Eve' }] }],
    ['drafts.validate', {}],
    ['publications.publish', {}],
  ] as const)('%s refuses a stale precondition and shows the current value', async (id, more) => {
    const { agent_id, draft_id } = await newAgent(api.world)
    const answer = await api.send(id, { params: { agent_id }, body: { draft_id, expected_revision: 7, ...more } })
    expect(answer).toMatchObject({
      status: 409,
      body: {
        error: { code: 'conflict', details: { reason: 'stale_revision', current: { draft_id, revision: 1 } } },
      },
    })
  })

  it('drafts.discard refuses a stale revision', async () => {
    const { agent_id, draft_id } = await newAgent(api.world)
    const answer = await api.send('drafts.discard', { params: { agent_id }, query: { draft_id, expected_revision: 2 } })
    expect(answer.body.error.details).toEqual({ reason: 'stale_revision', current: { draft_id, revision: 1 } })
  })

  it('publications.set_head refuses a stale expected version', async () => {
    const { agent_id } = await publishedAgent(api.world)
    const answer = await api.send('publications.set_head', {
      params: { agent_id },
      body: { version: 0, expected_version: null },
    })
    expect(answer).toMatchObject({ status: 409, body: { error: { details: { current: { version: 0 } } } } })
  })

  it('tenant_settings.update refuses a stale retention version', async () => {
    const retention = { recording_days: 1, transcript_days: 1, document_days: null, expected_version: 4711 }
    const { version } = (await api.world.call('tenant_settings.get', {})).retention
    const answer = await api.send('tenant_settings.update', { body: { retention } })
    expect(answer).toMatchObject({ status: 409, body: { error: { details: { current: { version } } } } })
  })
})
