import { z } from 'zod'
import type { ImportWarning, PartFinding } from './findings.ts'
import { type EdgeSlot, goBackCondition, slot } from './parts/edge.ts'
import { examples } from './parts/examples.ts'
import type { Instruction } from './parts/instruction.ts'
import type { NodeAnswer } from './requests.ts'
import type { ConversationView, NodeStep } from './steps.ts'
import type { Json } from './values/json.ts'
import { nodeId } from './values/names.ts'
import { modelRef } from './values/references.ts'
import { text } from './values/text.ts'

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
  display_position: z
    .strictObject({ x: z.number(), y: z.number() })
    .meta({ id: 'DisplayPosition' })
    .nullable()
    .default(null),
  global_node_setting: globalNodeSetting.nullable().default(null),
  model_choice: modelRef.nullable().default(null),
}

/** The members that every new node has. */
export function bareNode(id: string) {
  return { id, name: '', display_position: null, global_node_setting: null, model_choice: null }
}

/** What a node's check may read of the draft around the node. */
interface DraftView {
  /** The kind of the action; undefined: the draft has no such action. */
  actionKind(actionId: string): string | undefined
  hasComponent(componentId: string): boolean
  hasMcpServer(mcpId: string): boolean
  /** Whether the agent has a service that sends text messages. */
  readonly sendsSms: boolean
}

/** How a node converses. A setting that is null takes the agent's value. */
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
  /** Absent members take the agent's values. */
  readonly user_dtmf_options?:
    | {
        readonly digit_limit?: number | null | undefined
        readonly termination_key?: string | null | undefined
        readonly timeout_ms?: number | undefined
      }
    | null
    | undefined
  readonly holding_line?: string | null | undefined
}

/** How a node type behaves. */
export interface NodeBehaviour<Node> {
  /** Present on types that speak and answer the caller's turns. */
  conversing?(node: Node): Conversing
  /** Called when the conversation enters the node. Default: the node is left by its edges at once. */
  enter?(node: Node, view: ConversationView): NodeStep
  /** Called with the answer to the request that `enter` or another answer made. Default: the node is left by its edges. */
  answer?(node: Node, answer: NodeAnswer, view: ConversationView): NodeStep
  /**
   * Called when a global node or a component returns to this node; it repeats no request. Default: a node that converses
   * speaks on, any other is left by its edges.
   */
  resume?(node: Node, view: ConversationView): NodeStep
  /** Called when no edge can be taken while a caller waits. Default: the model speaks. */
  stuck?(node: Node, view: ConversationView): NodeStep
  /** Whether a caller who stays silent in this node is reminded. Default true. */
  readonly remindsCaller?: boolean
  /** Whether the conversation can end in this node. Default false. */
  readonly isEnding?: boolean
  /** Findings about the node beyond those of its schema. */
  check?(node: Node, draft: DraftView): readonly PartFinding<Node>[]
  /** Called when the action of the node that waited for it is over. Default: the node is left by its edges. */
  afterAction?(node: Node, outcome: 'succeeded' | 'failed' | 'uncertain'): NodeStep
  /** The action that the node itself is, which its `enter` runs with `actionId` null. */
  ownAction?(node: Node): OwnAction
  /** Ids of the actions that the node refers to. */
  actionIds?(node: Node): readonly string[]
  /** Id of the component that the node runs. */
  componentId?(node: Node): string
  /** Names of the variables that the node sets. */
  variableNames?(node: Node): readonly string[]
  /** Exports define tools inside such a node; an import makes them actions of the agent and lists them in the node's `tool_ids`. */
  readonly exportDefinesTools?: boolean
  /** Brings a node of an export into the form that the schema takes; the warnings name each change. */
  importNode?(source: JsonObject): ImportedNode
  /** Warnings about a node of an export that was read. */
  importWarnings?(node: JsonObject): readonly ImportWarning[]
}

/** An action that a node is; the registry knows its kind. */
type OwnAction = { readonly kind: string; readonly action_id: string }

export type JsonObject = { [name: string]: Json }

export interface ImportedNode {
  readonly node: JsonObject
  readonly warnings: readonly ImportWarning[]
}

function strictSchema<const Type extends string, Fields extends z.core.$ZodLooseShape>(type: Type, fields: Fields) {
  return z.strictObject({ ...everyNode, type: z.literal(type), ...fields })
}

type StrictSchema<Type extends string, Fields extends z.core.$ZodLooseShape> = ReturnType<
  typeof strictSchema<Type, Fields>
>

/** A node type: its schema and its behaviour. */
export interface NodeType<Schema extends z.ZodObject> extends NodeBehaviour<z.output<Schema>> {
  readonly type: string
  readonly schema: Schema
  /** Whether nodes of the type have an instruction, which an edit can change. */
  readonly hasInstruction: boolean
  /** The members of the node that hold its edges, derived from its fields. */
  readonly slots: readonly EdgeSlot[]
}

interface NodeDefinition<Type extends string, Fields extends z.core.$ZodLooseShape, Action> {
  readonly type: Type
  /** The fields that the type has besides those of every node. */
  readonly fields: Fields
  /** The kind of action by which the model does the same as a tool. Default: the model cannot. */
  readonly action?: Action
}

/** Defines a node type and, where the model can do the same as a tool, its kind of action. */
export function defineNode<
  const Type extends string,
  Fields extends z.core.$ZodLooseShape,
  Action extends { readonly kind: string } | undefined = undefined,
>(
  definition: NodeDefinition<Type, Fields, Action> & NodeBehaviour<z.output<StrictSchema<Type, Fields>>>,
): NodeType<StrictSchema<Type, Fields>> & { readonly action: Action } {
  const { fields, ...behaviour } = definition
  return {
    ...behaviour,
    action: definition.action as Action,
    schema: strictSchema(definition.type, fields),
    hasInstruction: Object.hasOwn(fields, 'instruction'),
    slots: slotsIn(fields),
  }
}

function slotsIn(fields: object): readonly EdgeSlot[] {
  return slot.options.filter(name => Object.hasOwn(fields, name))
}
