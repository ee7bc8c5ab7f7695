import { z } from 'zod'
import type { ImportWarning, PartFinding } from './findings.ts'
import { type EdgeSlot, goBackCondition, slot } from './parts/edge.ts'
import type { Instruction } from './parts/instruction.ts'
import type { NodeAnswer } from './requests.ts'
import type { ConversationView, NodeStep } from './steps.ts'
import { type Json, json } from './values/json.ts'
import { nodeId } from './values/names.ts'
import { modelRef } from './values/references.ts'
import { text } from './values/text.ts'

/** Examples that exports carry; kept as written. */
export const examples = z.array(json).max(100).optional()

const globalNodeSetting = z
  .strictObject({
    condition: text(1, 4096),
    /** Turns after an entry in which this node is not entered again. */
    cool_down: z.int().min(0).max(100).nullable().default(null),
    go_back_conditions: z.array(goBackCondition).max(100).default([]),
    positive_finetune_examples: examples,
    negative_finetune_examples: examples,
  })
  .meta({ id: 'GlobalNodeSetting' })

const everyNode = {
  id: nodeId,
  name: text(0, 256).default(''),
  display_position: z.strictObject({ x: z.number(), y: z.number() }).nullable().default(null),
  global_node_setting: globalNodeSetting.nullable().default(null),
  model_choice: modelRef.nullable().default(null),
}

/** The members that every new node has. */
export function bareNode(id: string) {
  return { id, name: '', display_position: null, global_node_setting: null, model_choice: null }
}

/** What a node's check knows of the draft around it. */
interface DraftView {
  /** The kind of the action of that id; undefined where there is none. */
  actionKind(id: string): string | undefined
  hasComponent(id: string): boolean
}

/** How a node converses; null settings are the agent's. */
export interface Conversing {
  readonly instruction: Instruction
  /** Ids of the actions that the model may call. */
  readonly tools: readonly string[]
  readonly interruption_sensitivity: number | null
  readonly responsiveness: number | null
  readonly voice_speed: number | null
  readonly reminder_trigger_ms: number | null
  readonly reminder_max_count: number | null
  readonly allow_dtmf_interruption: boolean | null
}

/** The particularities of a node type. Where its edges stand is read off the schema of its fields. */
export interface NodeBehaviour<Node> {
  /** The node speaks and answers turns of the caller. */
  conversing?(node: Node): Conversing
  /** The first thing the node does. Default: its edges are tried. */
  enter?(node: Node, view: ConversationView): NodeStep
  /** Called with the answer to the request that `enter` or another answer made. Default: its edges are tried. */
  answer?(node: Node, answer: NodeAnswer, view: ConversationView): NodeStep
  /** Called when a global node or a component returns here; nothing is done a second time. Default: nodes that converse speak on, others are left. */
  resume?(node: Node, view: ConversationView): NodeStep
  /** Called where no edge leads on while a caller waits. Default: the model speaks. */
  stuck?(node: Node, view: ConversationView): NodeStep
  /** Default true: a caller who stays silent in this node is reminded. */
  readonly remindsCaller?: boolean
  /** The conversation can end here. */
  readonly isEnding?: boolean
  /** The least number of edges in the list `edges`. Default 0. */
  readonly minEdges?: number
  /** What is wrong with the node beyond its schema. */
  check?(node: Node, draft: DraftView): readonly PartFinding<Node>[]
  /** Ids of the actions that the node refers to. */
  actions?(node: Node): readonly string[]
  /** Id of the component that the node runs. */
  component?(node: Node): string
  /** Names of the variables that the node sets. */
  variables?(node: Node): readonly string[]
  /** Exports define tools inside such a node; they become actions of the agent, which the node names in `tool_ids`. */
  readonly definesTools?: boolean
  /** Brings a node of an export into the form that the schema takes; warnings say what was changed. */
  importNode?(source: JsonObject): { readonly node: JsonObject; readonly warnings: readonly ImportWarning[] }
  /** What an import warns of, of a node that was read. */
  importWarnings?(node: JsonObject): readonly ImportWarning[]
}

export type JsonObject = { [name: string]: Json }

function strictSchema<const Type extends string, Fields extends z.core.$ZodLooseShape>(type: Type, fields: Fields) {
  return z.strictObject({ ...everyNode, type: z.literal(type), ...fields })
}

function openSchema<const Type extends string, Fields extends z.core.$ZodLooseShape>(type: Type, fields: Fields) {
  return z.object({ ...everyNode, type: z.literal(type), ...fields }).catchall(json)
}

type StrictSchema<Type extends string, Fields extends z.core.$ZodLooseShape> = ReturnType<
  typeof strictSchema<Type, Fields>
>

/** A node type: its schema and what is particular about it. */
export interface NodeType<Schema extends z.ZodObject> extends NodeBehaviour<z.output<Schema>> {
  readonly type: string
  readonly schema: Schema
  /** False: drafts keep such nodes as they are written, but are not published with them. */
  readonly isRunnable: boolean
  /** Whether its instruction can be edited. */
  readonly hasInstruction: boolean
  /** Where its edges stand. */
  readonly slots: readonly EdgeSlot[]
}

/** Defines a node type by its own fields, beside those of every node, and its behaviour. */
export function defineNode<const Type extends string, Fields extends z.core.$ZodLooseShape>(
  definition: { readonly type: Type; readonly fields: Fields } & NodeBehaviour<z.output<StrictSchema<Type, Fields>>>,
): NodeType<StrictSchema<Type, Fields>> {
  const { fields, ...behaviour } = definition
  return {
    ...behaviour,
    schema: strictSchema(definition.type, fields),
    isRunnable: true,
    hasInstruction: Object.hasOwn(fields, 'instruction'),
    slots: slotsIn(fields),
  }
}

/** Defines a node type that does not run yet: drafts keep its nodes as they are written. `fields` are its edges. */
export function defineStoredNode<const Type extends string, Fields extends z.core.$ZodLooseShape>(definition: {
  readonly type: Type
  readonly fields: Fields
  readonly hasInstruction: boolean
}) {
  const { type, fields, hasInstruction } = definition
  return { type, schema: openSchema(type, fields), isRunnable: false, hasInstruction, slots: slotsIn(fields) }
}

function slotsIn(fields: object): readonly EdgeSlot[] {
  return slot.options.filter(name => Object.hasOwn(fields, name))
}
