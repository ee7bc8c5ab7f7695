import type { FlowOutput } from '@parley/flow'
import type { Memory } from './memory.ts'
import type { ActionOutcome, ActionRunner, CallFacts, RunnableAction } from './ports.ts'
import type { TimelineFact } from './timeline.ts'
import type { WaitTimer } from './wait-timer.ts'

export type RunAction = Extract<FlowOutput, { type: 'run_action' }>

interface ActionUseOptions {
  readonly runner: ActionRunner
  /** The variables that were set. */
  readonly variables: () => Readonly<Record<string, string>>
  readonly call: CallFacts
  readonly memory: Memory
  readonly waits: WaitTimer
  readonly render: (text: string) => string
  readonly onFact: (fact: TimelineFact) => void
}

interface Wait {
  /** A newer turn of the caller ends the wait. */
  readonly endsWithTurn: boolean
  readonly end: () => void
}

/** The actions in progress. Each runs once, and its result always reaches the flow. */
export class RunningActions {
  readonly #options: ActionUseOptions
  readonly #controller = new AbortController()
  readonly #underWay = new Set<Promise<void>>()
  readonly #waits = new Set<Wait>()

  constructor(options: ActionUseOptions) {
    this.#options = options
  }

  /**
   * Runs `action`. `isWaitedFor`: the conversation waits for the result. `answer`: id of the model answer that called the
   * action. `done` gets the result after `ready` has resolved, whatever happened meanwhile.
   */
  begin(
    output: RunAction,
    action: RunnableAction,
    use: {
      readonly answer: string
      readonly isWaitedFor: boolean
      readonly ready: Promise<void>
      readonly hold: Promise<boolean> | null
    },
    done: (result: ActionOutcome) => void,
  ): void {
    const { memory, waits } = this.#options
    const callId = memory.called(action.name, output.arguments, use.answer)
    const stopWaiting = use.isWaitedFor ? waits.begin('action') : () => {}
    const wait: Wait = {
      endsWithTurn: output.invocation === 'model_tool',
      end: () => {
        stopWaiting()
        this.#waits.delete(wait)
      },
    }
    if (use.isWaitedFor) this.#waits.add(wait)
    const over = this.#run(output, action, use.hold).then(async result => {
      memory.result(callId, resultFor(result))
      stopWaiting()
      await use.ready
      this.#underWay.delete(over)
      wait.end()
      done(result)
    })
    this.#underWay.add(over)
  }

  async #run(output: RunAction, action: RunnableAction, hold: Promise<boolean> | null): Promise<ActionOutcome> {
    const { runner, call, variables, render, onFact } = this.#options
    const { node_id, ordinal } = output
    const fact = (
      effect_id: string,
      phase: Extract<TimelineFact, { kind: 'action' }>['phase'],
      duration_ms: number | null,
    ) => onFact({ kind: 'action', action_id: action.action_id, effect_id, phase, node_id, duration_ms })
    let result: ActionOutcome
    try {
      const onPhase = ({ effect_id }: { readonly effect_id: string }) => fact(effect_id, 'started', null)
      const request = {
        action,
        arguments: output.arguments,
        node_id,
        ordinal,
        call,
        variables: variables(),
        render,
        onPhase,
        ...(hold !== null && { hold }),
      }
      result = await runner.run(request, this.#controller.signal)
    } catch {
      // A runner must not reject. If one does, nobody knows whether it sent the request.
      result = { outcome: 'uncertain', body: null, effect_id: '', error_code: 'internal', durationMs: 0 }
    }
    const { outcome, effect_id, error_code, durationMs } = result
    if (effect_id !== '') fact(effect_id, outcome, durationMs)
    if (error_code !== null && /^http_3\d\d$/.test(error_code))
      onFact({
        kind: 'error',
        code: error_code,
        message: `The action ${action.name} was answered by a redirect that is not followed, because it leads to another host or changes the method: set the action's url to the address that answers.`,
      })
    if (effect_id === '')
      onFact({
        kind: 'error',
        code: error_code ?? 'internal',
        message: `The action ${action.name} was not sent because the ledger could not record it.`,
      })
    return result
  }

  /** A new turn of the caller: waits of tool calls end. */
  turn(): void {
    for (const wait of [...this.#waits]) if (wait.endsWithTurn) wait.end()
  }

  /** Stops actions whose request was not sent yet. */
  abort(): void {
    this.#controller.abort()
  }

  /** The flow waits for a result. */
  get isBusy(): boolean {
    return this.#waits.size > 0
  }

  get isUnderWay(): boolean {
    return this.#underWay.size > 0
  }

  async over(): Promise<void> {
    await Promise.all(this.#underWay)
  }
}

/** The result as the model reads it. */
function resultFor({ outcome, body, error_code }: ActionOutcome): unknown {
  if (outcome === 'succeeded') return body ?? { status: 'done' }
  return { outcome, error: error_code, ...(body !== null && body !== undefined && { answer: body }) }
}
