import { describe, expect, it } from 'vitest'
import { webhookEvent } from '../drafts/draft-parts.ts'
import { errorEnvelope } from '../error-envelope.ts'
import { API_ERRORS, type ErrorCode } from '../errors.ts'
import { operations, streams } from '../operations.ts'
import { authOperations } from '../people/auth.ts'
import { type OpenApiDocument, toOpenApi } from './openapi.ts'
import { SENTENCES } from './sentences/index.ts'

interface Parameter {
  name: string
  in: string
  required: boolean
  schema: object
}
interface Described {
  operationId: string
  tags: string[]
  security: object[]
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Record<string, { schema: object }> }
  responses: Record<string, { description: string; headers?: object; content: Record<string, { schema: object }> }>
}

const document = toOpenApi(operations, 'https://parley.example')

function described(of: OpenApiDocument): { path: string; method: string; operation: Described }[] {
  return Object.entries(of.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation: operation as unknown as Described })),
  )
}

/** Violations of the rules of OpenAPI 3.1, as far as this document uses them. */
function faults(of: OpenApiDocument): string[] {
  const found: string[] = []
  const ids = new Set<string>()
  const declared = new Set(of.tags.map(({ name }) => name))
  for (const { path, method, operation } of described(of)) {
    const at = `${method} ${path}`
    if (!path.startsWith('/')) found.push(`${at}: the path begins without /`)
    if (!['get', 'post', 'put', 'patch', 'delete'].includes(method)) found.push(`${at}: no method`)
    if (ids.has(operation.operationId)) found.push(`${at}: ${operation.operationId} is used twice`)
    ids.add(operation.operationId)
    for (const tag of operation.tags) if (!declared.has(tag)) found.push(`${at}: tag ${tag} is not declared`)
    found.push(...parameterFaults(path, operation.parameters ?? []).map(fault => `${at}: ${fault}`))
    const statuses = Object.keys(operation.responses)
    if (!statuses.some(status => status.startsWith('2'))) found.push(`${at}: no success`)
    for (const [status, response] of Object.entries(operation.responses)) {
      if (!/^[1-5][0-9][0-9]$/.test(status)) found.push(`${at}: ${status} is no status`)
      if (typeof response.description !== 'string') found.push(`${at}: ${status} without description`)
    }
    if ((method === 'get' || method === 'delete') && operation.requestBody) found.push(`${at}: a body`)
    for (const requirement of operation.security)
      for (const name of Object.keys(requirement))
        if (!(name in of.components.securitySchemes)) found.push(`${at}: no security scheme ${name}`)
  }
  for (const name of Object.keys(of.components.schemas))
    if (!/^[a-zA-Z0-9._-]+$/.test(name)) found.push(`${name} is no name of a component`)
  return [...found, ...referenceFaults(of, of)]
}

function parameterFaults(path: string, parameters: readonly Parameter[]): string[] {
  const named = [...path.matchAll(/\{([^}]+)\}/g)].map(match => match[1])
  const inPath = parameters.filter(parameter => parameter.in === 'path')
  const keys = parameters.map(parameter => `${parameter.in} ${parameter.name}`)
  return [
    ...named.filter(name => !inPath.some(parameter => parameter.name === name)).map(name => `no parameter ${name}`),
    ...inPath.filter(({ name }) => !named.includes(name)).map(({ name }) => `${name} is not in the path`),
    ...inPath.filter(({ required }) => required !== true).map(({ name }) => `${name} is not required`),
    ...(new Set(keys).size === keys.length ? [] : ['a parameter stands twice']),
    ...parameters.filter(({ schema }) => typeof schema !== 'object').map(({ name }) => `${name} has no schema`),
  ]
}

function referenceFaults(of: OpenApiDocument, part: unknown): string[] {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([name, value]) => {
    if (name !== '$ref' || typeof value !== 'string') return referenceFaults(of, value)
    let target: unknown = of
    for (const step of value.replace(/^#\//, '').split('/'))
      target = (target as Record<string, unknown> | undefined)?.[step]
    return value.startsWith('#/components/') && target !== undefined ? [] : [`${value} leads nowhere`]
  })
}

describe('the OpenAPI document', () => {
  it('the document is valid OpenAPI 3.1 without dangling references', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(document.info.version).toBe('1.0.0')
    expect(document.servers).toEqual([{ url: 'https://parley.example' }])
    expect(faults(document)).toEqual([])
  })

  it('every body has a name, and every object in it is a component', () => {
    const inline = (part: unknown): boolean => {
      if (typeof part !== 'object' || part === null) return false
      const {
        type,
        properties,
        example: _,
        ...rest
      } = part as { type?: unknown; properties?: object; example?: unknown }
      return (type === 'object' && properties !== undefined) || Object.values({ ...rest, properties }).some(inline)
    }
    for (const { operation } of described(document)) {
      const bodies = [operation.requestBody, ...Object.values(operation.responses)]
      for (const body of bodies) expect(inline(body), operation.operationId).toBe(false)
    }
    for (const [name, schema] of Object.entries(document.components.schemas))
      expect(Object.values((schema.properties ?? {}) as object).some(inline), name).toBe(false)
  })

  it('no webhook has the tag of an operation: generators would write one file over the other', () => {
    const tags = new Set(described(document).flatMap(({ operation }) => operation.tags))
    const webhooks = Object.values(document.webhooks) as unknown as { post: Described }[]
    expect(webhooks.flatMap(({ post }) => post.tags).filter(tag => tags.has(tag))).toEqual([])
  })

  it('requests and answers have the same enumerations under the same name', () => {
    const { schemas } = document.components
    const twice = Object.entries(schemas).filter(([name, { type }]) => type === 'string' && `${name}Input` in schemas)
    expect(twice.map(([name]) => name)).toEqual([])
  })

  it('no instant has a bound of its length, which a client that holds it as a time cannot check', () => {
    const parameters = described(document).flatMap(({ operation }) => operation.parameters ?? [])
    const instants = parameters.filter(({ schema }) => 'format' in schema && schema.format === 'date-time')
    expect(instants.length).toBeGreaterThan(3)
    expect(instants.filter(({ schema }) => 'maxLength' in schema)).toEqual([])
  })

  it('fields may be added to answers, and unknown fields of requests are refused', () => {
    const { Run, RunsCreateRequest } = document.components.schemas
    expect(Run).not.toHaveProperty('additionalProperties')
    expect(RunsCreateRequest).toHaveProperty('additionalProperties', false)
  })

  it('the document is plain JSON', () => expect(JSON.parse(JSON.stringify(document))).toEqual(document))

  it('the checks of these tests detect a dangling reference and an undeclared path parameter', () => {
    const { AgentSummary: _, ...schemas } = document.components.schemas
    expect(faults({ ...document, components: { ...document.components, schemas } })).not.toEqual([])
    const paths = { ...document.paths, '/x/{id}': document.paths['/api/v1/agents']! }
    expect(faults({ ...document, paths })).not.toEqual([])
  })

  it('the document describes every operation once', () => {
    const listed = described(document).map(
      ({ path, method, operation }) => `${operation.operationId} ${method} ${path}`,
    )
    expect(listed.sort()).toEqual(
      operations.map(({ id, method, path }) => `${id} ${method.toLowerCase()} ${path}`).sort(),
    )
  })

  it('every operation requires an API key as bearer token', () => {
    expect(document.components.securitySchemes).toMatchObject({ apiKey: { type: 'http', scheme: 'bearer' } })
    for (const { operation } of described(document)) expect(operation.security).toEqual([{ apiKey: [] }])
  })

  it.each(operations)(
    'the entry of $id declares its idempotency key, its statuses and its errors',
    ({ id, idempotency, statuses, errors }) => {
      const { operation } = described(document).find(found => found.operation.operationId === id)!
      const header = operation.parameters?.find(parameter => parameter.in === 'header')
      expect(header?.name).toBe(idempotency === 'required_header' ? 'Idempotency-Key' : undefined)
      const unreadable = [408, 431]
      const expected = [
        ...statuses,
        ...Object.keys(errors).map(code => API_ERRORS[code as ErrorCode].status),
        ...unreadable,
      ]
      expect(Object.keys(operation.responses).map(Number).sort()).toEqual([...new Set(expected)].sort())
      for (const [status, { content }] of Object.entries(operation.responses))
        if (Number(status) >= 400)
          expect(content['application/json']).toMatchObject({ schema: { $ref: '#/components/schemas/ErrorEnvelope' } })
    },
  )

  it('the webhooks are described with their events, payloads and signature', () => {
    expect(Object.keys(document.webhooks)).toEqual([...webhookEvent.options, 'alert.fired'])
    for (const [event, { post }] of Object.entries(document.webhooks)) {
      const { parameters, requestBody, security } = post as unknown as Described
      expect(parameters!.map(({ name, required }) => [name, required])).toContainEqual(['Parley-Signature', true])
      expect(security).toEqual([])
      const name = event === 'alert.fired' ? 'AlertWebhook' : 'RunWebhook'
      expect(requestBody!.content['application/json']!.schema).toEqual({ $ref: `#/components/schemas/${name}` })
      const { properties } = document.components.schemas[name] as {
        properties: Record<string, { description?: string }>
      }
      expect(Object.keys(properties).slice(0, 3)).toEqual(['event', 'event_id', 'occurred_at'])
    }
  })

  it('every property has a sentence', () => {
    const all = toOpenApi([...operations, ...streams, ...Object.values(authOperations)])
    const without = Object.entries(all.components.schemas).flatMap(([name, { properties }]) =>
      Object.entries((properties ?? {}) as Record<string, { description?: string }>)
        .filter(([, { description }]) => !/^[A-Z`"].{4,}\.$/s.test(description ?? ''))
        .map(([property, { description }]) => `${name}.${property}: ${description}`),
    )
    expect(without).toEqual([])
  })

  it('no sentence is of a property that does not exist', () => {
    const all = toOpenApi([...operations, ...streams, ...Object.values(authOperations)])
    const names = new Set(
      Object.values(all.components.schemas).flatMap(({ properties }) => Object.keys((properties ?? {}) as object)),
    )
    expect(Object.keys(SENTENCES).filter(name => !names.has(name))).toEqual([])
  })

  it('the event stream is described with the form of its events', () => {
    const runEvents = toOpenApi(streams).paths['/api/v1/runs/{run_id}/events']!.get!
    expect(runEvents.description).toContain('"event: end"')
    const [content] = Object.entries((runEvents as unknown as Described).responses['200']!.content)
    expect(content).toMatchObject(['text/event-stream', { 'x-event': { $ref: '#/components/schemas/TimelineItem' } }])
  })

  it('every refusal has an example for each of its codes', () => {
    for (const { operation } of described(document))
      for (const [status, { description, content }] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue
        const { examples } = content['application/json'] as unknown as { examples: object }
        const codes = description.split('; ').map(line => /^[a-z_]+/.exec(line)![0])
        expect(Object.keys(examples)).toEqual(codes)
      }
    for (const [code, example] of Object.entries(document.components.examples)) {
      const { value } = example as { value: unknown }
      expect(errorEnvelope.parse(value)).toMatchObject({ error: { code } })
    }
  })

  it('fields with a default are optional in requests and required in responses', () => {
    const { HttpAction, HttpActionInput } = document.components.schemas as Record<string, { required: string[] }>
    expect(HttpActionInput!.required).not.toContain('timeout_ms')
    expect(HttpAction!.required).toContain('timeout_ms')
  })

  it('a query member with a default is optional', () => {
    const query = (path: string, method: string) =>
      (document.paths[path]![method] as unknown as Described).parameters!.filter(parameter => parameter.in === 'query')
    expect(query('/api/v1/agents', 'get').map(({ required }) => required)).toEqual([false, false, false, false, false])
    expect(query('/api/v1/agents/{agent_id}/draft', 'delete').map(({ required }) => required)).toEqual([true, true])
  })

  it('a request body is required only if it has a required member', () => {
    const required = (path: string) => (document.paths[path]!.post as unknown as Described).requestBody!.required
    expect(required('/api/v1/agents')).toBe(true)
    expect(required('/api/v1/agents/{agent_id}/draft/validate')).toBe(false)
    expect(required('/api/v1/keys/{key_id}/rotate')).toBe(false)
  })
})

describe('signing in and out', () => {
  const signing = toOpenApi(Object.values(authOperations))

  it('signing in and out is described without faults, needs no key, and is no tool', () => {
    expect(faults(signing)).toEqual([])
    const found = described(signing)
    expect(found.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
      'get /auth/session',
      'post /auth/login',
      'post /auth/logout',
      'post /auth/session',
    ])
    for (const { operation } of found) {
      expect(operation.security).toContainEqual({})
      expect(operation).not.toHaveProperty('x-tool')
    }
  })
})
