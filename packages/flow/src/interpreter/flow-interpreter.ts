import type { UnixMs } from '@parley/kernel'
import { type EffectAction, nodeTypeOf } from '@parley/nodes'
import type { Plan } from '../plan/plan.ts'
import { actionResult, answered, chosen, spoken, toolCall } from './answers.ts'
import { conversingOf, firstWords } from './conversing.ts'
import { setVariables } from './effects.ts'
import { comeBack, enter } from './enter.ts'
import { escalate } from './escalate.ts'
import { type Expectation, expectationIn } from './expectation.ts'
import { FlowContext, type FlowMode, type Step, TURN, WAIT } from './flow-context.ts'
import { FlowGraph, type PlacedNode } from './graph.ts'
import { finishAgain } from './node-steps.ts'
import type { FlowInput, FlowOutput } from './protocol.ts'
import { converse } from './speech.ts'
import { type Finishing, type FlowState, initialState, LAYERS } from './state.ts'
import { leave, turn } from './turn.ts'
import { assign, asText } from './variables.ts'

/** Maximum nodes entered between two turns of the caller, so that a flow that loops ends instead of running forever. */
const MAX_TRANSITIONS = 100

/** Maximum digits of one turn of the caller. */
const MAX_USER_DIGITS = 100

export interface FlowOptions extends FlowMode {
  /** Variables that the run was created with, and those that the inbound context returned. */
  readonly variables?: {
    readonly run?: Readonly<Record<string, string>>
    readonly inbound_context?: Readonly<Record<string, string>>
  }
}

/**
 * Runs a conversation through a plan. Pure: every input comes with its time and returns the outputs that it causes, in
 * order. The state is plain data from which another interpreter can continue. No input throws.
 */
export class FlowInterpreter {
  readonly #graph: FlowGraph
  readonly #mode: FlowMode
  readonly #state: FlowState
  readonly #opening: FlowOutput[] = []

  /** `resume`: a `state()` of a conversation on the same plan, which this one continues; its variables replace those of `options`. */
  constructor(plan: Plan, options: FlowOptions, resume?: FlowState) {
    this.#graph = new FlowGraph(plan)
    this.#mode = { channel: options.channel, hasCaller: options.hasCaller }
    this.#state = resume === undefined ? initialState() : { ...initialState(), ...structuredClone(resume) }
    if (resume === undefined) this.#begin(options)
  }

  #begin({ variables = {} }: FlowOptions): void {
    const { flow } = this.#graph.plan
    assign(this.#state, 'default', flow.default_dynamic_variables)
    const { ignored: rejected } = assign(this.#state, 'run', variables.run ?? {})
    // The run's own record shows the variables that were set, but not those that were ignored.
    if (rejected.length > 0) this.#opening.push({ type: 'variables', source: 'update', set: [], ignored: rejected })
    this.#state.awaitsOpening = flow.start_speaker === 'user' && this.#mode.hasCaller
    if (variables.inbound_context === undefined) return
    const { set, ignored } = assign(this.#state, 'inbound_context', variables.inbound_context)
    this.#opening.push({ type: 'variables', source: 'inbound_context', set, ignored })
  }

  /** A copy of all that the conversation remembers. */
  state(): FlowState {
    return structuredClone(this.#state)
  }

  /**
   * Takes back what happened since `state`, an earlier `state()` of this conversation without pending actions, and returns the
   * outputs that lead back to its node. Numbers of requests, of questions and of an action's uses go on, so that none is given twice.
   */
  restore(now: UnixMs, state: FlowState): readonly FlowOutput[] {
    const { nextRequest, ordinals, question } = this.#state
    const from = this.#state.position?.node ?? null
    Object.assign(this.#state, structuredClone(state), { nextRequest, ordinals, question })
    const context = this.#context(now)
    const here = context.here()
    if (here !== undefined && here.address !== from) comeBack(context, here, from)
    return context.outputs
  }

  /** The action with a result of this id: one of the agent's, or a node's own. */
  effectAction(id: string): EffectAction | undefined {
    return this.#graph.effectAction(id)
  }

  /** The values of all variables that were set, without system variables. */
  variables(): Record<string, string> {
    const { variables } = this.#state
    return Object.assign({}, ...LAYERS.map(layer => variables[layer])) as Record<string, string>
  }

  /** The current value of `{{name}}`; undefined: it is not set. */
  variable(name: string, now: UnixMs): string | undefined {
    return this.#context(now).lookup(name)
  }

  /** What the agent says while the caller waits in the current node; null: the agent's own lines. */
  holdingLine(now: UnixMs): string | null {
    const context = this.#context(now)
    const node = context.here()?.node
    const line = node !== undefined && 'holding_line' in node ? node.holding_line : null
    return typeof line === 'string' ? context.render(line) : null
  }

  /** What the current node waits for, besides the agent's words. */
  expectation(now: UnixMs): Expectation {
    return expectationIn(this.#context(now))
  }

  /** Handles one input and returns the outputs that it causes. After the end every input is ignored. */
  handle(now: UnixMs, input: FlowInput): readonly FlowOutput[] {
    const context = this.#context(now)
    if (this.#state.phase.at === 'ended') return []
    if (input.type === 'started') this.#start(context)
    else this.#run(context, this.#react(context, input))
    return context.outputs
  }

  #context(now: UnixMs): FlowContext {
    return new FlowContext(this.#graph, this.#mode, this.#state, now)
  }

  #start(context: FlowContext): void {
    if (this.#state.phase.at !== 'idle') return
    for (const output of this.#opening.splice(0)) context.emit(output)
    const to = this.#graph.start(null)
    if (to === undefined) context.end('completed', 'agent')
    else
      this.#run(context, { next: 'enter', to, calls: [], edgeId: null, cause: 'start', detours: [], isReturn: false })
  }

  #react(context: FlowContext, input: Exclude<FlowInput, { type: 'started' }>): Step {
    const here = context.here()
    switch (input.type) {
      case 'variables_updated':
        setVariables(context, 'update', input.values)
        return WAIT
      case 'answered_by':
        context.state.answeredBy = input.class
        return WAIT
      case 'language':
        context.state.language = input.language
        return WAIT
      case 'max_duration':
        return context.end('max_duration', 'system')
      case 'silence':
        if (input.kind === 'limit') return context.end('silence', 'system')
        return here === undefined ? WAIT : this.#silence(context, here, input.kind)
      case 'no_progress':
        return here === undefined ? WAIT : escalate(context, here)
      default:
        return here === undefined ? WAIT : this.#answer(context, here, input)
    }
  }

  #answer(
    context: FlowContext,
    here: PlacedNode,
    input: Exclude<
      FlowInput,
      {
        type: 'started' | 'variables_updated' | 'answered_by' | 'language' | 'max_duration' | 'silence' | 'no_progress'
      }
    >,
  ): Step {
    switch (input.type) {
      case 'user_turn':
        return this.#userTurn(context, here, input.text)
      case 'digits':
        return this.#digitsEntered(context, here, input)
      case 'spoken':
        return spoken(context, here, input)
      case 'chosen':
        return chosen(context, here, input)
      case 'tool_call':
        return toolCall(context, here, input)
      case 'action_result':
        return actionResult(context, here, input)
      default:
        return answered(context, here, input)
    }
  }

  #silence(context: FlowContext, here: PlacedNode, kind: 'opening' | 'reminder' | 'owed'): Step {
    const { phase } = this.#state
    if (kind === 'opening') return phase.at === 'opening' ? this.#open(context, here) : WAIT
    if (phase.at === 'finishing') return phase.isDue ? finishAgain(context, here, phase) : WAIT
    if (kind === 'owed')
      return phase.at === 'conversing' && conversingOf(here) !== undefined ? converse(context, here, 'stuck', []) : WAIT
    if (phase.at !== 'conversing' || phase.speech !== null) return WAIT
    if (nodeTypeOf(here.node).remindsCaller === false) return WAIT
    return converse(context, here, ++this.#state.reminders > 1 ? 'reminder_again' : 'reminder', [])
  }

  #userTurn(context: FlowContext, here: PlacedNode, text: string): Step {
    const understood = (asText(text) ?? '').trim() !== ''
    this.#state.notUnderstood = understood ? 0 : this.#state.notUnderstood + 1
    this.#state.digits = null
    return this.#turnOfCaller(context, here)
  }

  #digitsEntered(
    context: FlowContext,
    here: PlacedNode,
    { digits: entered, question }: Extract<FlowInput, { type: 'digits' }>,
  ): Step {
    if (question !== undefined && question !== this.#state.question) return WAIT
    const digits = (asText(entered) ?? '').replace(/[^0-9*#]/g, '').slice(0, MAX_USER_DIGITS)
    if (digits === '' || !this.#graph.plan.settings.allowUserDtmf) return WAIT
    this.#state.notUnderstood = 0
    this.#state.digits = digits
    return this.#turnOfCaller(context, here)
  }

  /** A turn of the caller does not interrupt an action, a transfer or last words that are under way. */
  #turnOfCaller(context: FlowContext, here: PlacedNode): Step {
    const state = this.#state
    state.turn++
    state.transitionsInTurn = 0
    state.usesInTurn = {}
    state.refusedInTurn = 0
    state.reminders = 0
    if (state.phase.at === 'opening') return this.#open(context, here)
    if (state.phase.at === 'finishing') return this.#afterTurn(context, here, state.phase)
    return state.phase.at === 'conversing' || state.phase.at === 'deciding' ? TURN : WAIT
  }

  #afterTurn(context: FlowContext, here: PlacedNode, phase: Finishing): Step {
    if (phase.isDue) return finishAgain(context, here, phase)
    this.#state.phase = { ...phase, isAfterTurn: true }
    return WAIT
  }

  #open(context: FlowContext, here: PlacedNode): Step {
    this.#state.awaitsOpening = false
    return conversingOf(here) === undefined ? WAIT : firstWords(context, here)
  }

  #run(context: FlowContext, first: Step): void {
    let step = first
    while (step.next !== 'wait') {
      const here = context.here()
      if (step.next === 'enter') {
        const isTooFar = ++this.#state.transitionsInTurn > MAX_TRANSITIONS
        step = isTooFar ? context.end('error', 'system', 'transition_limit') : enter(context, step)
      } else if (here === undefined) step = WAIT
      else step = step.next === 'leave' ? leave(context, here) : turn(context, here)
    }
  }
}
