import type { UnixMs } from '@parley/kernel'
import type { ConversationView } from '@parley/nodes'
import { languagesOf } from '../plan/languages.ts'
import type { FlowGraph, PlacedNode } from './graph.ts'
import type { FlowOutcome, FlowOutput, NodeCause } from './protocol.ts'
import type { Detour, FlowState, Position } from './state.ts'
import { systemVariable } from './system-variables.ts'
import { render } from './template.ts'
import { variable } from './variables.ts'

/** The channel of a conversation. Without a caller (a task) each node speaks once and then takes its edges. */
export interface FlowMode {
  readonly channel: 'phone' | 'web' | 'cloud'
  readonly hasCaller: boolean
}

/** What the interpreter does next; `wait` ends its work on the current input. */
export type Step =
  | { readonly next: 'wait' }
  /** Enter a node. */
  | {
      readonly next: 'enter'
      readonly to: PlacedNode
      readonly calls: readonly string[]
      readonly edgeId: string | null
      readonly cause: NodeCause
      readonly detours: Detour[]
      /** The conversation was in this node before: the node is resumed and repeats no action. */
      readonly isReturn: boolean
    }
  /** Leave the node by its edges. */
  | { readonly next: 'leave' }
  /** React to the caller's turn: take an edge, or answer. */
  | { readonly next: 'turn' }

export const WAIT: Step = { next: 'wait' }
export const LEAVE: Step = { next: 'leave' }
export const TURN: Step = { next: 'turn' }

/** The conversation while one input is handled. */
export class FlowContext {
  readonly graph: FlowGraph
  readonly mode: FlowMode
  readonly state: FlowState
  readonly now: UnixMs
  readonly outputs: FlowOutput[] = []

  constructor(graph: FlowGraph, mode: FlowMode, state: FlowState, now: UnixMs) {
    this.graph = graph
    this.mode = mode
    this.state = state
    this.now = now
  }

  /** The part of the conversation that node types and actions may read. */
  get view(): ConversationView {
    return { channel: this.mode.channel, render: template => this.render(template) }
  }

  emit(output: FlowOutput): void {
    this.outputs.push(output)
  }

  requestId(): string {
    return `r${this.state.nextRequest++}`
  }

  /** The current node; undefined before the start. */
  here(): PlacedNode | undefined {
    return this.state.position === null ? undefined : this.graph.node(this.state.position.node)
  }

  calls(): readonly string[] {
    return this.state.position?.calls ?? []
  }

  position(): Position {
    return this.state.position ?? { node: '', calls: [] }
  }

  lookup = (name: string): string | undefined => {
    const { state } = this
    const system = systemVariable(name, {
      now: this.now,
      timezone: this.graph.plan.settings.timezone,
      node: this.#nameOf(state.position?.node),
      previousNode: this.#nameOf(state.previous ?? undefined),
      notUnderstood: state.notUnderstood,
      digits: state.digits,
      actionOutcome: state.actionOutcome,
      answeredBy: state.answeredBy,
      language: state.language ?? languagesOf(this.graph.plan.settings.language)[0] ?? 'en',
    })
    return system ?? variable(state, name)
  }

  #nameOf(address: string | undefined): string | undefined {
    const placed = address === undefined ? undefined : this.graph.node(address)
    return placed === undefined ? undefined : placed.node.name || placed.node.id
  }

  render(template: string): string {
    return render(template, this.lookup)
  }

  end(
    outcome: FlowOutcome,
    endedBy: 'agent' | 'system',
    code: 'transition_limit' | 'tool_call_limit' | null = null,
  ): Step {
    this.state.phase = { at: 'ended', outcome }
    this.emit({
      type: 'end',
      node_id: this.state.position?.node ?? null,
      outcome,
      ended_by: endedBy,
      code,
    })
    return WAIT
  }
}
