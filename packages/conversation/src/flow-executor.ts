import {
  type ActionRefusal,
  type FlowInput,
  FlowInterpreter,
  type FlowOutput,
  isLegRequest,
  type NodeTurnSettings,
  render,
} from '@parley/flow'
import { runnable } from './actions/runnable-action.ts'
import { type ConversationContext, feed, speak } from './conversation-context.ts'
import type { PreemptiveGeneration } from './model/preemptive-generation.ts'
import type { Prompt } from './model/reply.ts'
import { ModelTurns } from './model-turns.ts'
import { type RunAction, RunningActions } from './running-actions.ts'
import { TelephonyRequests } from './telephony-requests.ts'
import type { WaitTimer } from './wait-timer.ts'

type Output<Type extends FlowOutput['type']> = Extract<FlowOutput, { type: Type }>

const REFUSALS: Readonly<Record<ActionRefusal, string>> = {
  repeated: 'it was already called with the same arguments in this turn',
  too_many_in_turn: 'too many actions were called in this turn',
  too_many_in_call: 'too many actions were called in this conversation',
}

/** What the model is told of requests to the call's leg that cannot be taken back. */
const LEG_ACTS = {
  press_digits: 'keys were pressed',
  transfer: 'a transfer began',
  swap_agent: 'another agent was asked to take over',
} as const satisfies Record<Parameters<TelephonyRequests['begin']>[0]['type'], string>

/** Carries out the flow's outputs and feeds the results back as inputs. */
export class FlowExecutor {
  readonly #context: ConversationContext
  readonly #model: ModelTurns
  readonly actions: RunningActions
  readonly telephony: TelephonyRequests
  #nodeId: string | null = null
  #settings: NodeTurnSettings | null = null

  constructor(context: ConversationContext, waits: WaitTimer) {
    const { options, flow, memory, onFact } = context
    this.#context = context
    this.#model = new ModelTurns(context, (prompt, actionId, args) => this.#toolCalled(prompt, actionId, args))
    this.telephony = new TelephonyRequests(context)
    this.actions = new RunningActions({
      runner: options.actions,
      variables: () => flow.variables(),
      call: options.call,
      memory,
      waits,
      render: text => this.#render(text),
      onFact,
    })
  }

  /** Address of the current node; null before the start. */
  get nodeId(): string | null {
    return this.#nodeId
  }

  /** What the agent waits for before it can speak. */
  get workingOn(): 'model' | 'action' | null {
    if (this.actions.isBusy) return 'action'
    return this.#context.modelRequests.isBusy ? 'model' : null
  }

  /** The model, an action or the call leg is working, and the caller waits. */
  get isBusy(): boolean {
    return this.#context.modelRequests.isBusy || this.actions.isBusy || this.telephony.isBusy
  }

  /** Resolves when no action and no transfer is under way, and the ledger has stored all outcomes. */
  async settled(): Promise<void> {
    while (this.actions.isUnderWay || this.telephony.isUnderWay) {
      await this.actions.over()
      await this.telephony.over()
    }
    await this.#model.written()
  }

  /**
   * Sends the model request that will follow when the caller's turn ends with `text`. Does nothing where the flow would do
   * something else first, or would not ask the model to speak or choose.
   */
  startPreemptiveGeneration(text: string): void {
    const { options, flow } = this.#context
    const now = options.wallClock()
    const future = new FlowInterpreter(options.plan, options.mode, flow.state())
    const outputs = future.handle(now, { type: 'user_turn', text })
    const relevant = outputs.filter(({ type }) => type !== 'node' && type !== 'collect_digits')
    const [only] = relevant
    if (relevant.length !== 1 || (only?.type !== 'prompt' && only?.type !== 'decide')) return this.preemptive.drop()
    const globalPrompt = render(options.plan.flow.global_prompt, name => future.variable(name, now))
    this.#model.startPreemptiveGeneration(only, text, globalPrompt)
  }

  /** Has the model write a text; empty: it failed. */
  compose(instruction: string): Promise<string> {
    return this.#model.compose(this.#render(instruction), this.#nodeId)
  }

  /** The caller has said this much of a turn: documents are searched for it already. */
  hearing(text: string): void {
    const { memory } = this.#context
    if (this.#nodeId !== null) this.#model.knowledge?.hearing(this.#nodeId, memory.messagesAfter(text))
  }

  /** The caller's turn has ended. */
  turnEnded(): void {
    this.#model.knowledge?.turnEnded()
  }

  /** Stops searches of documents. */
  closeKnowledge(): void {
    this.#model.knowledge?.close()
  }

  get preemptive(): PreemptiveGeneration {
    return this.#model.preemptive
  }

  /** Carries out the outputs in order; stops when one of them ends the conversation, except for variables. */
  perform(outputs: readonly FlowOutput[], cause: FlowInput): void {
    for (const output of outputs)
      if (this.#context.isTalking() || output.type === 'variables') this.#perform(output, cause)
  }

  #perform(output: FlowOutput, cause: FlowInput): void {
    const { emit, onFact, end } = this.#context
    if (isLegRequest(output)) {
      this.#context.unfinishedTurn.acted(LEG_ACTS[output.type])
      return this.telephony.begin(output, cause)
    }
    switch (output.type) {
      case 'node':
        return this.#enter(output)
      case 'say':
        return this.#say(output)
      case 'prompt':
        return this.#model.prompt(output)
      case 'decide':
      case 'infer':
      case 'extract':
        return this.#model.ask(output)
      case 'run_action':
        return this.#run(output, cause)
      case 'tool_result':
        return this.#recordToolCall(output, cause)
      case 'action_refused':
        return this.#refused(output)
      case 'collect_digits': {
        const { question, answers, digit_limit, termination_key, timeout_ms } = output
        return emit({ type: 'collect-digits', question, answers, digit_limit, termination_key, timeout_ms })
      }
      case 'await_opening':
        return emit({ type: 'await-opening', after_ms: output.after_ms })
      case 'variables': {
        const { source, set, ignored } = output
        return onFact({ kind: 'variables', source, set, ignored })
      }
      case 'end':
        return end(output.outcome, output.ended_by, output.code)
      default:
        // A request that no case serves does not compile.
        output satisfies never
    }
  }

  #enter({ node_id, from_node_id, edge_id, cause, settings }: Output<'node'>): void {
    this.#nodeId = node_id
    this.#model.dropFillers()
    this.#context.onFact({ kind: 'node', node_id, from_node_id, edge_id, cause })
    const before = this.#settings
    this.#settings = settings
    this.#context.onNode()
    const names = Object.keys(settings) as (keyof NodeTurnSettings)[]
    if (names.some(name => before?.[name] !== settings[name])) this.#context.emit({ type: 'settings', settings })
  }

  #say({ request_id, node_id, text }: Output<'say'>): void {
    if (text.trim() !== '') speak(this.#context, request_id, node_id, text)
    else this.#context.enqueue(() => feed(this.#context, { type: 'spoken', request_id, interrupted: false }))
  }

  #toolCalled({ request_id }: Prompt, action_id: string, args: Readonly<Record<string, unknown>>): void {
    feed(this.#context, { type: 'tool_call', request_id, action_id, arguments: args })
  }

  /** Records a tool call that is done at once. HTTP actions and transfers are recorded when they begin. */
  #recordToolCall({ action_id, prompt_id, result }: Output<'tool_result'>, cause: FlowInput): void {
    const { options, memory } = this.#context
    const action = options.plan.actions.find(candidate => candidate.action_id === action_id)
    if (action === undefined || cause.type !== 'tool_call') return
    memory.result(memory.called(action.name, cause.arguments, prompt_id), { outcome: result })
  }

  /** Records an action that was not run because it repeats itself, and gives the model the refusal as its result. */
  #refused({ action_id, prompt_id, arguments: args, reason }: Output<'action_refused'>): void {
    const { options, memory, onFact } = this.#context
    const name = options.plan.actions.find(action => action.action_id === action_id)?.name ?? action_id
    onFact({ kind: 'error', code: 'tool_loop', message: `The action ${name} was not run: ${REFUSALS[reason]}.` })
    if (prompt_id !== null) memory.result(memory.called(name, args, prompt_id), { error: REFUSALS[reason] })
  }

  #render(text: string): string {
    const { options, flow } = this.#context
    return render(text, name => flow.variable(name, options.wallClock()))
  }

  #run(output: RunAction, cause: FlowInput): void {
    const { options, flow, modelRequests, unfinishedTurn, enqueue } = this.#context
    const { request_id, action_id } = output
    const found = flow.effectAction(action_id)
    const action =
      found === undefined ? undefined : runnable(found, options, output.arguments, text => this.#render(text))
    const done = (outcome: 'succeeded' | 'failed' | 'uncertain', body: unknown) =>
      enqueue(() => feed(this.#context, { type: 'action_result', request_id, outcome, body }))
    if (action === undefined) return done('failed', null)
    const { kind } = action.request
    if (kind !== 'http' && kind !== 'code') unfinishedTurn.acted(found!.name)
    const promptId = cause.type === 'tool_call' ? cause.request_id : null
    const use = {
      answer: promptId ?? request_id,
      isWaitedFor: output.waits,
      // The result waits until the model's answer is complete, with its other tool calls and its text.
      ready: promptId === null ? Promise.resolve() : modelRequests.over(promptId),
      hold: action.request.kind === 'http' ? unfinishedTurn.hold(action.request) : null,
    }
    this.actions.begin({ ...output, arguments: action.arguments }, action.request, use, ({ outcome, body }) =>
      done(outcome, body),
    )
  }
}
