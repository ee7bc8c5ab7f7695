import type { z } from 'zod'
import { envelopeOf, errorEnvelope } from '../error-envelope.ts'
import { API_ERRORS, ERROR_CODES, type ErrorCode } from '../errors.ts'
import { exampleOf } from '../examples/index.ts'
import { type MediaType, minimumRole, type Operation } from '../operation.ts'
import { WEBHOOKS } from '../webhooks.ts'
import { Components, pascal, reference } from './components.ts'
import { DEFINITIONS, hasRequiredMember, isRequired, type JsonSchema, jsonSchema } from './json-schema.ts'
import { withSentences } from './sentences/index.ts'

export const API_VERSION = '1.0.0'

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: { readonly title: string; readonly version: string; readonly summary: string }
  readonly servers: readonly { readonly url: string }[]
  readonly security: readonly JsonSchema[]
  readonly tags: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>
  /** Requests that Parley sends, by event. */
  readonly webhooks: Readonly<Record<string, { readonly post: JsonSchema }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly examples: JsonSchema
    readonly headers: JsonSchema
    readonly securitySchemes: JsonSchema
  }
}

/**
 * The OpenAPI document of the operations. `baseUrl` is the URL of the server (default: the one that serves the
 * document). All objects are components (`Components`); named schemas of requests end in `Input`, because fields with a
 * default are optional in requests only.
 */
export function toOpenApi(operations: readonly Operation[], baseUrl = '/'): OpenApiDocument {
  const steps = openApiSteps(operations, baseUrl)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** As {@link toOpenApi}, one operation per step: a thread with other work runs the steps one at a time. */
export function* openApiSteps(operations: readonly Operation[], baseUrl: string): Generator<void, OpenApiDocument> {
  const schemas = new Components()
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const operation of operations) {
    yield
    const item = paths[operation.path] ?? {}
    paths[operation.path] = item
    item[operation.method.toLowerCase()] = operationObject(operation, schemas)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley',
      version: API_VERSION,
      summary: 'Conversational agents on phone calls, web calls and chat',
    },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }],
    tags: [...new Set(operations.map(tagOf)), WEBHOOK_TAG].map(name => ({ name })),
    paths,
    webhooks: Object.fromEntries(Object.keys(WEBHOOKS).map(event => [event, { post: webhookObject(event, schemas) }])),
    components: {
      schemas: withSentences(schemas.all),
      examples: ERROR_EXAMPLES,
      headers: HEADERS,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key. Browsers may use the cookie of a session instead (POST /auth/session).',
        },
      },
    },
  }
}

/** Of no operation: generators write the operations of a tag and its webhooks to the same file, one over the other. */
const WEBHOOK_TAG = 'webhooks'

function tagOf(operation: Operation): string {
  return operation.id.slice(0, operation.id.indexOf('.'))
}

function operationObject(operation: Operation, schemas: Components): JsonSchema {
  const parameters = [
    ...parametersOf(operation.params, 'path', schemas),
    ...parametersOf(operation.query, 'query', schemas),
    ...keyParameter(operation, schemas),
    ...(operation.media === 'text/event-stream' ? [LAST_EVENT] : []),
  ]
  return {
    operationId: operation.id,
    tags: [tagOf(operation)],
    summary: operation.summary,
    ...(operation.media === 'text/event-stream' && { description: EVENT_STREAM }),
    security: securityOf(operation),
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body !== null && { requestBody: requestBody(operation.id, operation.body, schemas) }),
    responses: responses(operation, schemas),
    'x-role': minimumRole(operation),
    'x-idempotency': operation.idempotency,
    ...(operation.tool !== null && { 'x-tool': operation.tool }),
  }
}

/** A request that Parley sends to a receiver. */
function webhookObject(event: string, schemas: Components): JsonSchema {
  const { id, summary, body } = WEBHOOKS[event]!
  return {
    operationId: id,
    tags: [WEBHOOK_TAG],
    summary,
    description: DELIVERY,
    security: [],
    parameters: [SIGNATURE, TRACE_PARENT],
    requestBody: {
      required: true,
      content: contentOf('application/json', hoisted(body, 'output', schemas, pascal(id))),
    },
    responses: {
      '2XX': { description: 'The event was received. Any other answer, or none within 10 s, is a failed attempt' },
    },
  }
}

/** Signing in needs no key: a person presents the token of a link, or the cookie of a session. */
function securityOf({ path }: Operation): readonly JsonSchema[] {
  return path.startsWith('/auth/') ? [{}, { apiKey: [] }] : [{ apiKey: [] }]
}

/** Clients of typed languages hold an instant as a time, which has no length: what checks one does not compile. */
function withoutLengthOfInstant(schema: JsonSchema): JsonSchema {
  if (schema.format !== 'date-time') return schema
  const { maxLength: _, ...rest } = schema
  return rest
}

function parametersOf(part: z.ZodObject | null, place: 'path' | 'query', schemas: Components): JsonSchema[] {
  if (part === null) return []
  return Object.entries(part.shape).map(([name, schema]) => ({
    name,
    in: place,
    required: isRequired(schema),
    schema: withoutLengthOfInstant(hoisted(schema as z.ZodType, 'input', schemas, pascal(name))),
  }))
}

function keyParameter(operation: Operation, schemas: Components): JsonSchema[] {
  if (operation.idempotencyKey === null) return []
  const schema = hoisted(operation.idempotencyKey, 'input', schemas, 'IdempotencyKey')
  return [{ name: 'Idempotency-Key', in: 'header', required: true, schema }]
}

function requestBody(id: string, body: z.ZodObject, schemas: Components): JsonSchema {
  const schema = hoisted(body, 'input', schemas, `${pascal(id)}Request`)
  return { required: hasRequiredMember(body), content: contentOf('application/json', schema, exampleOf(id)?.body) }
}

const STATUS_TEXT: Readonly<Record<number, string>> = { 200: 'Success', 201: 'Created', 202: 'Accepted' }

function responses(operation: Operation, schemas: Components): JsonSchema {
  const content = contentOf(
    operation.media,
    hoisted(operation.output, 'output', schemas, `${pascal(operation.id)}Response`),
    exampleOf(operation.id)?.answer,
  )
  const done = operation.statuses.map((status, index) => {
    const description = index === 0 ? STATUS_TEXT[status] : 'A replay of an earlier request, or nothing was left to do'
    return [status, { description, headers: COMMON_HEADERS, content }] as const
  })
  const envelope = hoisted(errorEnvelope, 'output', schemas, 'ErrorEnvelope')
  const failed = [...codesByStatus(operation)].map(([status, codes]) => {
    const headers = { ...COMMON_HEADERS, ...(status === 429 && RETRY_AFTER), ...(status === 401 && CHALLENGE) }
    const description = codes.map(code => withReasons(code, operation.errors[code] ?? [])).join('; ')
    return [status, { description, headers, content: errorContent(envelope, codes) }] as const
  })
  const unreadable = errorContent(envelope, ['invalid_request'])
  const unread = Object.entries(UNREADABLE).map(
    ([status, description]) => [status, { description, headers: UNREADABLE_HEADERS, content: unreadable }] as const,
  )
  return Object.fromEntries([...done, ...failed, ...unread].map(([status, response]) => [String(status), response]))
}

function codesByStatus(operation: Operation): Map<number, ErrorCode[]> {
  const codes = ERROR_CODES.filter(code => code in operation.errors)
  return Map.groupBy(codes, code => API_ERRORS[code].status)
}

function withReasons(code: ErrorCode, reasons: readonly string[]): string {
  return reasons.length === 0 ? code : `${code} (${reasons.join(', ')})`
}

/** An answer with each of the codes; they are components, because every operation has most of them. */
const ERROR_EXAMPLES = Object.fromEntries(
  ERROR_CODES.map(code => [code, { value: envelopeOf(code, API_ERRORS[code].text) }]),
)

function errorContent(schema: JsonSchema, codes: readonly ErrorCode[]): JsonSchema {
  const examples = Object.fromEntries(codes.map(code => [code, { $ref: `#/components/examples/${code}` }]))
  return { 'application/json': { schema, examples } }
}

const text = { schema: { type: 'string' } }
const EVENT_STREAM =
  'Server-sent events. Each item of the timeline is an event: "id" is its seq, "event" its kind, "data" the item as JSON, whose schema is x-event. After the last item comes "event: end", and the stream ends. A comment follows every 15 s. With Last-Event-ID the stream resumes after that item.'
const DELIVERY =
  'Sent by POST, and again 1, 5, 30, 120 and 600 s after attempts that failed. An event may arrive more than once: event_id is the same.'
const SIGNATURE = {
  name: 'Parley-Signature',
  in: 'header',
  required: true,
  description:
    't=UNIX_SECONDS,v1=HEX: HEX is the HMAC-SHA256 of the text "UNIX_SECONDS.BODY" under the signing secret, where BODY is the body as it was received. There is one v1 for each secret that is valid while the secret is being replaced: one that matches is enough. Refuse a time that is more than five minutes off.',
  schema: { type: 'string', pattern: '^t=[0-9]+(,v1=[0-9a-f]{64})+$' },
}
const TRACE_PARENT = {
  name: 'traceparent',
  in: 'header',
  required: false,
  description: "The run's trace in the format of W3C Trace Context; notifications of alerts have none.",
  schema: { type: 'string' },
}
/** Position to resume an event stream from; values that are not numbers are ignored, because browsers send any id. */
const LAST_EVENT = { name: 'Last-Event-ID', in: 'header', required: false, ...text }
const HEADERS = {
  'X-Request-Id': text,
  RateLimit: text,
  'RateLimit-Policy': text,
  'Retry-After': { schema: { type: 'integer', minimum: 0 } },
  'WWW-Authenticate': text,
}
const COMMON_HEADERS = headers('X-Request-Id', 'RateLimit', 'RateLimit-Policy')
const RETRY_AFTER = headers('Retry-After')
const CHALLENGE = headers('WWW-Authenticate')
/** Refusals before the request line is known, so they apply to every operation. */
const UNREADABLE: Readonly<Record<number, string>> = {
  408: 'invalid_request: the request took too long to arrive',
  431: 'invalid_request: the headers of the request are too large',
}
const UNREADABLE_HEADERS = headers('X-Request-Id')

function headers(...names: (keyof typeof HEADERS)[]): JsonSchema {
  return Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
}

/** For an event stream, `schema` and `example` are of the data of one event. */
function contentOf(media: MediaType, schema: JsonSchema, example?: JsonSchema): JsonSchema {
  if (media === 'application/json') return { [media]: { schema, ...(example !== undefined && { example }) } }
  const text = example !== undefined && { example: `data: ${JSON.stringify(example)}\n\n` }
  return { [media]: { schema: { type: 'string' }, 'x-event': schema, ...text } }
}

/** A reference to the schema, whose named parts are components; `name` is that of a schema that has none. */
function hoisted(schema: z.ZodType, io: 'input' | 'output', schemas: Components, name: string): JsonSchema {
  const { $defs, ...own } = jsonSchema(schema, io)
  const definitions = ($defs ?? {}) as Record<string, JsonSchema>
  const named = (part: string, definition = definitions[part]) =>
    io === 'input' && definition?.type !== 'string' ? `${part}Input` : part
  const adapted = (part: unknown) => redirected(io === 'output' ? open(part) : part, named) as JsonSchema
  for (const [part, definition] of Object.entries(definitions)) schemas.add(named(part), adapted(definition))
  const id = schema.meta()?.id
  if (id === undefined) return schemas.place(adapted(own), name)
  return schemas.add(named(id, own), adapted(own))
}

/** Answers may gain fields: they do not forbid others. */
function open(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(open)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => !(name === 'additionalProperties' && member === false))
      .map(([name, member]) => [name, open(member)]),
  )
}

/** With references to components, by the name of each definition. */
function redirected(value: unknown, named: (definition: string) => string): unknown {
  if (Array.isArray(value)) return value.map(item => redirected(item, named))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) =>
      name === '$ref' && typeof member === 'string' && member.startsWith(DEFINITIONS)
        ? [name, reference(named(member.slice(DEFINITIONS.length))).$ref]
        : [name, redirected(member, named)],
    ),
  )
}
