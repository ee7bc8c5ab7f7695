import type { Ms, Time } from '@parley/kernel'
import type { ActionOutcome, ActionRequest, ActionRunner } from '../ports.ts'

type ScriptedResult = { readonly body: unknown } | { readonly failed: string } | { readonly uncertain: string }

/** An action runner without servers: each action returns its scripted result. */
export class ScriptedActions implements ActionRunner {
  /** Sent actions in order, as `NAME {arguments}`. */
  readonly sent: string[] = []
  readonly requests: ActionRequest[] = []
  readonly #time: Time
  readonly #waiting: { readonly name: string; readonly resolve: (result: ActionOutcome) => void }[] = []
  readonly #results = new Map<string, { readonly result: ScriptedResult; readonly afterMs: Ms }>()
  #effects = 0

  constructor(time: Time) {
    this.#time = time
  }

  /** Scripts the result of every use of the action, `afterMs` later; unscripted uses wait for `resolve`. */
  answers(name: string, result: ScriptedResult, afterMs: Ms = 0): void {
    this.#results.set(name, { result, afterMs })
  }

  /** Resolves the oldest waiting use. */
  resolve(result: ScriptedResult): void {
    this.#waiting.shift()?.resolve(this.#outcome(result))
  }

  async run(request: ActionRequest): Promise<ActionOutcome> {
    const { name } = request.action
    this.requests.push(request)
    request.onPhase({ phase: 'started', effect_id: `effect_${++this.#effects}` })
    if (request.hold !== undefined && !(await request.hold)) return this.#outcome({ failed: 'superseded' })
    this.sent.push(`${name} ${JSON.stringify(request.arguments)}`)
    const scripted = this.#results.get(name)
    if (scripted === undefined) return new Promise(resolve => this.#waiting.push({ name, resolve }))
    if (scripted.afterMs > 0)
      await new Promise<void>(resolve => this.#time.at(this.#time.now() + scripted.afterMs, resolve))
    return this.#outcome(scripted.result)
  }

  #outcome(result: ScriptedResult): ActionOutcome {
    const effect_id = `effect_${this.#effects}`
    if ('body' in result) return { outcome: 'succeeded', body: result.body, effect_id, error_code: null, durationMs: 0 }
    const [outcome, error_code] =
      'failed' in result ? (['failed', result.failed] as const) : (['uncertain', result.uncertain] as const)
    return { outcome, body: null, effect_id, error_code, durationMs: 0 }
  }
}
