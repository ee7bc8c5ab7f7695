import type { Instruction, NodeAnswer, NodeRequest } from '@parley/nodes'
import type { Choice, FlowOutcome } from './protocol.ts'

/** Position of a conversation: a node's address, and the addresses of the component nodes that called its component, outermost first. */
export interface Position {
  readonly node: string
  readonly calls: readonly string[]
}

/** A visit to a global node and the position that it interrupted. */
export interface Detour {
  readonly global: string
  /** Number of component calls around the global node. */
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
  /** The current node converses or waits for the far end. `speech`: the speech being generated or played. */
  | { readonly at: 'conversing'; readonly speech: Speech | null }
  | {
      readonly at: 'deciding'
      readonly request_id: string
      readonly choices: readonly Choice[]
      readonly fallback: Fallback | null
    }
  /** A request is pending: the node's, or that of the action `tool` that the model called. */
  | {
      readonly at: 'requesting'
      readonly request_id: string
      readonly answer: NodeAnswer['type']
      readonly tool: string | null
    }
  /** The model fills in the arguments of the node's action. */
  | { readonly at: 'filling_in'; readonly request_id: string; readonly action_id: string; readonly waits: boolean }
  | { readonly at: 'acting'; readonly request_id: string }
  /** Words are spoken before the node makes its request. */
  | { readonly at: 'announcing'; readonly request_id: string; readonly request: NodeRequest }
  /** Last words are spoken before the node is left or the conversation ends. */
  | Finishing
  | { readonly at: 'ended'; readonly outcome: FlowOutcome }

/** Last words. */
export interface Finishing {
  readonly at: 'finishing'
  readonly request_id: string
  readonly next: 'leave' | 'end' | 'hang_up'
  /** What is said once more if the caller spoke before anything of it was heard; default: nothing. */
  readonly words?: Instruction
  /** The caller has finished a turn since the words began. */
  readonly isAfterTurn?: boolean
  /** Nothing of the words was heard, and they are said again after the caller's turn. */
  readonly isDue?: boolean
}

interface Speech {
  readonly request_id: string
  readonly choices: readonly Choice[]
  /** Actions that the model may call. */
  readonly tools: readonly string[]
}

/** A running action and the prompt that called it. */
interface PendingAction {
  readonly action_id: string
  /** Request id of the prompt that called it; null for a function node. */
  readonly prompt_id: string | null
}

/** Layers of variables, lowest precedence first. */
export const LAYERS = ['default', 'inbound_context', 'run', 'conversation', 'update'] as const
export type Layer = (typeof LAYERS)[number]

/** The whole state of a flow as plain data, so that it can be stored and resumed. */
export interface FlowState {
  phase: Phase
  position: Position | null
  previous: string | null
  detours: Detour[]
  /** The turn in which each global node was last entered. */
  globalEntries: Record<string, number>
  /** Number of caller turns so far. */
  turn: number
  transitionsInTurn: number
  /** Uses of each action with the same arguments since the caller's last turn. */
  usesInTurn: Record<string, number>
  /** Number of uses of actions in the whole conversation, and of refused uses since the caller's last turn. */
  uses: number
  refusedInTurn: number
  /** Number of reminders since the caller's last turn. */
  reminders: number
  nextRequest: number
  pending: Record<string, PendingAction>
  /** Request id of the speech of a function node whose action runs; null once spoken. */
  speechDuring: string | null
  /** Whether the model must still speak about an action's result. */
  resultOwed: boolean
  /** Number of uses of each action per node. */
  ordinals: Record<string, number>
  notUnderstood: number
  digits: string | null
  /** Number of questions so far that digits may answer. */
  question: number
  actionOutcome: string | null
  /** What answered the call; null: not known. */
  answeredBy: string | null
  /** The language of the conversation after its last change; null: the first of the agent's. */
  language: string | null
  /** Whether the caller speaks first and has not spoken yet. */
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
    usesInTurn: {},
    uses: 0,
    refusedInTurn: 0,
    reminders: 0,
    nextRequest: 1,
    pending: {},
    speechDuring: null,
    resultOwed: false,
    ordinals: {},
    notUnderstood: 0,
    digits: null,
    question: 0,
    actionOutcome: null,
    answeredBy: null,
    language: null,
    awaitsOpening: false,
    variables: { default: {}, inbound_context: {}, run: {}, conversation: {}, update: {} },
  }
}
