import { z } from 'zod'
import { variableItem } from './analysis-item.ts'
import { instruction } from './instruction.ts'
import { identifier, text, variableName } from './names.ts'
import { secretRef } from './references.ts'
import { transferFields } from './transfer.ts'

const everyAction = {
  action_id: identifier(128),
  version: z.int().min(1).default(1),
  name: z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/, 'a letter or _, then letters, digits, _ -; at most 64'),
  description: text(0, 1024).default(''),
  channels: z
    .array(z.enum(['cloud', 'phone', 'web']))
    .min(1)
    .max(3)
    .default(['cloud', 'phone', 'web']),
}

const stringMap = z
  .record(text(1, 256), text(0, 8192))
  .refine(map => Object.keys(map).length <= 50, 'more than 50 entries')
  .default({})

/** http or https; variables stand after the host only, so that what a caller says never chooses whom to talk to. */
const url = text(1, 2048).refine(
  value => /^https?:\/\/[^/?#{}\s@\\]+([/?#]|$)/i.test(value),
  'an http(s) URL, with {{variables}} after the host only',
)

const authentication = z.strictObject({
  scheme: z.enum(['bearer', 'basic', 'header', 'parley_signature']),
  secret: secretRef,
  header: z
    .string()
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/, 'a header name')
    .default('X-Api-Key'),
})

export const httpAction = z.strictObject({
  ...everyAction,
  kind: z.literal('http'),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  url,
  headers: stringMap,
  query: stringMap,
  /** JSON Schema of an object. A property with `const` is filled in (with `{{variables}}`), the others are inferred. */
  parameters: z.record(z.string(), z.json()).default({}),
  body_format: z.enum(['json', 'form']).default('json'),
  args_at_root: z.boolean().default(false),
  /** Variable name to a path into the answer, such as `$.slots[0].time`. */
  response_variables: z.record(variableName, text(1, 1024)).default({}),
  auth: authentication.nullable().default(null),
  idempotency: z.enum(['effect_key', 'none']).default('none'),
  timeout_ms: z.int().min(1000).max(600_000).default(120_000),
  speak_during_execution: z.boolean().default(false),
  speak_after_execution: z.boolean().default(true),
})

export const action = z.discriminatedUnion('kind', [
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
  z.looseObject({ ...everyAction, kind: z.enum(['agent_swap', 'send_sms']) }),
])

export type HttpAction = z.output<typeof httpAction>
export type Action = z.output<typeof action>
