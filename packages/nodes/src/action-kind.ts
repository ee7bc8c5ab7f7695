import { z } from 'zod'
import type { ImportWarning, PartFinding } from './findings.ts'
import type { JsonObject } from './node-type.ts'
import type { NodeAnswer } from './requests.ts'
import type { ConversationView, ToolStep } from './steps.ts'
import { actionId } from './values/names.ts'
import { text } from './values/text.ts'

const everyAction = {
  action_id: actionId,
  /** Set by the server, which raises it with each put that changes the action; the value in a request is ignored. */
  version: z.int().min(1).default(1),
  name: z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/, 'a letter or _, then letters, digits, _ -; at most 64'),
  description: text(0, 1024).default(''),
  channels: z
    .array(z.enum(['cloud', 'phone', 'web']))
    .min(1)
    .max(3)
    .refine(list => new Set(list).size === list.length, 'a channel is listed twice')
    .meta({ uniqueItems: true })
    .default(['cloud', 'phone', 'web']),
}

type Arguments = Readonly<Record<string, unknown>>

/** How a kind of action behaves. */
export interface ActionBehaviour<Action> {
  /** The action works on phone calls only. Default false. */
  readonly isPhoneOnly?: boolean
  /** JSON Schema, of an object, for the arguments that the model gives. */
  parameters(action: Action): Arguments
  /** Called when the model calls the action as a tool. */
  use(action: Action, args: Arguments, view: ConversationView): ToolStep
  /** Called with the answer to the request that `use` made. Default: the conversation waits for the caller's next turn. */
  answer?(action: Action, answer: NodeAnswer): ToolStep
  /** Findings about the action beyond those of its schema. */
  check?(action: Action): readonly PartFinding<Action>[]
  /** Names of the variables that the action sets. */
  variableNames?(action: Action): readonly string[]
  /** Paths of the fields that a tool of an export holds elsewhere than in a member of the same name. */
  readonly exportPaths?: Readonly<Record<string, readonly string[]>>
  /** Brings a tool of an export into the form that the schema takes. Default: the tool as it is. */
  importTool?(tool: JsonObject): JsonObject
  /** Brings an action, with its fields in their places in a tool, into the form that exports have. Default: as it is. */
  exportTool?(tool: JsonObject): JsonObject
  /** Warnings about a tool of an export that was read as this action. */
  importWarnings?(action: JsonObject): readonly ImportWarning[]
}

function strictSchema<const Kind extends string, Fields extends z.core.$ZodLooseShape>(kind: Kind, fields: Fields) {
  return z.strictObject({ ...everyAction, kind: z.literal(kind), ...fields })
}

type StrictSchema<Kind extends string, Fields extends z.core.$ZodLooseShape> = ReturnType<
  typeof strictSchema<Kind, Fields>
>

/** A kind of action: its schema and its behaviour. */
export interface ActionKind<Schema extends z.ZodObject> extends ActionBehaviour<z.output<Schema>> {
  readonly kind: string
  readonly schema: Schema
  /** The `type` of such a tool in an export. */
  readonly exportType: string
}

/** Defines a kind of action: the fields that it has besides those of every action, and its behaviour. */
export function defineAction<const Kind extends string, Fields extends z.core.$ZodLooseShape>(
  definition: { readonly kind: Kind; readonly exportType: string; readonly fields: Fields } & ActionBehaviour<
    z.output<StrictSchema<Kind, Fields>>
  >,
): ActionKind<StrictSchema<Kind, Fields>> {
  const { fields, ...behaviour } = definition
  return { ...behaviour, schema: strictSchema(definition.kind, fields) }
}
