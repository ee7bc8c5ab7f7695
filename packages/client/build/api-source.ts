import { type JsonSchema, type OpenApiDocument, type Operation, toOpenApi } from '@parley/contract'
import { deriveRoute } from '../src/derive-route.ts'
import { propertiesOf, property, typeOf } from './schema-types.ts'

/**
 * The source that replaces `src/api.ts` in the published package: the types and routes of the API, without the
 * contract.
 */
export function apiSource(operations: readonly Operation[], streams: readonly Operation[]): string {
  const document = toOpenApi([...operations, ...streams])
  const named = Object.entries(document.components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)}\n`,
  )
  return [
    '// Generated from the contract of the API. Do not edit.',
    "import type { OperationRoute } from './operation-route.ts'",
    '',
    'export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }',
    'export interface Issue { readonly path: string; readonly message: string }',
    '',
    ...named,
    '/** Request and response of each operation. */',
    'export interface Operations {',
    ...operations.map(operation => operationTypes(operation, document)),
    '}',
    '',
    '/** Request and event of each stream. */',
    'export interface Streams {',
    ...streams.map(stream => operationTypes(stream, document)),
    '}',
    '',
    'export type StreamId = keyof Streams',
    "export type StreamRequestTo<Id extends StreamId> = Streams[Id]['request']",
    "export type EventFrom<Id extends StreamId> = Streams[Id]['result']",
    '',
    'export type OperationId = keyof Operations',
    '/** The request of an operation. A missing idempotency key is generated. */',
    "export type RequestTo<Id extends OperationId> = Operations[Id]['request']",
    '/** The response body of an operation. */',
    "export type ResultFrom<Id extends OperationId> = Operations[Id]['result']",
    '',
    `export const routes: readonly OperationRoute[] = ${JSON.stringify(operations.map(deriveRoute), null, 2)}`,
    `export const streamRoutes: readonly OperationRoute[] = ${JSON.stringify(streams.map(deriveRoute), null, 2)}`,
    '',
  ].join('\n')
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: JsonSchema
}

interface Described {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content: Content }>>
}

type Content = {
  readonly 'application/json': { readonly schema: JsonSchema }
  readonly 'text/event-stream'?: { readonly 'x-event': JsonSchema }
}

function operationTypes(operation: Operation, document: OpenApiDocument): string {
  const described = document.paths[operation.path]![operation.method.toLowerCase()] as unknown as Described
  const { content } = described.responses[String(operation.statuses[0])]!
  const answer = content['text/event-stream']?.['x-event'] ?? content['application/json'].schema
  const members = [
    ...partOf('params', described, 'path'),
    ...partOf('query', described, 'query'),
    ...bodyOf(described),
    ...(operation.idempotencyKey === null ? [] : [property('idempotency_key', 'string', false)]),
  ]
  return [
    `  /** ${operation.summary.replaceAll('*/', '* /')}. */`,
    `  '${operation.id}': {`,
    `    request: { ${members.join('; ')} }`,
    `    result: ${typeOf(answer)}`,
    '  }',
  ].join('\n')
}

function partOf(name: string, { parameters = [] }: Described, place: Parameter['in']): string[] {
  const own = parameters.filter(parameter => parameter.in === place)
  if (own.length === 0) return []
  const required = own.filter(parameter => parameter.required).map(parameter => parameter.name)
  const schemas = Object.fromEntries(own.map(parameter => [parameter.name, parameter.schema]))
  return [part(name, `{\n${propertiesOf(schemas, required)}\n}`, required.length > 0)]
}

function bodyOf({ requestBody }: Described): string[] {
  if (requestBody === undefined) return []
  return [part('body', typeOf(requestBody.content['application/json'].schema), requestBody.required)]
}

function part(name: string, type: string, isRequired: boolean): string {
  return `${name}${isRequired ? '' : '?'}: ${type}`
}
