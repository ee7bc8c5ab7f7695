import type { FlowInput, FlowOutput } from '@parley/flow'
import { type ConversationContext, feed } from './conversation-context.ts'
import type { Receipt } from './ledger.ts'
import { Transfers } from './transfers.ts'

type Output<Type extends FlowOutput['type']> = Extract<FlowOutput, { type: Type }>

/** Id, version and tool name of a transfer that a node requests, not an action of the draft. */
const TRANSFER = { id: 'call.transfer', version: 1, name: 'transfer_call' }

/** The flow's requests to the call leg: DTMF digits and transfers. Both wait until earlier speeches were heard. */
export class TelephonyRequests {
  readonly #context: ConversationContext
  readonly #transfers: Transfers
  /** Digits being sent, by request id. */
  readonly #pressing = new Map<string, string>()
  /** Ids of the tool calls in memory of transfers under way, by request id. */
  readonly #transferring = new Map<string, string>()
  /** How often each node requested each action. */
  readonly #ordinals = new Map<string, number>()
  readonly #beginning = new Set<Promise<void>>()

  constructor(context: ConversationContext) {
    const { ledger, transferPolicy: policy, time } = context.options
    this.#context = context
    this.#transfers = new Transfers({ ledger, policy, time, onFact: context.onFact })
  }

  press({ request_id, digits, delay_ms }: Output<'press_digits'>): void {
    const { emit, enqueue } = this.#context
    this.#pressing.set(request_id, digits)
    void this.#isFree().then(isFree => {
      if (isFree) enqueue(() => emit({ type: 'press-digits', request_id, digits, delay_ms }))
    })
  }

  pressed(request_id: string): void {
    const digits = this.#pressing.get(request_id)
    if (digits === undefined) return
    this.#pressing.delete(request_id)
    this.#context.onFact({ kind: 'digits', direction: 'out', digits })
    feed(this.#context, { type: 'digits_pressed', request_id })
  }

  transfer(output: Output<'transfer'>, cause: FlowInput): void {
    const { request_id, node_id, destination, custom_sip_headers } = output
    const { memory, emit, enqueue } = this.#context
    const action = this.#actionOf(output)
    const use = `${node_id} ${action.id}`
    const ordinal = this.#ordinals.get(use) ?? 0
    this.#ordinals.set(use, ordinal + 1)
    const call =
      output.action_id !== null && cause.type === 'tool_call'
        ? memory.called(action.name, cause.arguments, cause.request_id)
        : memory.called(action.name, { destination }, request_id)
    this.#transferring.set(request_id, call)
    const begun = this.#transfers
      .begin({
        requestId: request_id,
        destination,
        action: { id: action.id, version: action.version },
        nodeId: node_id,
        ordinal,
        ready: () => this.#isFree(),
        send: () => enqueue(() => emit({ type: 'transfer', request_id, destination, custom_sip_headers })),
      })
      .then(isSent => {
        this.#beginning.delete(begun)
        if (!isSent) enqueue(() => this.#transferred(request_id, 'failed'))
      })
    this.#beginning.add(begun)
  }

  settled(requestId: string, outcome: 'taken' | 'failed', receipt: Receipt | null): void {
    if (this.#transfers.settle(requestId, outcome, receipt)) this.#transferred(requestId, outcome)
  }

  #transferred(request_id: string, outcome: 'taken' | 'failed'): void {
    const callId = this.#transferring.get(request_id)
    this.#transferring.delete(request_id)
    if (callId !== undefined) this.#context.memory.result(callId, { outcome })
    feed(this.#context, { type: 'transfer_result', request_id, outcome })
  }

  #actionOf({ action_id }: Output<'transfer'>): typeof TRANSFER {
    const action = this.#context.options.plan.actions.find(candidate => candidate.action_id === action_id)
    return action === undefined ? TRANSFER : { id: action.action_id, version: action.version, name: action.name }
  }

  async #isFree(): Promise<boolean> {
    await this.#context.speeches.heardSoFar()
    return this.#context.isTalking()
  }

  /** The far end has hung up: nothing is sent or reported any more. */
  abandon(): void {
    this.#pressing.clear()
    this.#transfers.abandon()
  }

  get isBusy(): boolean {
    return this.#pressing.size > 0 || this.#transferring.size > 0
  }

  /** A transfer is under way, or the ledger has not stored its outcome yet. */
  get isUnderWay(): boolean {
    return this.#beginning.size > 0 || this.#transfers.isUnderWay
  }

  async over(): Promise<void> {
    await Promise.all(this.#beginning)
    await this.#transfers.over()
  }
}
