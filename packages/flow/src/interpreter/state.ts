import type { NodeAnswer } from '@parley/nodes'
import type { Choice, FlowOutcome } from './protocol.ts'

/** Where a conversation is: a node's address, and the component nodes that called it, outermost first. */
export interface Position {
  readonly node: string
  readonly calls: readonly string[]
}

/** A visit to a global node, with the place it interrupted. */
export interface Detour {
  readonly global: string
  /** Components around the global node. */
  readonly depth: number
  readonly from: Position
}

/** An edge taken when no condition holds. */
export interface Fallback {
  readonly edge_id: string
  readonly cause: 'edge' | 'else'
}

/** What the flow waits for. */
type Phase =
  | { readonly at: 'idle' }
  /** The caller speaks first. */
  | { readonly at: 'opening' }
  /** A node that converses, or one that waits for the far end. `speech` is what is being said or generated. */
  | { readonly at: 'conversing'; readonly speech: Speech | null }
  | {
      readonly at: 'deciding'
      readonly request_id: string
      readonly choices: readonly Choice[]
      readonly fallback: Fallback | null
    }
  /** A request of the node, or of the action `tool` that the model called, waits for its answer. */
  | {
      readonly at: 'requesting'
      readonly request_id: string
      readonly answer: NodeAnswer['type']
      readonly tool: string | null
    }
  /** The model fills in the arguments of the node's action. */
  | { readonly at: 'filling_in'; readonly request_id: string; readonly action_id: string; readonly waits: boolean }
  | { readonly at: 'acting'; readonly request_id: string }
  /** Last words before the node is left, or the conversation. */
  | { readonly at: 'finishing'; readonly request_id: string; readonly next: 'leave' | 'end' | 'hang_up' }
  | { readonly at: 'ended'; readonly outcome: FlowOutcome }

interface Speech {
  readonly request_id: string
  readonly choices: readonly Choice[]
  /** Actions that the model may call. */
  readonly tools: readonly string[]
}

/** An action under way and whose it is. */
interface PendingAction {
  readonly action_id: string
  /** The prompt whose tool it is; null for a function node. */
  readonly prompt_id: string | null
}

/** Layers of variables, weakest first. */
export const LAYERS = ['default', 'inbound_context', 'run', 'conversation', 'update'] as const
export type Layer = (typeof LAYERS)[number]

/** Everything a conversation remembers of its flow: plain data, so that it can be stored and taken up again. */
export interface FlowState {
  phase: Phase
  position: Position | null
  previous: string | null
  detours: Detour[]
  /** Turn of the last entry of each global node. */
  globalEntries: Record<string, number>
  /** Turns of the caller so far. */
  turn: number
  transitionsInTurn: number
  toolCallsInTurn: number
  nextRequest: number
  pending: Record<string, PendingAction>
  /** What a function node says while its action runs; null once spoken. */
  speechDuring: string | null
  /** An action's result that the agent has not spoken about yet. */
  resultOwed: boolean
  /** Uses of an action in a node. */
  ordinals: Record<string, number>
  notUnderstood: number
  digits: string | null
  actionOutcome: string | null
  /** The caller speaks first and has not yet. */
  awaitsOpening: boolean
  variables: Record<Layer, Record<string, string>>
}

export function initialState(): FlowState {
  return {
    phase: { at: 'idle' },
    position: null,
    previous: null,
    detours: [],
    globalEntries: {},
    turn: 0,
    transitionsInTurn: 0,
    toolCallsInTurn: 0,
    nextRequest: 1,
    pending: {},
    speechDuring: null,
    resultOwed: false,
    ordinals: {},
    notUnderstood: 0,
    digits: null,
    actionOutcome: null,
    awaitsOpening: false,
    variables: { default: {}, inbound_context: {}, run: {}, conversation: {}, update: {} },
  }
}
