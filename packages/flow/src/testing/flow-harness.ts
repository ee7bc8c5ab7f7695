import { FlowInterpreter, type FlowOptions } from '../interpreter/flow-interpreter.ts'
import type { Choice, FlowInput, FlowOutput } from '../interpreter/protocol.ts'
import { compile } from '../plan/compile.ts'
import type { Draft } from '../plan/draft.ts'
import type { Plan } from '../plan/plan.ts'

export type DraftNode = NonNullable<NonNullable<Draft['flow']>['nodes']>[number]
export type DraftAction = NonNullable<Draft['actions']>[number]
type Condition = NonNullable<Extract<DraftNode, { type: 'branch' }>['edges']>[number]['transition_condition']
type Operator = Extract<Condition, { type: 'equation' }>['equations'][number]['operator']

export const providers = {
  stt: { provider: 'simulated', model: 'tones-1' },
  llm: {
    provider: 'simulated_hosted',
    model: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' },
  },
  tts: { provider: 'simulated', model: 'tones-1' },
} as const satisfies Draft['providers']

/** A draft of these nodes; the first is the start. */
export function draftOf(
  nodes: DraftNode[],
  flow: Partial<NonNullable<Draft['flow']>> = {},
  rest: Partial<Draft> = {},
): Draft {
  return {
    name: 'Test',
    settings: { channels: ['cloud'] },
    providers,
    flow: { start_node_id: nodes[0]?.id ?? null, nodes, ...flow },
    ...rest,
  }
}

export function planOf(draft: Draft): Plan {
  const compiled = compile(draft)
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(found => `${found.path}: ${found.message}`).join('\n'))
  return compiled.plan
}

/** An edge that the model decides. */
export function when(id: string, to: string, prompt = `the caller wants ${id}`) {
  return { id, transition_condition: { type: 'prompt' as const, prompt }, destination_node_id: to }
}

/** An edge by one equation, such as `age >= 18`. */
export function if_(id: string, to: string, equation: string) {
  const [left, operator, ...right] = equation.split(' ')
  return {
    id,
    transition_condition: {
      type: 'equation' as const,
      equations: [{ left: left!, operator: operator as Operator, ...(right.length > 0 && { right: right.join(' ') }) }],
    },
    destination_node_id: to,
  }
}

export const staticText = (text: string) => ({ type: 'static_text' as const, text })
export const promptText = (text: string) => ({ type: 'prompt' as const, text })

type Conversation = Extract<DraftNode, { type: 'conversation' }>

/** A conversation node that says a fixed text. */
export function says(id: string, text: string, rest: Partial<Conversation> = {}): Conversation {
  return { id, type: 'conversation', instruction: staticText(text), ...rest }
}

/** A conversation node that the model speaks for. */
export function asks(id: string, prompt: string, rest: Partial<Conversation> = {}): Conversation {
  return { id, type: 'conversation', instruction: promptText(prompt), ...rest }
}

export const ends = (id = 'end') => ({ id, type: 'end' as const })

/** A conversation in text: inputs go in, what the flow wants comes out as lines. */
export class FlowHarness {
  readonly flow: FlowInterpreter
  readonly outputs: FlowOutput[] = []
  now: number = Date.UTC(2026, 0, 5, 9, 30)
  #choices: readonly Choice[] = []
  #request = ''

  constructor(draft: Draft, options: Partial<FlowOptions> = {}) {
    this.flow = new FlowInterpreter(planOf(draft), { channel: 'phone', hasCaller: true, ...options })
  }

  send(input: FlowInput): string[] {
    const outputs = this.flow.handle(this.now, input)
    this.outputs.push(...outputs)
    for (const output of outputs) {
      if (output.type === 'prompt' || output.type === 'decide') this.#choices = output.choices
      if ('request_id' in output) this.#request = output.request_id
    }
    return outputs.flatMap(lineOf)
  }

  /** The last request that was made. */
  get request(): string {
    return this.#request
  }

  start = () => this.send({ type: 'started' })
  user = (text: string) => this.send({ type: 'user_turn', text })
  digits = (digits: string) => this.send({ type: 'digits', digits })
  spoken = (interrupted = false, unheard = false) =>
    this.send({ type: 'spoken', request_id: this.#request, interrupted, unheard })
  infer = (value: unknown) => this.send({ type: 'inferred', request_id: this.#request, value })
  call = (action_id: string, args: Record<string, unknown> = {}) =>
    this.send({ type: 'tool_call', request_id: this.#request, action_id, arguments: args })
  result = (body: unknown, outcome: 'succeeded' | 'failed' | 'uncertain' = 'succeeded', request_id = this.#request) =>
    this.send({ type: 'action_result', request_id, outcome, body })
  transferred = (outcome: 'taken' | 'failed') =>
    this.send({ type: 'transfer_result', request_id: this.#request, outcome })
  pressed = () => this.send({ type: 'digits_pressed', request_id: this.#request })

  /** The model picks the choice with this id (`edge:yes`), or none. */
  choose(choice_id: string | null): string[] {
    if (choice_id !== null && !this.#choices.some(choice => choice.choice_id === choice_id))
      throw new Error(`${choice_id} is not offered: ${this.#choices.map(choice => choice.choice_id).join(', ')}`)
    return this.send({ type: 'chosen', request_id: this.#request, choice_id })
  }

  value = (name: string) => this.flow.variable(name, this.now)
}

function lineOf(output: FlowOutput): string[] {
  const offered = (choices: readonly Choice[]) => choices.map(choice => ` [${choice.choice_id}]`).join('')
  const { type } = output
  switch (output.type) {
    case 'node':
      return [`-> ${output.node_id} (${output.cause}${output.edge_id === null ? '' : ` ${output.edge_id}`})`]
    case 'say':
      return [`say: ${output.text}`]
    case 'prompt': {
      const tools = output.tools.map(tool => ` {${tool.name}}`).join('')
      return [`prompt ${output.reason}: ${output.instruction.text}${offered(output.choices)}${tools}`]
    }
    case 'decide':
      return [`decide:${offered(output.choices)}`]
    case 'infer':
      return [`infer ${output.purpose}: ${output.prompt}`]
    case 'extract':
      return [`extract: ${output.variables.map(item => item.name).join(', ')}`]
    case 'run_action':
      return [`run ${output.action_id} #${output.ordinal} ${JSON.stringify(output.arguments)}`]
    case 'press_digits':
      return [`press ${output.digits} after ${output.delay_ms}`]
    case 'swap_agent':
      return [`swap to ${output.agent_id}`]
    case 'transfer':
      return [`transfer to ${output.destination}`]
    case 'collect_digits':
    case 'tool_result':
      return []
    case 'await_opening':
      return [`await opening ${output.after_ms}`]
    case 'variables':
      return [
        `${output.source} set ${output.set.join()}${output.ignored.length > 0 ? ` ignored ${output.ignored.join()}` : ''}`,
      ]
    case 'end':
      return [`end: ${output.outcome} by ${output.ended_by}${output.code === null ? '' : ` ${output.code}`}`]
    default:
      return [type]
  }
}
