import { z } from 'zod'
import { json, jsonObject, stringMap } from '../values/json.ts'
import { actionId, variableName } from '../values/names.ts'
import { secretRef } from '../values/references.ts'
import { text } from '../values/text.ts'
import { variableItem } from './analysis-item.ts'
import { instruction } from './instruction.ts'
import { transferFields } from './transfer.ts'

const everyAction = {
  action_id: actionId,
  /** Set by the server, 1 more with each put that changes the action; what a request says is not taken. */
  version: z.int().min(1).default(1),
  name: z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/, 'a letter or _, then letters, digits, _ -; at most 64'),
  description: text(0, 1024).default(''),
  channels: z
    .array(z.enum(['cloud', 'phone', 'web']))
    .min(1)
    .max(3)
    .refine(list => new Set(list).size === list.length, 'a channel stands twice')
    .meta({ uniqueItems: true })
    .default(['cloud', 'phone', 'web']),
}

const stringPairs = stringMap(text(1, 256), text(0, 8192), 50).default({})

/** Variables stand after the host only, so that what a caller says never chooses whom to talk to. */
const url = text(1, 2048).regex(
  /^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^/?#{}\s@\\]+([/?#]|$)/,
  'an http(s) URL, with {{variables}} after the host only',
)

/** How the request says who sends it. Scheme basic: the secret is `user:password`. */
const authentication = z
  .strictObject({
    scheme: z.enum(['bearer', 'basic', 'header', 'parley_signature']),
    secret: secretRef,
    header: z
      .string()
      .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, 'a header name')
      .default('X-Api-Key'),
  })
  .meta({ id: 'ActionAuthentication' })

const httpAction = z.strictObject({
  ...everyAction,
  kind: z.literal('http'),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  url,
  headers: stringPairs,
  query: stringPairs,
  /** JSON Schema of an object: the arguments. */
  parameters: jsonObject.default({}),
  body_format: z.enum(['json', 'form']).default('json'),
  /** False: `{name, args, call}`; true: the arguments alone. */
  args_at_root: z.boolean().default(false),
  /** Name to a path into the answer, such as `$.slots[0].time`. */
  response_variables: stringMap(variableName, text(1, 1024)).default({}),
  auth: authentication.nullable().default(null),
  idempotency: z.enum(['effect_key', 'none']).default('none'),
  timeout_ms: z.int().min(1000).max(600_000).default(120_000),
  speak_during_execution: z.boolean().default(false),
  speak_after_execution: z.boolean().default(true),
})

/** What an agent can do besides talking. */
export const action = z
  .discriminatedUnion('kind', [
    httpAction,
    z.strictObject({
      ...everyAction,
      kind: z.literal('end_call'),
      instruction: instruction.nullable().default(null),
      speak_during_execution: z.boolean().default(false),
    }),
    z.strictObject({ ...everyAction, kind: z.literal('transfer_call'), ...transferFields }),
    z.strictObject({
      ...everyAction,
      kind: z.literal('press_digit'),
      instruction: instruction.nullable().default(null),
      delay_ms: z.int().min(0).max(10_000).default(1000),
    }),
    z.strictObject({
      ...everyAction,
      kind: z.literal('extract_dynamic_variables'),
      variables: z.array(variableItem).min(1).max(50),
    }),
    // Kept as written: nothing runs them yet.
    z.object({ ...everyAction, kind: z.enum(['agent_swap', 'send_sms']) }).catchall(json),
  ])
  .meta({ id: 'Action' })

export type Action = z.output<typeof action>
