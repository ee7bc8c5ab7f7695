import type { Egress, EgressRequest, EgressResult } from '@parley/egress'
import { type HttpAction, isHttpAction, render } from '@parley/flow'
import { actionSchema } from '@parley/flow/testing'
import { type Ms, SeededRandom, VirtualTime } from '@parley/kernel'
import { InMemoryEffectLedger } from '../in-memory-effect-ledger.ts'
import type { EffectLedger, EffectRecord } from '../ledger.ts'
import type { ActionOutcome, ActionPhase, CallFacts } from '../ports.ts'
import type { HttpActionsOptions } from './http-action-call.ts'
import { HttpActions } from './http-actions.ts'

export const call: CallFacts = {
  run_id: 'run-1',
  agent_id: 'agent_1',
  agent_version: 2,
  channel: 'phone',
  from_number: '+14155552671',
  to_number: '+14155552672',
}

/** An HTTP action with the given fields; by default a POST to https://shop.test/tables. */
export function httpAction(fields: Readonly<Record<string, unknown>> = {}): HttpAction {
  const action = actionSchema.parse({
    kind: 'http',
    action_id: 'book',
    version: 3,
    name: 'book_table',
    method: 'POST',
    url: 'https://shop.test/tables',
    ...fields,
  })
  if (!isHttpAction(action)) throw new Error('not an HTTP action')
  return action
}

/** The outcome of one request when it is prepared or sent; a response takes `afterMs` (default 100). */
export type ScriptedResponse =
  | { readonly status: number; readonly body?: string; readonly truncated?: boolean; readonly afterMs?: Ms }
  | { readonly lost: string; readonly afterMs?: Ms }
  | { readonly hangs: true }
  | { readonly unprepared: 'address_not_allowed' | 'bad_url' | 'no such name' }
  | { readonly unconnected: string }
  | { readonly throws: 'prepare' | 'send' }

/** An egress that plays scripted responses in order, in virtual time. */
class ScriptedEgress implements Egress {
  readonly sent: EgressRequest[] = []
  prepared = 0
  readonly #time: VirtualTime
  readonly #script: ScriptedResponse[]
  /** Called when a request is sent. */
  onSend: () => void = () => {}

  constructor(time: VirtualTime, script: readonly ScriptedResponse[]) {
    this.#time = time
    this.#script = [...script]
  }

  async prepare(request: EgressRequest, signal: AbortSignal): ReturnType<Egress['prepare']> {
    this.prepared++
    if (signal.aborted) return { type: 'not_connected', reason: 'aborted', durationMs: 0 }
    const exchange = this.#script.shift()
    if (exchange === undefined) throw new Error('no response was scripted for this request; add one to the script')
    if ('throws' in exchange && exchange.throws === 'prepare') throw new Error('a fault of egress')
    if (!('unprepared' in exchange)) return { type: 'prepared', send: signal => this.#send(request, exchange, signal) }
    if (exchange.unprepared === 'no such name')
      return { type: 'not_connected', reason: exchange.unprepared, durationMs: 0 }
    return { type: 'refused', reason: exchange.unprepared, durationMs: 0 }
  }

  async send(request: EgressRequest, signal: AbortSignal): Promise<EgressResult> {
    const prepared = await this.prepare(request, signal)
    return prepared.type === 'prepared' ? prepared.send(signal) : prepared
  }

  async close(): Promise<void> {}

  async #send(
    request: EgressRequest,
    exchange: Exclude<ScriptedResponse, { unprepared: string }>,
    signal: AbortSignal,
  ): Promise<EgressResult> {
    this.sent.push(request)
    this.onSend()
    if ('throws' in exchange) throw new Error('a fault of egress')
    const hangs = 'hangs' in exchange
    const durationMs = hangs ? request.timeoutMs : 'afterMs' in exchange ? (exchange.afterMs ?? 100) : 100
    await new Promise<void>(resolve => this.#time.at(this.#time.now() + durationMs, resolve))
    if (signal.aborted) return { type: 'no_answer', reason: 'aborted', durationMs }
    if (hangs) return { type: 'no_answer', reason: 'timeout', durationMs }
    if ('lost' in exchange) return { type: 'no_answer', reason: exchange.lost, durationMs }
    if ('unconnected' in exchange) return { type: 'not_connected', reason: exchange.unconnected, durationMs }
    const { status, body = '', truncated = false } = exchange
    return { type: 'answered', status, headers: {}, body: Buffer.from(body), truncated, durationMs }
  }
}

interface ActionTestResult {
  readonly outcome: ActionOutcome
  readonly row: EffectRecord | undefined
  readonly egress: ScriptedEgress
  readonly phases: readonly ActionPhase[]
  /** Elapsed virtual time. */
  readonly tookMs: Ms
}

interface ActionTestOptions extends Partial<HttpActionsOptions> {
  readonly arguments?: Readonly<Record<string, unknown>>
  readonly variables?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  readonly onSend?: () => void
  readonly onPhase?: () => void
  /** Replaces methods of the in-memory ledger. */
  readonly ledgerFaults?: (ledger: InMemoryEffectLedger) => Partial<EffectLedger>
}

/** Runs an action to its end against scripted responses. */
export async function runScriptedAction(
  action: HttpAction,
  script: readonly ScriptedResponse[],
  options: ActionTestOptions = {},
): Promise<ActionTestResult> {
  const time = new VirtualTime()
  const egress = new ScriptedEgress(time, script)
  egress.onSend = options.onSend ?? egress.onSend
  const wallClock = () => Date.UTC(2026, 2, 4, 12)
  const memory = new InMemoryEffectLedger({ random: new SeededRandom(7), wallClock })
  const secrets = { get: async () => 's3cret' }
  const ledger = withFaults(memory, options.ledgerFaults?.(memory) ?? {})
  const actions = new HttpActions({ egress, ledger, secrets, time, wallClock, ...options })
  const phases: ActionPhase[] = []
  const variables = options.variables ?? {}
  const running = actions.run(
    {
      action,
      arguments: options.arguments ?? {},
      node_id: 'booking',
      ordinal: 0,
      call,
      variables,
      render: text => render(text, name => variables[name]),
      onPhase: phase => {
        phases.push(phase)
        options.onPhase?.()
      },
    },
    options.signal ?? new AbortController().signal,
  )
  const outcome = await toItsEnd(time, running)
  return { outcome, row: memory.records[0], egress, phases, tookMs: time.now() }
}

function withFaults(ledger: InMemoryEffectLedger, faults: Partial<EffectLedger>): EffectLedger {
  return {
    intend: intent => (faults.intend ?? ledger.intend.bind(ledger))(intent),
    decide: (id, decision) => (faults.decide ?? ledger.decide.bind(ledger))(id, decision),
    sending: id => (faults.sending ?? ledger.sending.bind(ledger))(id),
    settle: (id, outcome) => (faults.settle ?? ledger.settle.bind(ledger))(id, outcome),
  }
}

/** Runs due work and advances time from timer to timer until `running` has settled. */
export async function toItsEnd<T>(time: VirtualTime, running: Promise<T>): Promise<T> {
  let over = false
  const ended = running.finally(() => {
    over = true
  })
  while (!over) {
    await new Promise(resolve => setImmediate(resolve))
    time.advanceTo(time.nextDeadline() ?? time.now())
  }
  return ended
}
