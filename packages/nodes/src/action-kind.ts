import { z } from 'zod'
import type { ImportWarning, PartFinding } from './findings.ts'
import type { JsonObject } from './node-type.ts'
import type { NodeAnswer } from './requests.ts'
import type { ConversationView, ToolStep } from './steps.ts'
import { json } from './values/json.ts'
import { actionId } from './values/names.ts'
import { text } from './values/text.ts'

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

type Arguments = Readonly<Record<string, unknown>>

/** The particularities of a kind of action. */
export interface ActionBehaviour<Action> {
  /** It works on phone calls only. */
  readonly isPhoneOnly?: boolean
  /** JSON Schema of the arguments that the model gives, an object. */
  parameters(action: Action): Arguments
  /** Called when the model calls the action as a tool. */
  use(action: Action, args: Arguments, view: ConversationView): ToolStep
  /** Called with the answer to the request that `use` made. Default: waits for the far end's next turn. */
  answer?(action: Action, answer: NodeAnswer): ToolStep
  check?(action: Action): readonly PartFinding<Action>[]
  /** Names of the variables that the action sets. */
  variables?(action: Action): readonly string[]
  importWarnings?(action: JsonObject): readonly ImportWarning[]
}

function strictSchema<const Kind extends string, Fields extends z.core.$ZodLooseShape>(kind: Kind, fields: Fields) {
  return z.strictObject({ ...everyAction, kind: z.literal(kind), ...fields })
}

type StrictSchema<Kind extends string, Fields extends z.core.$ZodLooseShape> = ReturnType<
  typeof strictSchema<Kind, Fields>
>

/** A kind of action: its schema and what is particular about it. */
export interface ActionKind<Schema extends z.ZodObject> extends ActionBehaviour<z.output<Schema>> {
  readonly kind: string
  readonly schema: Schema
  /** False: drafts keep such actions as they are written, but are not published with them. */
  readonly isRunnable: boolean
  /** The `type` of such a tool in an export. */
  readonly exportType: string
}

/** Defines a kind of action by its own fields, beside those of every action, and its behaviour. */
export function defineAction<const Kind extends string, Fields extends z.core.$ZodLooseShape>(
  definition: { readonly kind: Kind; readonly exportType: string; readonly fields: Fields } & ActionBehaviour<
    z.output<StrictSchema<Kind, Fields>>
  >,
): ActionKind<StrictSchema<Kind, Fields>> {
  const { fields, ...behaviour } = definition
  return { ...behaviour, schema: strictSchema(definition.kind, fields), isRunnable: true }
}

/** Defines a kind of action that does not run yet: drafts keep its actions as they are written. */
export function defineStoredAction<const Kind extends string>(kind: Kind) {
  return {
    kind,
    exportType: kind,
    schema: z.object({ ...everyAction, kind: z.literal(kind) }).catchall(json),
    isRunnable: false,
    parameters: () => ({}),
    use: (): ToolStep => ({ next: 'ignore' }),
  }
}
