import type { TestCase } from '@parley/contract'
import type { ActionOutcome, ActionRequest, ActionRunner, EffectLedger } from '@parley/conversation'
import type { Ms } from '@parley/kernel'
import { allHold } from './json-conditions.ts'

type Mock = TestCase['mocks'][number]

/** The id under which a mock answers the transfers of nodes. */
const TRANSFER_ACTION = 'call.transfer'
const DEFAULT_TIMEOUT_MS: Ms = 120_000

/** Something that a trial did not do because it would have had an effect outside. */
export interface GuardEvent {
  readonly kind: 'unmocked_action' | 'unmocked_transfer'
  readonly action_id: string | null
  readonly offset_ms: Ms | null
}

/** One use of an action in a trial. */
export interface ActionCall {
  readonly action_id: string
  readonly arguments: Readonly<Record<string, unknown>>
}

interface MockedActionsOptions {
  readonly mocks: readonly Mock[]
  readonly ledger: EffectLedger
  /** Lets the delay of an answer pass on the trial's clock. */
  readonly delay: (ms: Ms) => Promise<void>
  /** Position on the trial's clock. */
  readonly now: () => Ms
  readonly onCall?: (call: ActionCall) => void
}

/** Answers the actions of a trial by its mocks and sends nothing: an action without a mock gets a network error and a guard event. */
export class MockedActions implements ActionRunner {
  readonly calls: ActionCall[] = []
  readonly guardEvents: GuardEvent[] = []
  readonly #options: MockedActionsOptions
  readonly #uses: { readonly mock: Mock; left: number }[]

  constructor(options: MockedActionsOptions) {
    this.#options = options
    this.#uses = options.mocks.map(mock => ({ mock, left: mock.times ?? Number.POSITIVE_INFINITY }))
  }

  async run(request: ActionRequest, signal: AbortSignal): Promise<ActionOutcome> {
    const { action, node_id, ordinal, onPhase, hold } = request
    const { ledger } = this.#options
    const { effect_id } = await ledger.intend({
      kind: 'none',
      action: { id: action.action_id, version: action.version },
      node_id,
      ordinal,
    })
    onPhase({ phase: 'started', effect_id })
    const failed = (error_code: string) => settle('failed', error_code, null, 0)
    const settle = async (
      outcome: ActionOutcome['outcome'],
      error_code: string | null,
      body: unknown,
      durationMs: Ms,
    ): Promise<ActionOutcome> => {
      await ledger.settle(effect_id, { state: outcome, error_code })
      return { outcome, body, effect_id, error_code, durationMs }
    }
    if (hold !== undefined && !(await hold)) return failed('superseded')
    if (signal.aborted) return failed('run_not_active')
    await ledger.sending(effect_id)
    this.#record({ action_id: action.action_id, arguments: request.arguments })
    const respond = this.#take(action.action_id, request.arguments)
    if (respond === null || respond.kind === 'transfer') {
      this.#guard('unmocked_action', action.action_id)
      return failed('not_connected')
    }
    const limit = ('timeout_ms' in action ? action.timeout_ms : undefined) ?? DEFAULT_TIMEOUT_MS
    const waits = Math.min(respond.delay_ms, limit)
    await this.#options.delay(waits)
    if (respond.delay_ms > limit || (respond.kind === 'error' && respond.error === 'timeout'))
      return settle('uncertain', 'timeout', null, waits)
    if (respond.kind === 'error') return settle('failed', 'not_connected', null, waits)
    const isSuccess = respond.status >= 200 && respond.status < 300
    return settle(isSuccess ? 'succeeded' : 'failed', isSuccess ? null : `http_${respond.status}`, respond.body, waits)
  }

  /** The outcome of a transfer to `destination`; without a mock it fails and leaves a guard event. */
  transfer(destination: string): 'taken' | 'failed' {
    const used = { destination }
    this.#record({ action_id: TRANSFER_ACTION, arguments: used })
    const respond = this.#take(TRANSFER_ACTION, used)
    if (respond?.kind !== 'transfer') {
      this.#guard('unmocked_transfer', TRANSFER_ACTION)
      return 'failed'
    }
    void this.#options.delay(respond.delay_ms)
    return respond.outcome === 'answered' ? 'taken' : 'failed'
  }

  /** The first mock that matches and has uses left. */
  #take(actionId: string, args: Readonly<Record<string, unknown>>): Mock['respond'] | null {
    const use = this.#uses.find(({ mock, left }) => left > 0 && mock.action_id === actionId && allHold(mock.when, args))
    if (use === undefined) return null
    use.left--
    return use.mock.respond
  }

  #record(call: ActionCall): void {
    this.calls.push(call)
    this.#options.onCall?.(call)
  }

  #guard(kind: GuardEvent['kind'], action_id: string): void {
    this.guardEvents.push({ kind, action_id, offset_ms: Math.round(this.#options.now()) })
  }
}
