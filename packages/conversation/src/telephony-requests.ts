import { ANSWER_TO, type FlowInput, type FlowOutput, type LegAnswer, type LegRequest } from '@parley/flow'
import { type ConversationContext, feed } from './conversation-context.ts'
import type { PolicyDecision, Receipt } from './ledger.ts'
import { Transfers } from './transfers.ts'

type Output<Type extends FlowOutput['type']> = Extract<FlowOutput, { type: Type }>

/** Id, version and tool name of a transfer that a node requests, not an action of the draft. */
const TRANSFER = { id: 'call.transfer', version: 1, name: 'transfer_call' }
const SWAP: typeof TRANSFER = { id: 'agent.swap', version: 1, name: 'agent_swap' }

/** The publication names the agent that takes over the call; the ledger may still deny the hand-over. */
const ALLOWED: PolicyDecision = { decision: 'allow', reason: null, policy_version: '1' }

type LegOutput = Output<LegRequest['type']>
type TransferOutput = Output<'transfer' | 'swap_agent'>

/** The flow's requests to the call leg. Each is sent after the earlier speeches were heard; a transfer is a ledger effect. */
export class TelephonyRequests {
  readonly #context: ConversationContext
  readonly #transfers: Transfers
  /** Requests without an answer, by request id. */
  readonly #pending = new Map<string, LegOutput>()
  /** Ids of the tool calls in memory of transfers under way, by request id. */
  readonly #transferring = new Map<string, string>()
  /** How often each node requested each action. */
  readonly #ordinals = new Map<string, number>()
  readonly #starting = new Set<Promise<void>>()

  constructor(context: ConversationContext) {
    const { ledger, time } = context.options
    this.#context = context
    this.#transfers = new Transfers({ ledger, time, onFact: context.onFact })
  }

  begin(output: LegOutput, cause: FlowInput): void {
    this.#pending.set(output.request_id, output)
    if (output.type === 'transfer' || output.type === 'swap_agent') return this.#transfer(output, cause)
    void this.#isStillTalking().then(isTalking => {
      if (isTalking) this.#send(output)
    })
  }

  /** Answers of another type than the request's, second answers and those after `abandon` are ignored. */
  answered(request_id: string, answer: LegAnswer, receipt: Receipt | null): void {
    const request = this.#pending.get(request_id)
    if (request === undefined || ANSWER_TO[request.type] !== answer.type) return
    if (request.type === 'press_digits')
      this.#context.onFact({ kind: 'digits', direction: 'out', digits: request.digits })
    if (answer.type !== 'transfer_result') return this.#feedAnswer(request_id, answer)
    if (this.#transfers.settle(request_id, answer.outcome, receipt)) this.#transferred(request_id, answer.outcome)
  }

  #send(
    { request_id, node_id: _node, action_id: _action, ...request }: LegOutput,
    effect_id: string | null = null,
  ): void {
    const { emit, enqueue } = this.#context
    enqueue(() => emit({ type: 'leg-request', request_id, request, effect_id }))
  }

  #feedAnswer(request_id: string, answer: LegAnswer): void {
    this.#pending.delete(request_id)
    feed(this.#context, { ...answer, request_id })
  }

  #transfer(output: TransferOutput, cause: FlowInput): void {
    const { request_id, node_id } = output
    const { memory, enqueue, options } = this.#context
    const to = output.type === 'transfer' ? { destination: output.destination } : { agent_id: output.agent_id }
    const action = this.#actionOf(output)
    const use = `${node_id} ${action.id}`
    const ordinal = this.#ordinals.get(use) ?? 0
    this.#ordinals.set(use, ordinal + 1)
    const call =
      output.action_id !== null && cause.type === 'tool_call'
        ? memory.called(action.name, cause.arguments, cause.request_id)
        : memory.called(action.name, to, request_id)
    this.#transferring.set(request_id, call)
    const begun = this.#transfers
      .begin({
        requestId: request_id,
        ...(output.type === 'transfer'
          ? { kind: 'sip_transfer', policy: () => options.transferPolicy(output.destination) }
          : { kind: 'run_admission', policy: () => ALLOWED }),
        action: { id: action.id, version: action.version },
        nodeId: node_id,
        ordinal,
        ready: () => this.#isStillTalking(),
        send: effectId => this.#send(output, effectId),
      })
      .then(isSent => {
        this.#starting.delete(begun)
        if (!isSent) enqueue(() => this.#transferred(request_id, 'failed'))
      })
    this.#starting.add(begun)
  }

  #transferred(request_id: string, outcome: 'taken' | 'failed'): void {
    const callId = this.#transferring.get(request_id)
    this.#transferring.delete(request_id)
    if (callId !== undefined) this.#context.memory.result(callId, { outcome })
    this.#feedAnswer(request_id, { type: 'transfer_result', outcome })
  }

  #actionOf({ type, action_id }: TransferOutput): typeof TRANSFER {
    const action = this.#context.options.plan.actions.find(candidate => candidate.action_id === action_id)
    if (action === undefined) return type === 'transfer' ? TRANSFER : SWAP
    return { id: action.action_id, version: action.version, name: action.name }
  }

  async #isStillTalking(): Promise<boolean> {
    await this.#context.speeches.heardSoFar()
    return this.#context.isTalking()
  }

  /** The far end has hung up: nothing is sent or reported any more. */
  abandon(): void {
    this.#pending.clear()
    this.#transfers.abandon()
  }

  get isBusy(): boolean {
    return this.#pending.size > 0
  }

  /** A transfer is under way, or the ledger has not stored its outcome yet. */
  get isUnderWay(): boolean {
    return this.#starting.size > 0 || this.#transfers.isUnderWay
  }

  async over(): Promise<void> {
    await Promise.all(this.#starting)
    await this.#transfers.over()
  }
}
