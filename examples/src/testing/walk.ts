import {
  compile,
  type Draft,
  type FlowInput,
  FlowInterpreter,
  type FlowOutput,
  type HttpAction,
  type Plan,
  render,
} from '@parley/flow'
import { PLACEHOLDER_ORIGIN } from '../placeholder-origin.ts'
import type { Service } from '../service/service.ts'

/** Scripted answers of the model, in the order of its requests: a choice by id, or extracted values. */
type Answer = { readonly choose: string } | { readonly read: Readonly<Record<string, unknown>> }

/** A wall clock for tests: Monday, 23 November 2026. */
export const MONDAY = Date.UTC(2026, 10, 23, 9)

let walks = 0

/** A conversation with an example agent: the test scripts the model, and actions run on the real example services. */
export class Walk {
  readonly flow: FlowInterpreter
  /** Nodes in the order of entry. */
  readonly nodes: string[] = []
  /** After this call no service answers. */
  isDown = false
  readonly #id = ++walks
  readonly #plan: Plan
  readonly #services: Readonly<Record<string, Service>>
  readonly #said: string[] = []
  #answers: Answer[] = []

  constructor(draft: Draft, services: Readonly<Record<string, Service>>) {
    const compiled = compile(draft)
    if (!compiled.ok) throw new Error(compiled.diagnostics.map(found => `${found.path}: ${found.message}`).join('\n'))
    this.#plan = compiled.plan
    this.#services = services
    this.flow = new FlowInterpreter(compiled.plan, { channel: 'phone', hasCaller: true })
  }

  /** These return the agent's answer; text that a model would generate is replaced by its instruction in brackets. */
  start = () => this.#send({ type: 'started' }, [])
  says = (text: string, ...answers: Answer[]) => this.#send({ type: 'user_turn', text }, answers)
  presses = (digits: string) => this.#send({ type: 'digits', digits }, [])
  /** Speech without words. */
  mumbles = () => this.says('')

  #send(input: FlowInput, answers: Answer[]): string[] {
    this.#said.length = 0
    this.#answers = answers
    const waiting: FlowInput[] = [input]
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      for (const output of this.flow.handle(MONDAY, next)) waiting.push(...this.#perform(output))
    if (this.#answers.length > 0)
      throw new Error(`These scripted answers were not used: ${JSON.stringify(this.#answers)}`)
    return [...this.#said]
  }

  #perform(output: FlowOutput): FlowInput[] {
    switch (output.type) {
      case 'node':
        this.nodes.push(output.node_id)
        return []
      case 'say':
        this.#said.push(output.text)
        return [{ type: 'spoken', request_id: output.request_id, interrupted: false }]
      case 'prompt':
        return this.#answer(output)
      case 'decide':
        return [{ type: 'chosen', request_id: output.request_id, choice_id: this.#choice(output.choices) }]
      case 'extract': {
        const answer = this.#answers.shift()
        const value = answer !== undefined && 'read' in answer ? answer.read : null
        return [{ type: 'inferred', request_id: output.request_id, value }]
      }
      case 'run_action':
        return [this.#run(output)]
      case 'transfer':
        this.#said.push(`(transfer to ${output.destination})`)
        return [{ type: 'transfer_result', request_id: output.request_id, outcome: 'failed' }]
      case 'end':
        this.#said.push(`(${output.outcome})`)
        return []
      default:
        return []
    }
  }

  #answer(output: FlowOutput & { type: 'prompt' }): FlowInput[] {
    const choice_id = output.choices.length > 0 ? this.#choice(output.choices) : null
    if (choice_id === null) this.#said.push(`[${output.reason}] ${output.instruction.text}`)
    return [
      { type: 'chosen', request_id: output.request_id, choice_id },
      { type: 'spoken', request_id: output.request_id, interrupted: false },
    ]
  }

  #choice(offered: readonly { choice_id: string }[]): string | null {
    const answer = this.#answers[0]
    if (answer === undefined || !('choose' in answer)) return null
    this.#answers.shift()
    const ids = offered.map(choice => choice.choice_id)
    if (!ids.includes(answer.choose)) throw new Error(`${answer.choose} is not offered: ${ids.join(', ')}`)
    return answer.choose
  }

  #run({ request_id, action_id, arguments: args }: FlowOutput & { type: 'run_action' }): FlowInput {
    const action = this.#plan.actions.find(candidate => candidate.action_id === action_id) as HttpAction
    const [room = '', ...rest] = action.url.slice(PLACEHOLDER_ORIGIN.length + 1).split('/')
    const operation = this.#services[room]?.operations[`${action.method} /${rest.join('/')}`]
    if (operation === undefined) throw new Error(`No service has ${action.method} ${action.url}`)
    if (this.isDown) return { type: 'action_result', request_id, outcome: 'failed' }
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(action.query)) query.set(name, this.#render(value))
    const body = action.args_at_root ? args : { name: action.name, args, call: { from_number: '+12025550111' } }
    const path = `/${rest.join('/')}`
    const answer = operation({
      method: action.method,
      path,
      query,
      content: JSON.stringify(body),
      body,
      // As in production, keys of different calls differ.
      idempotencyKey: `${this.#id}-${request_id}`,
      signature: null,
    })
    const outcome = answer.status < 300 ? 'succeeded' : 'failed'
    return { type: 'action_result', request_id, outcome, body: answer.body }
  }

  #render(template: string): string {
    return render(template, name => this.flow.variable(name, MONDAY))
  }
}
