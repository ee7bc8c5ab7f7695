import { z } from 'zod'
import { defineAction } from '../action-kind.ts'
import { executionMessageFields } from '../parts/execution-message.ts'
import { isObject, type JsonSchema } from '../parts/json-schema.ts'
import { warnTypingSound } from '../parts/typing-sound.ts'
import { jsonObject, stringMap } from '../values/json.ts'
import { variableName } from '../values/names.ts'
import { secretRef } from '../values/references.ts'
import { text } from '../values/text.ts'

const stringPairs = stringMap(text(1, 256), text(0, 8192), 50).default({})

/** Variables are allowed after the host only, so that a caller's words never choose the server. */
const url = text(1, 2048).regex(
  /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^/?#{}\s@\\]+([/?#]|$)/,
  'an http(s) URL, with {{variables}} after the host only',
)

/** How the request authenticates. With the scheme basic the secret is `user:password`. */
export const actionAuthentication = z
  .strictObject({
    scheme: z.enum(['bearer', 'basic', 'header', 'parley_signature']),
    secret: secretRef,
    header: z
      .string()
      .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, 'a header name')
      .default('X-Api-Key'),
  })
  .meta({ id: 'ActionAuthentication' })

const fields = {
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  url,
  headers: stringPairs,
  query: stringPairs,
  /** JSON Schema, of an object, for the arguments. */
  parameters: jsonObject.default({}),
  body_format: z.enum(['json', 'form']).default('json'),
  /** Body of the request. False: `{name, args, call}`; true: the arguments alone. */
  args_at_root: z.boolean().default(false),
  /** For each variable, the path of its value in the answer, such as `$.slots[0].time`. */
  response_variables: stringMap(variableName, text(1, 1024)).default({}),
  auth: actionAuthentication.nullable().default(null),
  idempotency: z.enum(['effect_key', 'none']).default('none'),
  timeout_ms: z.int().min(1000).max(600_000).default(120_000),
  /** Default false. True: what the action does can be undone, so that it may run on a turn that the caller has probably not finished. GET requests always may. */
  reversible: z.boolean().optional(),
  ...executionMessageFields,
  speak_during_execution: z.boolean().default(false),
  enable_typing_sound: z.boolean().optional(),
  speak_after_execution: z.boolean().default(true),
}

/** Sends an HTTP request. Function nodes run it, and the model calls it as a tool. */
export const httpAction = defineAction({
  kind: 'http',
  exportType: 'custom',
  fields,
  exportPaths: {
    query: ['query_params'],
    body_format: ['parameter_type'],
    auth: ['parley', 'auth'],
    idempotency: ['parley', 'idempotency'],
    reversible: ['parley', 'reversible'],
  },
  importTool: tool => ({ ...tool, method: typeof tool.method === 'string' ? tool.method.toUpperCase() : 'POST' }),
  variableNames: action => Object.keys(action.response_variables),
  check: warnTypingSound,
  parameters: openParameters,
  use: () => ({ next: 'run_action' }),
})

interface WithParameters {
  readonly kind: string
  readonly parameters?: JsonSchema
}

export type HttpAction = z.output<typeof httpAction.schema>

/** JSON Schema of the arguments that the model infers: the parameters without `const`. */
export function openParameters(action: WithParameters): JsonSchema {
  const open = Object.entries(propertiesOf(action)).filter(([, schema]) => !isConstant(schema))
  const names = new Set(open.map(([name]) => name))
  const { parameters = {} } = action
  const required = Array.isArray(parameters.required) ? parameters.required : []
  return {
    ...parameters,
    type: 'object',
    properties: Object.fromEntries(open),
    required: required.filter(name => typeof name === 'string' && names.has(name)),
  }
}

/** The arguments of a call: those that the model inferred, and the constants of the schema, whose variables are filled in. A constant wins. */
export function completeArguments(
  action: WithParameters,
  inferred: unknown,
  render: (template: string) => string,
): Record<string, unknown> {
  const complete: Record<string, unknown> = { ...(isObject(inferred) ? inferred : {}) }
  for (const [name, schema] of Object.entries(propertiesOf(action)))
    if (isConstant(schema)) complete[name] = typeof schema.const === 'string' ? render(schema.const) : schema.const
  return complete
}

function propertiesOf(action: WithParameters): Record<string, unknown> {
  const properties = action.parameters?.properties
  return isObject(properties) ? properties : {}
}

function isConstant(schema: unknown): schema is { const: unknown } {
  return isObject(schema) && Object.hasOwn(schema, 'const')
}
